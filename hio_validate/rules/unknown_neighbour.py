"""A service that a trial must respect and that no site knows.

`respect` names services of others whose activity is watched while the trial runs (contract 5.2). A misspelt name is
watched nowhere: the trial would run through somebody's work and report a quiet host. Known are the services of the
site that the name begins with, and what this plan's site lists as `guarded`.

How to fix: correct the name, or add the service to its site (`services:`, or `guarded:` where it is not ours).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    for index, name in enumerate(plan.respect):
        known = _known(item, name, view)
        if name not in known:
            near = nearest(name, known, 0.8)
            yield Problem(
                at(item, "respect", index),
                f"no site knows a service {name}, so nobody would watch it",
                f"did you mean {near}?" if near else "add it to its site, or correct the name",
            )


def _known(item: Item, name: str, view: View) -> list[str]:
    """The services of the site that a name begins with, and what the plan's own site guards."""
    own, theirs = (view.repo.find("site/v1", each.partition("/")[0]) for each in (item.service or "", name))
    known = list(own.model.guarded) if own is not None and own.model is not None else []
    if theirs is not None and theirs.model is not None:
        known += [f"{theirs.name}/{each}" for each in theirs.model.services]
    return known


RULE = Rule(
    "unknown-neighbour", Scope.DOCUMENT, Severity.ERROR, "a service to respect that no site knows", check,
    kinds=("plan/v1",), contract=("5.2",), since=3,
)  # fmt: skip
