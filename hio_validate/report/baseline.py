"""A measurement beside a baseline, for a person: one line a dimension, and why there is no verdict where there is none."""

from __future__ import annotations

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
        parts.append(f"a new baseline id is needed\n{''.join(lines)}")
    refused = [paragraph(f"  {_refused(each, difference)}", width) for each in judged if each.reasons]
    if refused:
        parts.append(f"not comparable\n{''.join(refused)}")
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


def _refused(judged: Judged, difference: Difference) -> str:
    changed = set(difference.changed)
    own = [each for each in judged.reasons if each not in changed]
    if len(own) < len(judged.reasons):
        own.append("it was not measured as the baseline was, as told above")
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
