"""What the records of a file say alike, told once, and what each of them says alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.evidence.observed import Fact, Observation, Requests
from hio_validate.report.paragraph import paragraph


class Shared:
    """What all shown records say alike."""

    def __init__(self, records: Sequence[Observation]) -> None:
        self.many = len(records) > 1
        self.subject = _alike([record.subject for record in records])
        self.workload = _alike([record.workload for record in records])
        self.requests = _alike([_counts(record.requests) for record in records])
        self.unknown = [each for each in records[0].unknown if all(each in one.unknown for one in records)]
        self.of_some = [
            each
            for each in dict.fromkeys(word for record in records for word in record.unknown)
            if each not in self.unknown
        ]
        reasons = dict.fromkeys(deserves(record) for record in records)
        self.reason = next(iter(reasons)) if len(reasons) == 1 else ""

    def told(self, width: int) -> str:
        """The lines above the records."""
        whose = " of each" if self.many else ""
        named = (("subject", self.subject), ("workload", self.workload))
        text = "".join(
            paragraph(f"  {title}{whose}: {told_facts(facts)}", width) for title, facts in named if facts
        )
        if self.requests:
            text += paragraph(f"  requests{whose}: {_told_counts(self.requests)}", width)
        for title, gaps in (("not told", self.unknown), ("not told of some", self.of_some)):
            text += paragraph(f"  {title}: {'; '.join(gaps)}", width) if gaps else ""
        return text

    def own(self, record: Observation) -> dict[str, Fact]:
        """The facts that distinguish a record, for columns."""
        counts = _counts(record.requests)
        return (
            _without(record.subject, self.subject)
            | _without(record.workload, self.workload)
            | _without(counts, self.requests)
        )

    def only_of(self, record: Observation) -> Iterator[tuple[str, str]]:
        """(title, facts) of a record that stands alone."""
        if own := _without(record.subject, self.subject):
            yield "subject", told_facts(own)
        if own := _without(record.workload, self.workload):
            yield "workload", told_facts(own)
        if own := _without(_counts(record.requests), self.requests):
            yield "requests", _told_counts(own)


def deserves(record: Observation) -> str:
    """The tier of a record, and why it is none higher."""
    return f"{record.tier.value}: {record.why}"


def told_facts(facts: dict[str, Fact]) -> str:
    """Facts in a row: key value, key value."""
    return ", ".join(
        f"{key} {f'{value:.6g}' if isinstance(value, float) else value}" for key, value in facts.items()
    )


def _alike(facts: Sequence[dict[str, Fact]]) -> dict[str, Fact]:
    """The facts that are the same in all."""
    return {
        key: value
        for key, value in facts[0].items()
        if all(key in each and type(each[key]) is type(value) and each[key] == value for each in facts)
    }


def _without(facts: dict[str, Fact], known: dict[str, Fact]) -> dict[str, Fact]:
    return {key: value for key, value in facts.items() if key not in known}


def _counts(requests: Requests) -> dict[str, Fact]:
    told = {"asked": requests.asked, "ok": requests.completed, "failed": requests.failed,
            "cancelled": requests.cancelled}  # fmt: skip
    return {word: count for word, count in told.items() if count is not None}


def _told_counts(counts: dict[str, Fact]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items())
