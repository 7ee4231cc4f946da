"""A measurement beside a baseline, for a person: one line a dimension, and why there is no verdict where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.evidence.baseline import Difference, Judged, Word
from hio_validate.quantity import change, declared, measured
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table


def render(difference: Difference, width: int = 80) -> str:
    """The difference as text."""
    entry, judged = difference.entry, difference.judged
    told = [each.word for each in judged]
    counts = ", ".join(f"{told.count(word)} {word}" for word in Word if word in told)
    parts = [
        paragraph(
            f"{difference.side.label} against the baseline {entry.name} of {entry.model.at[:10]}", width
        )
        + paragraph(counts, width)
    ]
    rows = [_row(each) for each in judged if each.now is not None]
    if rows:
        parts.append(table(rows, width, ("dimension", "baseline", "now", "change")))
    if difference.changed:
        lines = [paragraph(f"  {each}", width) for each in difference.changed]
        parts.append(f"a new baseline id is needed\n{''.join(lines)}{paragraph(_next(difference), width)}")
    refused = [each for each in judged if each.reasons]
    if refused:
        parts.append(f"not comparable\n{_not_comparable(refused, difference, width)}")
    notes = [*difference.notes, *difference.side.notes]
    if notes:
        parts.append("".join(paragraph(f"note: {each}", width) for each in notes))
    parts.append(paragraph(f"{difference.compared.tier}: {_TIERS}", width))
    return "\n".join(parts)


_TIERS = "a difference to a baseline is no verdict; hio plan new begins an experiment against it."


def _row(judged: Judged) -> tuple[str, str, str, str]:
    dimension, number, percent = judged.dimension, judged.number, judged.change
    now = judged.now if judged.now is not None else 0.0
    unit = "" if dimension.unit == "1" else dimension.unit
    return (
        _named(judged),
        measured(dimension.value) + _of(dimension.n),
        measured(now, unit) + _of(number.n if number else None),
        (f"{change(percent)} " if percent is not None else "") + f"{judged.word} ({_allowed(judged)})",
    )


def _of(n: int | None) -> str:
    return f" (n {n})" if n is not None else ""


def _named(judged: Judged) -> str:
    dimension = judged.dimension
    plain = dimension.statistic == "value" or dimension.statistic in dimension.metric
    return dimension.metric if plain else f"{dimension.metric} {dimension.statistic}"


def _allowed(judged: Judged) -> str:
    """Tolerance and floor, e.g. `±3 %, floor 0.5 token/s`."""
    dimension = judged.dimension
    said = f"±{declared(dimension.tolerance_percent)}"
    return said + (f", floor {measured(dimension.floor, dimension.unit)}" if dimension.floor else "")


def _next(difference: Difference) -> str:
    """What to type where the conditions are others, or nobody said them."""
    said = f"next: hio baseline record NAME {difference.side.label}, which begins a baseline of its own"
    if any(f"unknown in {difference.side.label}" in each for each in difference.changed):
        return f"{said}; or say what the record does not: --shape KEY=VALUE, --concurrency, --cache, --source, --delivery"
    return said


def _not_comparable(refused: Sequence[Judged], difference: Difference, width: int) -> str:
    """What is not comparable for the same reason stands together: first what was measured under other conditions alone."""
    own = {id(each): _own(each, difference) for each in refused}
    alike = [each for each in refused if not own[id(each)] and each.number is not None]
    text = ""
    if alike:
        text = paragraph("  measured otherwise, as told above:", width)
        text += table([_side_by_side(each) for each in alike], width, ("    dimension", "baseline", "now"))
    lacks = [each for each in refused if each.number is None]
    if lacks:
        names = ", ".join(map(_named, lacks))
        text += paragraph(f"  {difference.side.label} does not have: {names}", width)
    told = [each for each in refused if each not in alike and each not in lacks]
    return text + "".join(paragraph(f"  {_refused(each, own[id(each)])}", width) for each in told)


def _own(judged: Judged, difference: Difference) -> list[str]:
    """Why one dimension alone cannot be compared."""
    return [each for each in judged.reasons if each not in difference.changed]


def _side_by_side(judged: Judged) -> tuple[str, str, str]:
    dimension, number = judged.dimension, judged.number
    now = measured(number.value, number.unit) if number else ""
    return f"    {_named(judged)}", measured(dimension.value, dimension.unit), now


def _refused(judged: Judged, own: Sequence[str]) -> str:
    dimension, number = judged.dimension, judged.number
    now = f", {measured(number.value, number.unit)} now" if number else ""
    return f"{_named(judged)}: {measured(dimension.value, dimension.unit)}{now}; {'; '.join(own)}"


def as_shape(difference: Difference, exit_code: int) -> dict[str, Any]:
    """The difference as versioned data."""
    return {
        "version": 1,
        "baseline": difference.entry.name,
        "service": difference.entry.service,
        "measured": difference.side.label,
        "tier": str(difference.compared.tier),
        "dimensions": [_dimension_shape(each) for each in difference.judged],
        "changed": list(difference.changed),
        "notes": [*difference.notes, *difference.side.notes],
        "exit_code": exit_code,
    }


def _dimension_shape(judged: Judged) -> dict[str, Any]:
    dimension, number = judged.dimension, judged.number
    shape = {key: getattr(dimension, key) for key in (
        "metric", "definition", "statistic", "better", "value", "unit", "n", "tolerance_percent", "floor",
    )}  # fmt: skip
    now = {"value": number.value, "unit": number.unit, "n": number.n} if number is not None else None
    return shape | {
        "now": now,
        "change_percent": judged.change,
        "allowed": judged.allowed,
        "word": str(judged.word),
        "reasons": list(judged.reasons),
    }
