"""A run that is not the experiment which its pinned plan describes.

The plan was pinned before the first result so that nobody can choose afterwards what was tested (contract 4.4, 4.5). A
run with another arm, another order, another fixture or another metric than its plan is another experiment under that
plan's name; a run that says it was completed and lacks legs was not.

How to fix: a run is written once and stays. Plan the experiment that is meant, and run that one; a run that ended early
says so (`outcome: aborted`).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.as_planned import contradictions
from hio_validate.evidence.trials import plan_of
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    plan = plan_of(item, view.repo)
    if plan is None:
        return
    for path, is_key, message in contradictions(item.model, plan):
        place = at_key(item, *path) if is_key else at(item, *path)
        yield Problem(place, message, "plan what is meant, and run that", (("its plan", at(item, "plan")),))


RULE = Rule(
    "run-contradicts-plan", Scope.DOCUMENT, Severity.ERROR, "a run is not the experiment of its pinned plan", check,
    kinds=("run/v1",), contract=("4.4", "4.5", "4.10"), since=3,
)  # fmt: skip
