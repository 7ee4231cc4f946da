"""What runs of the same prompt counted of drafting: the share that was accepted, and how many tokens a pass drafted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.recorded import newest_first
from hio_validate.evidence.averages import median
from hio_validate.evidence.case import Case
from hio_validate.evidence.trials import Trial
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View
from hio_validate.settings.value import text_of


class Counted(NamedTuple):
    """Drafting of one kind, over the legs of one run."""

    kind: str
    """The value of the setting that drafted."""
    run: str
    accepted: Interval
    """Share of the drafted tokens that was accepted: the median leg between the least and the most."""
    drafted: float
    """Tokens drafted a pass, in the mean: a pass yields one token, and those that it accepts."""


def counted(inputs: Inputs, address: str) -> Counted | None:
    """The newest run of this prompt that drafted; `address` is the setting that says how. None where none did."""
    view, fixture = inputs.view, inputs.fixture
    if view is None or fixture is None or fixture.model.prompt is None:
        return None
    runs = [run for run in view.repo.of("run/v1") if run.service == inputs.service]
    for run in newest_first(runs):
        same = _of_the_same_prompt(run, fixture, view)
        if run.model.outcome in (None, "completed") and same:
            found = next(_of_run(run, same, address, view), None)
            if found is not None:
                return found
    return None


def _of_the_same_prompt(run: Item, fixture: Item, view: View) -> frozenset[str]:
    """The fixtures of a run with the same prompt and budget; its checks are among those that it pins."""
    pinned = [view.repo.find("fixture/v1", name_of(pin), run.service) for pin in run.model.fixtures]
    asked = fixture.model.prompt, fixture.model.max_tokens
    return frozenset(
        each.name
        for each in pinned
        if each is not None and each.model is not None and (each.model.prompt, each.model.max_tokens) == asked
    )


def _of_run(run: Item, same: frozenset[str], address: str, view: View) -> Iterator[Counted]:
    case = Case(run, view)
    if not {"fixture", "generated", "drafted", "accepted"} <= run.model.columns.keys() or case.rows is None:
        return
    for name, arm in run.model.arms.items():
        stack = view.repo.find("stack/v1", name_of(arm.stack), run.service)
        mine = [trial for trial in case.trials if trial.arm == name and trial.counted]
        legs = [
            each
            for trial in mine
            if all(row.cells["fixture"] in same for row in trial.rows) and (each := _of_leg(trial))
        ]
        if stack is None or stack.model is None or not legs:
            continue
        delta = {key: text_of(value) for key, value in arm.set.items()}
        setting = view.settings.effective(stack, None, delta).settings.get(address)
        if setting is not None:
            shares = [share for share, _ in legs]
            accepted = Interval(median(shares), min(shares), max(shares))
            yield Counted(setting.value, run.name, accepted, median([mean for _, mean in legs]))


def _of_leg(trial: Trial) -> tuple[float, float] | None:
    """Share accepted and tokens drafted a pass; None where the leg drafted nothing or does not say."""
    try:
        generated, drafted, accepted = (
            sum(float(row.cells[column]) for row in trial.rows)
            for column in ("generated", "drafted", "accepted")
        )
    except ValueError:
        return None
    passes = generated - accepted
    return (min(1.0, accepted / drafted), drafted / passes) if drafted > 0 and passes > 0 else None
