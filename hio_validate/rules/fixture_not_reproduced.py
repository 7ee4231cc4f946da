"""A run whose baseline did not answer as the run that its plan reproduces.

Contract 4.7: at least one retained fixture of the parent is reproduced first, or the new token stream is recorded and
the series is new. The plan names the run (`reproduces`); if the first leg of the baseline gives another answer to the
same fixture, something else than the planned factor has changed since then: a library, the model, the sampling. It is a
gate: what was measured is honest, and cannot be set beside the earlier numbers.

How to fix: find out what changed, and plan again without it; or record that a new series begins (`series: new` in the
run, before it is committed; no `reproduces` in the next plan).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import Row, UnreadableRows, read_rows
from hio_validate.evidence.trials import Trial, plan_of, trials_of
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    plan = plan_of(item, view.repo)
    if plan is None or plan.reproduces is None or item.model.series == "new":
        return
    earlier = view.repo.find("run/v1", plan.reproduces, item.service)
    if earlier is None or earlier.model is None:
        return  # dangling-reference reports it
    here = [each for each in _trials(item, view) if each.arm == plan.baseline and each.rows]
    stack = item.model.arms[plan.baseline].stack if plan.baseline in item.model.arms else ""
    there = [each for each in _trials(earlier, view) if _is_arm(earlier, each.arm, stack)]
    expected = {answer for trial in there for answer in _answers(trial.rows, plan)}
    got = _answers(here[0].rows[:1], plan) if here else []
    if got and expected and got[0] not in expected:
        yield Problem(
            at(item, "plan"),
            f"the first leg of {plan.baseline} answered {got[0][:12]}…; {earlier.name} had {sorted(expected)[0][:12]}…",
            "find out what changed since then, or say series: new",
            (("what is reproduced", Place(earlier.document, ("name",))),),
        )


def _trials(run: Item, view: View) -> Sequence[Trial]:
    raw = view.repo.beside(run, run.model.raw.file)
    try:
        rows = read_rows(run.model, raw) if raw is not None else []
    except UnreadableRows:
        rows = []
    return trials_of(run.model, rows, plan_of(run, view.repo))


def _is_arm(run: Item, name: str, stack: str) -> bool:
    """Whether an arm of the earlier run was the baseline's stack as it stands."""
    arm = run.model.arms.get(name)
    return arm is not None and arm.stack == stack and not arm.set


def _answers(rows: Sequence[Row], plan: Plan) -> list[str]:
    """SHA-256 of the answers to the plan's fixture; none where the rows do not say."""
    asked = [row.cells for row in rows if row.cells.get("fixture", plan.fixture) == plan.fixture]
    return [cells["content_sha256"] for cells in asked if cells.get("content_sha256", "-") not in ("", "-")]


RULE = Rule(
    "fixture-not-reproduced", Scope.DOCUMENT, Severity.GATE, "the baseline answers otherwise than it did before", check,
    kinds=("run/v1",), contract=("4.7",), since=3,
)  # fmt: skip
