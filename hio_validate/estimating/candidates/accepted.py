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
from hio_validate.evidence.workload import concurrency_of, host_of
from hio_validate.models.estimate import EstimateTarget
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
    times: tuple[Interval, Interval] | None = None
    """Of the metric without and with it, where the run measured both of the very stack that is asked about."""


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
                arm, said = found
                return said._replace(times=_times(Case(run, view), arm, inputs))
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


def _of_run(run: Item, same: frozenset[str], address: str, view: View) -> Iterator[tuple[str, Counted]]:
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
            yield name, Counted(setting.value, run.name, accepted, median([mean for _, mean in legs]))


def _times(case: Case, arm: str, inputs: Inputs) -> tuple[Interval, Interval] | None:
    """Times without and with drafting; None unless the arms are this stack on this host, and differ in how they draft alone."""
    drafts, host = case.model.arms[arm], inputs.workload.target_host
    of_drafting = all("spec" in name for name in drafts.set)
    alone = next(
        (n for n, each in case.model.arms.items() if each.stack == inputs.stack.pin and not each.set), None
    )
    if alone is None or drafts.stack != inputs.stack.pin or not of_drafting or concurrency_of(case) != 1:
        return None
    if inputs.workload.concurrency != 1 or (host is not None and host_of(case, arm) != host):
        return None
    both = [_time(case, each, inputs.target) for each in (alone, arm)]
    return (both[0], both[1]) if both[0] and both[1] else None


def _time(case: Case, arm: str, target: EstimateTarget) -> Interval | None:
    """What a metric says of time, its median leg between the ends: of a rate the inverse."""
    values = case.values(arm, target.metric)
    if not values or min(values) <= 0:
        return None
    value, low, high = median(values), min(values), max(values)
    return Interval(1 / value, 1 / high, 1 / low) if target.better == "higher" else Interval(value, low, high)


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
