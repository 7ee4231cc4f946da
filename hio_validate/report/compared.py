"""Two measurements metric by metric, for a person: what each side is, what changed, what was not compared and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hio_validate.evidence.compared import Compared, Pair, Word, words
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.sides import Number, Side
from hio_validate.quantity import change, declared, measured
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table


def render(compared: Compared, width: int = 80) -> str:
    """The comparison as text."""
    parts = ["".join(_side(letter, side, width) for letter, side in zip("AB", compared.sides, strict=True))]
    parts[0] += paragraph(sentence(compared), width)
    if compared.comparable:
        rows = [_row(pair) for pair in compared.comparable]
        parts.append(table(rows, width, ("metric", "A", "B", "change")))
    parts += _section("what was measured differs", _cut(compared.subject), width)
    parts += _section("the workload is not the same, or not known to be", compared.workload, width)
    parts += _section(
        "the work that was done is not the same, or not known to be", compared.work.values(), width
    )
    refused = [pair for pair in compared.pairs if pair.reasons]
    parts += _section("not comparable", (_refused(pair, compared) for pair in refused), width)
    parts += _section("on one side only", _alone(compared), width)
    parts += _section("the single observations", _samples(compared), width)
    parts.append("".join(paragraph(each, width) for each in _closing(compared)))
    return "\n".join(parts)


def sentence(compared: Compared) -> str:
    """`2 better, 1 worse, 3 not comparable`."""
    found = [pair.word for pair in compared.pairs]
    if not found:
        return "no metric is on both sides: nothing is compared"
    told = [f"{found.count(word)} {word}" for word in Word if word in found]
    return ", ".join(told) + (": nothing is compared" if set(found) == {Word.NOT_COMPARABLE} else "")


def _side(letter: str, side: Side, width: int) -> str:
    lines = [paragraph(f"{letter}  {side.label}  {side.tier}", width, 3)]
    asked = ", ".join(f"{words(key)} {value}" for key, value in side.workload.items())
    lines.append(paragraph(f"   asked: {asked or 'unknown'}", width))
    lines += [paragraph(f"   {note}", width) for note in side.notes]
    return "".join(lines)


_SUBJECTS = 12
"""Differences of what was measured that stand in the text."""


def _cut(sentences: Sequence[str]) -> Iterator[str]:
    yield from sentences[:_SUBJECTS]
    if len(sentences) > _SUBJECTS:
        yield f"and {len(sentences) - _SUBJECTS} more: --format json has all"


def _section(title: str, sentences: Any, width: int) -> list[str]:
    lines = [paragraph(f"  {each}", width) for each in sentences]
    return [f"{title}\n{''.join(lines)}"] if lines else []


def _row(pair: Pair) -> tuple[str, str, str, str]:
    percent = pair.change
    said = str(pair.word) if percent is None else f"{change(percent)} {pair.word}"
    return _named(pair), _value(pair.one), _value(pair.other), said


def _named(pair: Pair) -> str:
    one, other = (_name(number) for number in (pair.one, pair.other))
    return one if one == other else f"{one} / {other}"


def _name(number: Number) -> str:
    return (
        number.name
        if number.statistic == "value" or number.statistic in number.name
        else f"{number.name} {number.statistic}"
    )


def _value(number: Number) -> str:
    unit = "" if number.unit == "1" else number.unit
    return measured(number.value, unit) + (f" (n {number.n})" if number.n is not None else "")


def _refused(pair: Pair, compared: Compared) -> str:
    told = {*compared.workload, *compared.work.values()}
    own = [each for each in pair.reasons if each not in told]
    if len(own) < len(pair.reasons):
        own.append("not the same work, as told above")
    return f"{_named(pair)}: {_value(pair.one)} in A, {_value(pair.other)} in B; {'; '.join(own)}"


def _alone(compared: Compared) -> Iterator[str]:
    for letter, of_other in (("A", False), ("B", True)):
        names = [_name(each) for each in compared.only(of_other)]
        if names:
            yield f"{letter}: {', '.join(names)}"


def _samples(compared: Compared) -> Iterator[str]:
    for pair in compared.comparable:
        if pair.one.samples and pair.other.samples:
            yield f"{_named(pair)}: A {_single(pair.one)}; B {_single(pair.other)}"


def _single(number: Number) -> str:
    shown = [measured(each) for each in number.samples]
    many = f"{len(shown)} from {measured(min(number.samples))} to {measured(max(number.samples))}"
    return (" ".join(shown) if len(shown) <= 8 else many) + f" {number.unit}"


def _closing(compared: Compared) -> Iterator[str]:
    for key in sorted(compared.allowed.same):
        yield f"{words(key)} was the same by your word (--same)."
    if compared.allowed.work_percent:
        yield f"Counts of work may differ by {declared(compared.allowed.work_percent)} by your word (--same-work)."
    if compared.tier is Tier.NEEDS_CONTEXT:
        yield "NEEDS_CONTEXT: a side does not say what was asked of it."
    elif compared.tier is Tier.DRAFT and _is_single(compared.pairs):
        yield "DRAFT: one observation each; nothing here says how much two equal measurements differ."
    elif compared.tier is Tier.DRAFT:
        yield "DRAFT: these were not measured against each other; hio plan new begins what can become a VERDICT."
    if compared.of_one_record:
        yield "hio verdict judges the run; this page compares two arms of it."


def _is_single(pairs: Sequence[Pair]) -> bool:
    return any(
        (each.n or 1) == 1 and not each.samples[1:] for pair in pairs for each in (pair.one, pair.other)
    )


def as_shape(compared: Compared, exit_code: int) -> dict[str, Any]:
    """The comparison as versioned data."""
    return {
        "version": 1,
        "sides": [_side_shape(side) for side in compared.sides],
        "tier": str(compared.tier),
        "same_by_word": sorted(compared.allowed.same),
        "work_tolerance_percent": compared.allowed.work_percent,
        "subject": list(compared.subject),
        "workload": list(compared.workload),
        "work": list(compared.work.values()),
        "metrics": [
            {
                "sides": [_number_shape(number) for number in (pair.one, pair.other)],
                "change_percent": pair.change,
                "word": str(pair.word),
                "reasons": list(pair.reasons),
            }
            for pair in compared.pairs
        ],
        "only": [[each.name for each in compared.only(of_other)] for of_other in (False, True)],
        "exit_code": exit_code,
    }


def _side_shape(side: Side) -> dict[str, Any]:
    return {
        "label": side.label,
        "tier": str(side.tier),
        "subject": dict(side.subject),
        "workload": dict(side.workload),
        "done": {key: list(values) for key, values in side.done.items()},
        "notes": list(side.notes),
    }


def _number_shape(number: Number) -> dict[str, Any]:
    shape = number._asdict()
    del shape["column"]
    return shape | {"samples": list(number.samples)}
