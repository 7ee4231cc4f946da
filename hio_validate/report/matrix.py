"""A matrix as a table that a person can read: what differs first, then what is preserved, then what was tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.inheritance import Covered, Inheritance
from hio_validate.models.matrix import Bundle, FactorRow, Preserved
from hio_validate.report.table import table
from hio_validate.settings.difference import Compared, Group

_HEAD = ("setting", "parent", "candidate", "disposition", "evidence or reason")


def render(found: Inheritance, width: int = 80) -> str:
    """The matrix as text: its own rows with computed values, and what no row covers yet."""
    parts = [
        f"{found.matrix.name}: {found.parent.name} -> {found.candidate.name}  ({found.matrix.service})\n"
    ]
    decided = [_row(each) for each in found.covered if not isinstance(each.row, Preserved)]
    missing = [_missing(each.compared) for each in found.missing()]
    if decided or missing:
        parts.append(table([*decided, *missing], width, _HEAD))
    parts += _preserved(found, width)
    followed = found.difference.of(Group.FOLLOWED)
    if followed:
        rows = [(each.address, f"{each.from_} -> {each.to}", _leader(each)) for each in followed]
        parts.append("followers, in their leader's row\n" + table(rows, width))
    operational = found.difference.of(Group.OPERATIONAL)
    if operational:
        rows = [(each.address, f"{each.from_} -> {each.to}", "") for each in operational]
        parts.append("operational: listed, no evidence needed\n" + table(rows, width))
    never = list(_never_adopted(found))
    if never:
        parts.append("never adopted, from the ledger\n" + table(never, width))
    return "\n".join(parts)


def as_shape(found: Inheritance) -> dict[str, Any]:
    """The matrix as versioned data."""
    return {
        "version": 1,
        "matrix": found.matrix.name,
        "service": found.matrix.service,
        "parent": found.parent.name,
        "candidate": found.candidate.name,
        "rows": [
            {
                "setting": each.compared.address if each.compared else each.name,
                "from": each.compared.from_ if each.compared else None,
                "to": each.compared.to if each.compared else None,
                "group": str(each.compared.group) if each.compared else None,
                "disposition": each.disposition,
                "evidence": getattr(each.row, "evidence", None),
            }
            for each in found.covered
        ],
        "missing": [
            {
                "setting": each.compared.address,
                "from": each.compared.from_,
                "to": each.compared.to,
                "why": each.why,
            }
            for each in found.missing()
        ],
    }


def _row(each: Covered) -> tuple[str, ...]:
    compared = each.compared
    values = (_short(compared.from_), _short(compared.to)) if compared else ("-", "-")
    name = compared.address if compared else each.name
    return name, *values, each.disposition, _reason(each.row)


def _reason(row: Preserved | FactorRow | Bundle) -> str:
    said = [
        f"bundle {row.bundle}: {row.question or 'no question'}" if isinstance(row, Bundle) else "",
        getattr(row, "evidence", None) or "",
        f"requires {row.requires}" if isinstance(row, FactorRow) and row.requires else "",
        row.because or "",
    ]
    return "; ".join(part for part in said if part)


def _missing(compared: Compared) -> tuple[str, ...]:
    return compared.address, _short(compared.from_), _short(compared.to), "NO ROW", str(compared.group)


def _preserved(found: Inheritance, width: int) -> Iterator[str]:
    rows = [each for each in found.covered if isinstance(each.row, Preserved)]
    if rows:
        shown = [f"{each.name} = {_short(each.compared.to) if each.compared else '?'}" for each in rows]
        yield f"{len(rows)} preserved\n" + table([("", ", ".join(shown))], width)


def _leader(each: Compared) -> str:
    side = each.candidate or each.parent
    return f"follows {side.leader}" if side and side.leader else "part of the build"


def _never_adopted(found: Inheritance) -> Iterator[tuple[str, ...]]:
    for item in found.ledger.exclusions(found.tips):
        compared = found.difference.find(item.model.factor)
        if compared is None or not compared.set_by_a_person:
            yield item.model.factor, item.name, item.model.because or ""


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value
