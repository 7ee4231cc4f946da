"""An engine whose name is almost that of a family hio knows.

The family of a process says which grammar reads its arguments and which table names its secrets and its places. Under
a misspelt one nothing is read by any grammar: no argument is unknown, no default is known, and nobody notices
(contract 2.2). An engine that is like no known family is taken at its word.

How to fix: write the family as the message says, or `unknown` where no grammar reads the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.settings.family import PACKAGED
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    for role, process in item.model.processes.items():
        if process.engine == "unknown" or view.settings.family(process.engine) is not None:
            continue
        known = [*PACKAGED, *(family.name for family in view.repo.of("family/v1"))]
        near = nearest(process.engine.lower(), known, 0.75)
        if near:
            yield Problem(
                at(item, "processes", role, "engine"),
                f"no engine family is called {process.engine}",
                f"did you mean {near}?",
            )


RULE = Rule(
    "misspelt-engine", Scope.DOCUMENT, Severity.ERROR, "the engine of a process is almost a known family", check,
    kinds=("stack/v1",), contract=("2.2",), since=2,
)  # fmt: skip
