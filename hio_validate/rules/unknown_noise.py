"""A confirmation that does not know how much the baseline differs from itself on this host.

Two runs of the same thing differ. Without an A-A experiment of the baseline nobody knows by how much, and an
effect of three per cent is a result on a quiet machine and nothing on a shared one (contract 7.2, 7.4). Named noise is
checked: its run compared one setting with itself; that it was another baseline, or another fixture, is a gate like
noise that is not named at all.

How to fix: `hio plan new --a-a`, run it, and name its run in `decide.noise`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.planned import asked_with, has_baseline, is_open, run_named
from hio_validate.settings.value import text_of


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.stage != "confirmation":
        return
    noise, place = run_named(item, plan.decide.noise, view), at(item, "decide", "noise")
    if noise is not None and not _is_null(noise.model):
        yield Problem(
            place,
            f"{noise.name} compared different settings; what it measured is no noise",
            "name a run of stage a-a",
        )
    elif noise is not None and is_open(item, view):
        for message in _of_something_else(noise, item, plan):
            yield Problem(place, message, "run an A-A experiment: hio plan new --a-a", severity=Severity.GATE)
    elif plan.decide.noise is None and is_open(item, view):
        yield Problem(
            at_key(item, "decide"),
            "no A-A experiment is named: how much the baseline differs from itself on this host is unknown",
            "run one (hio plan new --a-a) and name it in decide.noise",
            severity=Severity.GATE,
        )


def _is_null(run: Run) -> bool:
    """Whether all arms of a run were one stack with one delta."""
    arms = {
        (arm.stack, *sorted((name, text_of(each)) for name, each in arm.set.items()))
        for arm in run.arms.values()
    }
    return len(arms) == 1 and len(run.arms) > 1


def _of_something_else(noise: Item, item: Item, plan: Plan) -> Iterator[str]:
    if noise.model.outcome not in ("completed", None):
        yield f"{noise.name} was {noise.model.outcome}, so its noise is not known"
    if not has_baseline(noise, item):
        yield f"{noise.name} measured the noise of another baseline"
    if plan.fixture and noise.model.fixtures and not asked_with(noise, plan.fixture, item):
        yield f"{noise.name} asked another fixture than {plan.fixture}"


RULE = Rule(
    "unknown-noise", Scope.DOCUMENT, Severity.ERROR, "the noise of the baseline on this host is unknown", check,
    kinds=("plan/v1",), contract=("7.2", "7.4"), since=3,
)  # fmt: skip
