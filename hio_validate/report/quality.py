"""The quality gate of two receipts on one page: what was asked, what both sides answered, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.evidence.quality import Gated, Terms
from hio_validate.evidence.quality_receipts import UNKNOWN
from hio_validate.models.receipt import Quality
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.report.visible import visible


class Page(NamedTuple):
    """What a gate came to."""

    labels: tuple[str, str]
    receipts: tuple[Quality, Quality]
    terms: Terms
    reasons: tuple[str, ...]
    """Why they are not compared; none: they are."""
    words: tuple[str, ...]
    """Facts that stand on the word of whoever compared."""
    gated: Gated | None

    @property
    def outcome(self) -> str:
        """met, not-met, not-comparable or not-measurable."""
        if self.reasons or self.gated is None:
            return "not-comparable"
        if self.gated.reason == "not-measurable":
            return "not-measurable"
        return "not-met" if self.gated.reason else "met"

    @property
    def code(self) -> int:
        return {"met": 0, "not-met": 1}.get(self.outcome, 3)


def render(page: Page, width: int = 80) -> str:
    """The page as text, the answer first."""
    baseline = page.receipts[0]
    rows = [("task", f"{baseline.task}, {baseline.filter}, {baseline.metric}")]
    rows += [
        (name, _told(receipt)) for name, receipt in zip(("baseline", "candidate"), page.receipts, strict=True)
    ]
    rows.append(
        ("asked for", f"at least {page.terms.floor:g} on both sides, at most {page.terms.margin:g} worse")
    )
    if page.gated is not None:
        method = f" ({page.gated.difference.method})" if page.gated.difference else ""
        rows.append((page.gated.reason or "met", f"{page.gated.sentence}{method}"))
    rows += [("not compared", each) for each in page.reasons]
    rows += [("by your word", f"{each} was the same") for each in page.words]
    rows += [("few items", said) for said in dict.fromkeys(_few(page))]
    rows += [("next", said) for said in _next(page)]
    head = f"quality gate {page.outcome.replace('-', ' ')}: {page.labels[1]} against {page.labels[0]}"
    return paragraph(visible(head), width) + table(rows, width)


def _next(page: Page) -> Iterator[str]:
    """What to do where the gate is not met."""
    reason = page.gated.reason if page.gated is not None else ""
    if reason == "quality-not-shown":
        samples = ", or compare item by item: --baseline-samples and --candidate-samples samples_*.jsonl"
        yield f"ask both sides more items{'' if page.gated and page.gated.by_item else samples}"
    elif reason == "quality-gate-failed":
        yield "keep the baseline; the items that were lost say what the candidate cannot do"


def _told(receipt: Quality) -> str:
    error = f" +- {receipt.stderr:.4g}" if receipt.stderr is not None else ""
    limit = (
        ""
        if receipt.limit in ("none", UNKNOWN)
        else f", limited to {receipt.limit:g}"
        if isinstance(receipt.limit, float | int)
        else ""
    )
    whole = f" of {receipt.whole}" if isinstance(receipt.whole, int) and receipt.whole != receipt.n else ""
    return f"{receipt.value:.4g}{error} over {receipt.n}{whole} items{limit}; {receipt.harness.name} {receipt.harness.version}"


def _few(page: Page) -> list[str]:
    return [
        f"{label} asked {receipt.n} of {receipt.whole} items: it says nothing of the others"
        for label, receipt in zip(page.labels, page.receipts, strict=True)
        if isinstance(receipt.n, int) and isinstance(receipt.whole, int) and receipt.n < receipt.whole
    ]


def as_shape(page: Page) -> dict[str, Any]:
    """The page as versioned data."""
    return {
        "version": 1,
        "outcome": page.outcome,
        "baseline": _side(page.labels[0], page.receipts[0]),
        "candidate": _side(page.labels[1], page.receipts[1]),
        "terms": page.terms._asdict(),
        "reason": page.gated.reason if page.gated else None,
        "sentence": page.gated.sentence if page.gated else None,
        "difference": page.gated.difference._asdict() if page.gated and page.gated.difference else None,
        "not_comparable": list(page.reasons),
        "by_word": list(page.words),
        "exit_code": page.code,
    }


def _side(label: str, receipt: Quality) -> dict[str, Any]:
    return {
        "is": label, "task": receipt.task, "filter": receipt.filter, "metric": receipt.metric, "value": receipt.value,
        "stderr": receipt.stderr, "n": receipt.n, "whole": receipt.whole, "group": receipt.group, "limit": receipt.limit,
        "harness": f"{receipt.harness.name} {receipt.harness.version}", "dataset": receipt.dataset.sha256,
    }  # fmt: skip
