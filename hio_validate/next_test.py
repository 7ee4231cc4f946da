"""The next isolated test of a service, in dependency order, and what waits behind it (contract 8.1).

Three things ask for a test: a matrix row that says `retest`, a decision to keep researching, and an
opportunity. Invariant: a test is never proposed before the one it depends on, and each comes with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hio_validate.inheritance import Inheritance
from hio_validate.ledger import Ledger, one_setting
from hio_validate.models.entry import Decision, FailedRun, Increment, NegativeControl, Opportunity
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.difference import Group


class AskedTest(NamedTuple):
    """One test that is asked for."""

    factor: str
    """The setting, `the bundle NAME`, or `defaults of STACK`; the entry's name where it is about no setting."""
    change: str
    """`from -> to` of a matrix row, else empty."""
    what: str
    """What to do, in the words of whoever asked for it."""
    why: str
    source: str
    """The matrix or the entry that asks."""
    waits_for: tuple[str, ...] = ()
    """Settings that are tested first."""
    outlived: bool = False
    """Its matrix compares with a stack that was replaced as parent, and does not lead to the one that replaced it."""


@dataclass(frozen=True)
class _Row:
    """One open row of one matrix."""

    matrix: Inheritance
    index: int
    names: tuple[str, ...]
    """Every address that the row is about; empty for the line of defaults."""
    waits_for: tuple[str, ...]
    test: AskedTest
    bundle: str | None = None
    """Its name, where the row is one."""


def asked_tests(view: View, service: str) -> tuple[AskedTest, ...]:
    """Every test that is asked for, the next one first; what waits for another stands behind it.

    What a matrix asks of a parent that was replaced comes last: its answer would not be about what serves.
    """
    ledger = view.ledger(service)
    asked = [item for item in ledger.as_of() if _still_asks(item, ledger)]
    rows = sorted(
        (row for matrix in _matrices(view, service, ledger) for row in _rows(matrix, ledger.parent)),
        key=lambda row: _order(row, asked, ledger),
    )
    used: list[Item] = []
    found = [_with_words_of(row, asked, used) for row in _after_what_they_wait_for(rows)]
    entries = [_of_entry(item) for item in asked if item not in used]
    return (
        *(test for test in found if not test.outlived),
        *sorted(entries, key=lambda test: test.source in _opportunities(asked)),
        *(test for test in found if test.outlived),
    )


def _opportunities(asked: Sequence[Item]) -> set[str]:
    return {item.name for item in asked if isinstance(item.model, Opportunity)}


def _matrices(view: View, service: str, ledger: Ledger) -> Iterator[Inheritance]:
    """The matrices that lead from or to the current parent, or to a stack that nothing has accepted yet."""
    done = set(ledger.accepted_stacks()) - {ledger.parent}
    for item in view.repo.of("matrix/v1"):
        found = view.inheritance(item) if item.service == service else None
        if found is not None and found.candidate.name not in done:
            yield found


def _rows(matrix: Inheritance, parent: str | None) -> Iterator[_Row]:
    open_ = list(matrix.open_rows())
    outlived = parent not in (None, matrix.parent.name, matrix.candidate.name)
    names = {index: _names(matrix, index) for index, _ in open_}
    for index, row in open_:
        waits = tuple(
            other
            for at, each in names.items()
            if at != index and _depends(matrix, row, names[index], each)
            for other in each[:1]
        )
        test = _of_row(matrix, row, names[index], len(open_), waits)
        yield _Row(
            matrix,
            index,
            names[index],
            waits,
            _outlived(test, parent) if outlived else test,
            row.bundle if isinstance(row, Bundle) else None,
        )
    if matrix.defaults_are_open:
        test = _of_defaults(matrix)
        yield _Row(matrix, len(matrix.matrix.rows), (), (), _outlived(test, parent) if outlived else test)


def _outlived(test: AskedTest, parent: str | None) -> AskedTest:
    """The test of a matrix whose parent was replaced, which says so."""
    return test._replace(why=f"{test.why}; the parent is {parent} meanwhile", outlived=True)


def _names(matrix: Inheritance, index: int) -> tuple[str, ...]:
    """The addresses that a row covers; its own words where neither side has such a setting."""
    covered = [each for each in matrix.covered if each.path[:2] == ("rows", index)]
    return tuple(each.compared.address if each.compared else each.name for each in covered)


