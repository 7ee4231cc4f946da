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
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.cited import rows_of


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, name in rows_of(item, "undecided"):
        said = f"{name} is undecided" if name else "the unknown defaults are undecided"
        yield Problem(at(item, *path), said, "write preserved, changed, retest or excluded")


RULE = Rule(
    "undecided-row", Scope.DOCUMENT, Severity.ERROR, "a scaffolded row still waits for a person", check,
    kinds=("matrix/v1",), contract=("3.2",),
)  # fmt: skip
