"""A row that hio scaffolded and that nobody has decided.

`hio matrix new` writes every difference it computed with `disposition: undecided`: a question to a person,
not an answer. Committed as it stands, the matrix looks complete although nobody looked at that setting
(contract 3.2: each difference is preserved, changed, retest or excluded). Work that is honestly unfinished
is `retest`, which never blocks a commit; an undecided row does.

How to fix: replace `undecided` by `preserved`, `changed`, `retest` or `excluded`; `retest` is always honest
where nothing was measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.matrix import Bundle, FactorRow, Matrix
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

_HELP = "write preserved, changed, retest or excluded"


def check(item: Item, view: View) -> Iterator[Problem]:
    matrix: Matrix = item.model
    for index, row in enumerate(matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.disposition == "undecided":
            name = row.factor if isinstance(row, FactorRow) else f"the bundle {row.bundle}"
            yield Problem(at(item, "rows", index, "disposition"), f"{name} is undecided", _HELP)
    if matrix.defaults and matrix.defaults.disposition == "undecided":
        yield Problem(at(item, "defaults", "disposition"), "the unknown defaults are undecided", _HELP)


RULE = Rule(
    "undecided-row", Scope.DOCUMENT, Severity.ERROR, "a scaffolded row still waits for a person", check,
    kinds=("matrix/v1",), contract=("3.2",),
)  # fmt: skip
