"""The life of one setting as a page: what happened in the order of the ledger, then where it stands now."""

from __future__ import annotations

from typing import Any

from hio_validate.life import Happening, Life, Value
from hio_validate.quantity import published
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table


def as_shape(found: Life) -> dict[str, Any]:
    """The same as versioned data."""
    return {
        "version": 1,
        "setting": found.address,
        "service": found.service,
        "entries": [
            {
                "entry": each.entry.name,
                "kind": each.entry.model.kind,
                "at": each.entry.model.at,
                "by": each.entry.model.by,
                "imported": each.entry.model.imported,
                "because": each.entry.model.because,
                "run": each.run or None,
                "result": _result(each),
                "values": [value._asdict() for value in each.values],
            }
            for each in found.happenings
        ],
        "now": [each._asdict() for each in found.now],
        "rows": [
            {"matrix": matrix, "disposition": disposition, "change": change}
            for matrix, disposition, change in found.rows
        ],
    }


def _result(each: Happening) -> dict[str, Any] | None:
    result = getattr(each.entry.model, "result", None)
    shape: dict[str, Any] | None = result.model_dump(by_alias=True) if result else None
    return shape


def render(found: Life, width: int = 80) -> str:
    """The same as text."""
    parts = [f"{found.address} in {found.service}\n"]
    parts += [_told(each, width) for each in found.happenings]
    if found.now:
        rows = [(each.where, each.value, each.origin) for each in found.now]
        parts.append("now, in the stacks\n" + table(rows, width))
    if found.rows:
        parts.append("in the matrices\n" + table(found.rows, width))
    return "\n".join(parts)


def _told(each: Happening, width: int) -> str:
    model = each.entry.model
    imported = ", imported" if model.imported else ""
    decision = f" ({model.decision})" if model.kind == "decision" else ""
    head = f"{model.at}  {model.kind}{decision} {each.entry.name} by {model.by}{imported}"
    said = [_values(each), _number(each), model.because or ""]
    told = [paragraph(f"    {sentence}", width, 0) for sentence in said if sentence]
    return "".join([paragraph(head, width, 4), *told])


def _values(each: Happening) -> str:
    on = f", on run {each.run}" if each.run else ""
    return "; ".join(_value(value) for value in each.values) + on if each.values else on.lstrip(", ")


def _value(value: Value) -> str:
    return f"{value.value} in {value.where}" + (f" ({value.origin})" if value.origin else "")


def _number(each: Happening) -> str:
    result = _result(each)
    if result is None:
        return ""
    number = published(result["change_percent"])
    return f"{number} {result['statistic']} {result['metric']}, {result['from']} to {result['to']}"
