"""A setting that two rows of a matrix cover.

Contract 3.3 wants each setting covered exactly once. With two rows, one can say `preserved` and the other
`retest`, and whoever reads only the first one deploys a change that nobody measured. Aliases count: `t`,
`threads`, `server.threads` and `LLAMA_ARG_THREADS` are one setting, and so is a member of a bundle or a name
in `pairs:`.

How to fix: keep the row that says what was decided and delete the other; a member of a bundle has no row of
its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Covered
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    first: dict[str, Covered] = {}
    for each in found.covered if found else ():
        address = each.compared.address if each.compared else each.name
        before = first.setdefault(address, each)
        if before is not each:
            alias = "" if before.name == each.name else f" ({before.name} is the same setting)"
            yield Problem(
                at(item, *each.path),
                f"{each.name} is covered twice{alias}",
                "keep one row",
                (("the first one is here", at(item, *before.path)),),
            )


RULE = Rule(
    "duplicate-row", Scope.DOCUMENT, Severity.ERROR, "a setting is covered by two rows", check,
    kinds=("matrix/v1",), contract=("3.3",),
)  # fmt: skip
