"""An engine whose name is almost that of a family hio knows.

The family of a process says which grammar reads its arguments and which table names its secrets and its places. Under
a misspelt one nothing is read by any grammar: no argument is unknown, no default is known, and nobody notices
(contract 2.2); a known-good registry of one is about no process. An engine that is like no known family is taken at its word.

How to fix: write the family as the message says, or `unknown` where no grammar reads the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.known_good import KnownGood
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.settings.family import PACKAGED
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, engine in _engines(item):
        if engine == "unknown" or view.settings.family(engine) is not None:
            continue
        known = [*PACKAGED, *(family.name for family in view.repo.of("family/v1"))]
        near = nearest(engine.lower(), known, 0.75)
        if near:
            yield Problem(at(item, *path), f"no engine family is called {engine}", f"did you mean {near}?")


def _engines(item: Item) -> Iterator[tuple[Path, str]]:
    if isinstance(item.model, KnownGood):
        yield ("engine",), item.model.engine
        return
    for role, process in item.model.processes.items():
        yield ("processes", role, "engine"), process.engine


RULE = Rule(
    "misspelt-engine", Scope.DOCUMENT, Severity.ERROR, "the engine of a process is almost a known family", check,
    kinds=("stack/v1", "known-good/v1"), contract=("2.2",), since=2,
)  # fmt: skip