def _depends(matrix: Inheritance, row: FactorRow | Bundle, own: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a row is to be tested after another: it says so, it follows it, or that build moved it."""
    said = [*row.depends, *([row.requires] if row.requires else [])] if isinstance(row, FactorRow) else []
    compared = [each for each in (matrix.difference.find(name) for name in own) if each is not None]
    leaders = [
        side.leader for each in compared for side in (each.parent, each.candidate) if side and side.leader
    ]
    if any(one_setting(named, each) for named in (*said, *leaders) for each in other):
        return True
    moved = any(each.group is Group.MOVED for each in compared)
    return moved and any(each.rpartition(".")[2] == "build" for each in other)


def _of_row(
    matrix: Inheritance, row: FactorRow | Bundle, names: Sequence[str], open_: int, waits: tuple[str, ...]
) -> AskedTest:
    name = matrix.matrix.name
    alone = f"the only open row of {name}" if open_ == 1 else f"one of {open_} open rows of {name}"
    if isinstance(row, Bundle):
        question = row.question or "no question is declared yet"
        what = f"measure its members together: {question}"
        if matrix.is_unfounded(row):
            alone += f", which says {row.disposition} and cites nothing"
        return AskedTest(f"the bundle {row.bundle}", "", what, alone, name, waits)
    what = f"measure this change alone against {matrix.parent.name}, everything else as there"
    if row.disposition == "undecided":
        what = "decide the row first: preserved, changed, retest or excluded"
    if matrix.is_unfounded(row):
        alone += f", which says {row.disposition} and cites nothing"
    compared = matrix.difference.find(names[0])
    change = f"{compared.from_} -> {compared.to}" if compared else f"{row.from_} -> {row.to}"
    return AskedTest(names[0], change, what, alone, name, waits)


def _of_defaults(matrix: Inheritance) -> AskedTest:
    sides = {"parent": matrix.parent.name, "candidate": matrix.candidate.name}
    unknown = " and ".join(sides[side] for side in matrix.sides_without_defaults()) or matrix.parent.name
    return AskedTest(
        f"defaults of {unknown}",
        "",
        "learn them (hio engine learn) and let hio compare them, or measure with every setting written out",
        f"nobody knows what {matrix.matrix.name} inherits silently",
        matrix.matrix.name,
    )


def _still_asks(item: Item, ledger: Ledger) -> bool:
    """Whether an entry asks for a test that no later entry about the same setting has answered."""
    model = item.model
    if not (isinstance(model, Opportunity) or (isinstance(model, Decision) and model.next)):
        return False
    return not any(
        item.name in ledger.ancestors(ledger.after(later.name)) and _answers(later, item)
        for later in ledger.as_of()
    )


def _answers(later: Item, asking: Item) -> bool:
    corrected = getattr(later.model, "corrects", None)
    if corrected is not None:
        return bool(corrected.rpartition("/")[2] == asking.name)
    answers = Increment | NegativeControl | Decision | FailedRun
    factor = asking.model.factor
    if not isinstance(later.model, answers) or factor is None or later.model.factor is None:
        return False
    return one_setting(later.model.factor, factor)


def _of_entry(item: Item) -> AskedTest:
    model = item.model
    if isinstance(model, Opportunity):
        why = f"opportunity ({model.result_kind}): {model.benefit}; uncertain: {model.uncertainty}"
    else:
        why = f"{item.name} decided to {model.decision.replace('-', ' ')}"
    return AskedTest(model.factor or item.name, "", model.next, why, item.name)


def _with_words_of(row: _Row, asked: Sequence[Item], used: list[Item]) -> AskedTest:
    """The test of a row, in the words of an entry that asks for the same one."""
    entry = next((item for item in asked if _about(item, row)), None)
    if entry is None:
        return row.test
    used.append(entry)
    return row.test._replace(what=entry.model.next, why=f"{row.test.why}; {entry.name} asks for it")


def _about(item: Item, row: _Row) -> bool:
    """Whether an entry asks for the test of a row: of a bundle only where it names the bundle, never one of its members.

    What it asks is about the current parent, and never what a matrix of a replaced one asked.
    """
    factor = item.model.factor
    if row.test.outlived or factor is None:
        return False
    if row.bundle is not None:
        return bool(factor == row.bundle)
    return any(one_setting(factor, name) for name in row.names)


def _order(row: _Row, asked: Sequence[Item], ledger: Ledger) -> tuple[bool, bool, bool, int, str, int]:
    """From the current parent first, then what leads to it, what an entry asks for, the matrix with the fewest open rows."""
    open_ = len(list(row.matrix.open_rows()))
    return (
        row.test.outlived,
        ledger.parent != row.matrix.parent.name,
        not any(_about(item, row) for item in asked),
        open_,
        row.matrix.matrix.name,
        row.index,
    )


def _after_what_they_wait_for(rows: Sequence[_Row]) -> Iterator[_Row]:
    """The same rows, each behind the rows of its matrix that it waits for; a circle keeps the given order."""
    waiting = list(rows)
    while waiting:
        open_ = {(row.matrix.matrix.name, name) for row in waiting for name in row.names}
        ready = next(
            (
                row
                for row in waiting
                if not any((row.matrix.matrix.name, name) in open_ for name in row.waits_for)
            ),
            waiting[0],
        )
        waiting.remove(ready)
        yield ready
