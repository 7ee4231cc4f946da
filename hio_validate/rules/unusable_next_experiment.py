"""A next experiment that nobody can run, or that nothing ends.

Contract 9.4: the one next experiment has PROVES, STOP IF and ROUTE, and each candidate its stop condition. What is typed
begins with hio or with a program of the routes (perf, nsys): an estimate launches nothing, and what it says to type is copied
by tired people. `never` and `TODO` are no conditions.

How to fix: write the command of the route (`hio estimate` does), and what result would end it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, listed

_NO_CONDITION = frozenset(
    {"", "-", "?", "n/a", "never", "no", "none", "nothing", "tbd", "todo", "not known", "unknown"}
)


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    for index, candidate in enumerate(estimate.candidates):
        yield from _ends(item, ("candidates", index, "stop_if"), candidate.stop_if)
    if estimate.next is not None:
        yield from _ends(item, ("next", "stop_if"), estimate.next.stop_if)
        yield from _typed(item, estimate.next.command or "")


def _ends(item: Item, path: Path, said: str) -> Iterator[Problem]:
    if said.strip(" .!").lower() in _NO_CONDITION:
        yield Problem(
            at(item, *path),
            f"{said} is no condition that ends it",
            "say which result of the metric refutes it",
        )


def _typed(item: Item, command: str) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates.
    from hio_validate.costs.routes import ROUTES

    programs = {line.split()[0] for route in ROUTES.values() for line in route.commands}
    for line in filter(str.strip, command.splitlines()):
        if line.split()[0] not in programs:
            yield Problem(
                at(item, "next", "command"),
                f"{line.split()[0]} is no program of any route; they begin with {listed(sorted(programs))}",
                "write what hio estimate says to type, or leave command: out",
            )
            return


RULE = Rule(
    "unusable-next-experiment", Scope.DOCUMENT, Severity.ERROR, "a next experiment that nobody can run or end", check,
    kinds=("estimate/v1",), contract=("9.4",), since=6,
)  # fmt: skip
