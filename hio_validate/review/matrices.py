"""Which rows of a matrix changed, and on which evidence (contract 3.2, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate import quantity
from hio_validate.models.entry import Result
from hio_validate.models.matrix import Bundle, FactorRow, Matrix, Preserved
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.review.changes import Evidence, How, MatrixChange, RowChange
from hio_validate.review.trees import Side, Trees
from hio_validate.settings.secrets import WITHHELD, says_secret
from hio_validate.settings.setting import Class
from hio_validate.settings.value import text_of


class _Row(NamedTuple):
    """What a matrix says of one setting."""

    state: str
    """Its disposition in words."""
    values: str
    """`1 -> 2`, where the row states any."""
    preserved: bool
    evidence: str | None
    because: str


def matrix_changes(trees: Trees, service: str) -> Iterator[MatrixChange]:
    """The matrices of a service that are new, removed, renamed or say something else, by file."""
    for was, now in trees.pairs("matrix/v1", service):
        how = trees.how(was, now)
        item = now or was
        if item is None or how is How.UNTOUCHED:
            continue
        before = _rows(was, trees.before) if was else {}
        after = _rows(now, trees.after) if now else {}
        matrix: Matrix = item.model
        yield MatrixChange(
            item.name,
            how,
            was.name if was and now and was.name != now.name else None,
            matrix.parent,
            matrix.candidate,
            () if how is How.REMOVED else tuple(_row_changes(before, after, trees.after, service)),
            sum(row.preserved for row in (after or before).values()),
            tuple(_others(was.model, now.model)) if was and now else (),
        )


def _rows(item: Item, side: Side) -> dict[str, _Row]:
    """Address of each setting that a matrix names -> what it says of it."""
    resolved = side.view.inheritance(item)
    if resolved is None:
        return dict(_unresolved(item.model))
    found = {}
    for each in resolved.covered:
        compared = each.compared
        secret = says_secret(each.name) or (compared is not None and compared.class_ is Class.SECRET)
        values = (compared.from_, compared.to) if compared else _typed(each.row)
        found[compared.address if compared else each.name] = _row(each.row, values, secret)
    return found


def _unresolved(matrix: Matrix) -> Iterator[tuple[str, _Row]]:
    """The rows as they are typed, where a side of the matrix cannot be read."""
    for row in matrix.rows:
        match row:
            case Preserved():
                names = row.preserved
            case Bundle():
                names = row.members
            case FactorRow():
                names = [row.factor]
        for name in names:
            yield name, _row(row, _typed(row), says_secret(name))


def _typed(row: Preserved | FactorRow | Bundle) -> tuple[str, str] | None:
    return (text_of(row.from_), text_of(row.to)) if isinstance(row, FactorRow) else None


def _row(row: Preserved | FactorRow | Bundle, values: tuple[str, str] | None, secret: bool) -> _Row:
    if isinstance(row, Preserved):
        return _Row("preserved", "", True, None, row.because or "")
    state = row.disposition + (f" in the bundle {row.bundle}" if isinstance(row, Bundle) else "")
    if isinstance(row, FactorRow) and row.requires:
        state += f", requires {row.requires}"
    shown = (WITHHELD, WITHHELD) if secret else tuple(map(_short, values or ()))
    return _Row(state, " -> ".join(shown), row.disposition == "preserved", row.evidence, row.because or "")


def _short(value: str) -> str:
    return f"bytes {value[:8]}" if len(value) == 64 else value


def _row_changes(
    before: dict[str, _Row], after: dict[str, _Row], side: Side, service: str
) -> Iterator[RowChange]:
    """Rows that came, went, or have another disposition, value or evidence; preserved ones that came are counted."""
    for setting in sorted(before.keys() | after.keys()):
        was, now = before.get(setting), after.get(setting)
        if was == now or (was is None and not before and now is not None and now.preserved):
            continue
        if was and now and was[:4] == now[:4]:
            continue
        same_values = was is None or now is None or was.values == now.values or not was.values
        evidence = _evidence(now.evidence, side, service) if now and now.evidence else None
        yield RowChange(
            setting,
            _state(was, same_values),
            _state(now, same_values),
            (now or was or _NOTHING).values if same_values else "",
            evidence,
            now.because if now else "",
            now is not None and _is_unfounded(now),
        )


def _is_unfounded(row: _Row) -> bool:
    decides = row.state.startswith(("changed", "excluded"))
    return decides and row.evidence is None and ", requires " not in row.state


_NOTHING = _Row("", "", False, None, "")


def _state(row: _Row | None, same_values: bool) -> str | None:
    if row is None:
        return None
    return row.state if same_values else f"{row.state} ({row.values})"


def _evidence(name: str, side: Side, service: str) -> Evidence:
    item = side.repo.find("entry/v1", name, service)
    if item is None or item.model is None:
        return Evidence(name, "no readable entry")
    run, result = pin_of(item, "run"), getattr(item.model, "result", None)
    return Evidence(
        item.name, item.model.kind, name_of(run) if run else None, published(result) if result else None
    )  # fmt: skip


def published(result: Result) -> str:
    """A published number in words: `decode_tps +41 % (median, base -> threads-2)`."""
    number = quantity.published(result.change_percent)
    return f"{result.metric} {number} ({result.statistic}, {result.from_arm} -> {result.to_arm})"


def _others(was: Matrix, now: Matrix) -> Iterator[str]:
    for name in ("parent", "candidate"):
        before, after = getattr(was, name), getattr(now, name)
        if before != after:
            yield f"its {name} is {after}, was {before}"
    for side in ("parent", "candidate"):
        before, after = (getattr(each.captures, side, None) for each in (was, now))
        if before != after:
            words = f"the capture {after}" if after else "no capture"
            yield f"its {side} is observed by {words}" + (f", before by {before}" if before else "")
    if was.workload != now.workload:
        workload = now.workload
        parts = [part for part in (workload.fixture, workload.regime) if part] if workload else []
        yield f"it is for the workload {', '.join(parts)}" if parts else "it names no workload any more"
    if was.pairs != now.pairs:
        yield "its pairs of names are other ones"
    if was.as_of != now.as_of:
        yield f"it covers the ledger up to {', '.join(now.as_of) or 'its tips'}"
