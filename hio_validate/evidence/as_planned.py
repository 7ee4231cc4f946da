"""Whether a run is the experiment that its pinned plan describes (contract 4.4, 4.5).

Invariant: whatever was pinned before the first result is compared; the rule and the verdict ask here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hio_validate.diagnostic import Path
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from hio_validate.repo import name_of
from hio_validate.settings.value import text_of

Found = Iterator[tuple[Path, bool, str]]
"""(where, whether the key is meant, what contradicts)."""


def contradictions(run: Run, plan: Plan) -> Found:
    """Everything in which a run is not what its plan says, in the order of the document."""
    yield from _arms(run, plan)
    yield from _stage(run, plan)
    yield from _fixtures(run, plan)
    yield from _quality(run, plan)
    yield from _metric(run, plan)
    yield from _legs(run, plan)


def _arms(run: Run, plan: Plan) -> Found:
    for name, arm in run.arms.items():
        planned = plan.arms.get(name)
        if planned is None:
            yield ("arms", name), True, f"{plan.name} has no arm {name}: it has {_listed(plan.arms)}"
        elif name_of(arm.stack).rpartition("/")[2] != planned.stack.rpartition("/")[2]:
            yield ("arms", name, "stack"), False, f"{plan.name} starts the arm {name} from {planned.stack}"
        elif _texts(arm.set) != _texts(planned.set):
            shown = _listed(f"{key}: {value}" for key, value in planned.set.items()) or "nothing"
            yield ("arms", name), True, f"{plan.name} sets {shown} in the arm {name}"
    missing = [name for name in plan.arms if name not in run.arms]
    if missing:
        yield ("arms",), True, f"{plan.name} has the arm {_listed(missing)}, too"


def _texts(delta: Mapping[str, Any]) -> dict[str, str]:
    """A delta as it is compared: 2 and "2" are the same setting."""
    return {setting: text_of(value) for setting, value in delta.items()}


def _stage(run: Run, plan: Plan) -> Found:
    if run.stage is not None and run.stage != plan.stage:
        yield ("stage",), False, f"{plan.name} was planned as {plan.stage}, not as {run.stage}"


def _fixtures(run: Run, plan: Plan) -> Found:
    planned = [*([plan.fixture] if plan.fixture else []), *plan.checks]
    asked = {name_of(pin).rpartition("/")[2] for pin in run.fixtures}
    missing = [each for each in planned if each.rpartition("/")[2] not in asked]
    if missing and run.fixtures:
        yield ("fixtures",), True, f"{plan.name} asks {_listed(missing)}, which this run does not pin"
    more = sorted(asked - {each.rpartition("/")[2] for each in planned})
    if more:
        yield ("fixtures",), True, f"{plan.name} does not ask {_listed(more)}"


def _quality(run: Run, plan: Plan) -> Found:
    planned = plan.quality.tasks.rpartition("/")[2] if plan.quality else None
    asked = name_of(run.quality.tasks).rpartition("/")[2] if run.quality else None
    if asked is not None and asked != planned:
        said = f"asks {planned}" if planned else "asks no task set"
        yield ("quality", "tasks"), False, f"{plan.name} {said}, not {asked}"
    elif asked is None and planned is not None and run.outcome == "completed":
        said = f"it is called completed, and {planned} of {plan.name} was never asked"
        yield ("outcome",), False, said


def _metric(run: Run, plan: Plan) -> Found:
    column = run.columns.get(plan.decide.metric)
    if column is None:
        yield ("columns",), True, f"{plan.name} decides by {plan.decide.metric}, which was not measured"
    elif column.better != plan.decide.better:
        said = f"{plan.name} says that {plan.decide.better} {plan.decide.metric} is better"
        yield ("columns", plan.decide.metric), True, said


def _legs(run: Run, plan: Plan) -> Found:
    for index, leg in enumerate(run.legs):
        if leg.place > len(plan.order):
            yield ("legs", index, "place"), False, f"{plan.name} has {len(plan.order)} places"
        elif plan.order[leg.place - 1] != leg.arm:
            wanted = plan.order[leg.place - 1]
            yield (
                ("legs", index, "arm"),
                False,
                f"{plan.name} has {wanted} at place {leg.place}, not {leg.arm}",
            )
    ran = {leg.place for leg in run.legs}
    missing = [place for place in range(1, len(plan.order) + 1) if place not in ran]
    if run.outcome == "completed" and missing:
        yield (
            ("outcome",),
            False,
            f"it is called completed, and place {_listed(missing)} of {plan.name} was never run",
        )


def _listed(words: Iterable[Any]) -> str:
    return ", ".join(map(str, words))
