"""A row that says `retest`: honest work in progress, which must not be deployed yet.

A setting that differs and was not measured on this parent is a guess, however plausible. Contract 3.5 and 8.3
say that deployment needs a matrix without `retest`; so this is shown as a gate, the commit goes through, and
`--gate deploy` stops there. The list of these findings is the list of what is left to measure.

How to fix: measure the setting alone, append the ledger entry, and change the row to `changed` or `excluded`
with `evidence:`; for unknown defaults, learn the build's help text (`hio engine learn`) and delete the line.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.cited import rows_of

_HELP = "measure it, then cite the ledger entry: disposition changed or excluded, evidence: <entry>"


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, name in rows_of(item, "retest"):
        if name:
            yield Problem(at(item, *path), f"{name} awaits a retest", _HELP)
        else:
            yield Problem(at(item, *path), "unknown defaults await a retest", "learn the help text")


RULE = Rule(
    "retest-open", Scope.DOCUMENT, Severity.GATE, "a setting awaits its retest", check,
    kinds=("matrix/v1",), contract=("3.5", "8.3"),
)  # fmt: skip
