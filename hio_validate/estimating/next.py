"""The one next experiment: what it proves, what ends it, which route produces the evidence (contract 9.4, 9.6, 9.7).

Invariant: no candidate comes before a baseline, none before the cause of an open correctness failure, and none before a
profile where all of them together cannot explain the gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hio_validate.costs.context import WORDS
from hio_validate.costs.routes import ROUTES
from hio_validate.estimating import typed
from hio_validate.estimating.bounds.ledger import Ledger
from hio_validate.estimating.bounds.memory import may_wait
from hio_validate.estimating.bounds.passes import at_once
from hio_validate.estimating.candidates.mechanism import Seen
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import BoundTime, Candidate, NextExperiment

ABOVE = 0.05
"""A gap, as a share of the bound, below which nothing is left to explain: about the noise of a quiet host."""


def next_of(
    inputs: Inputs,
    ledger: Ledger,
    bound: BoundTime | None,
    candidates: Sequence[Candidate],
    *,
    fits: bool = True,
) -> NextExperiment:
    """What to do next, and only that. fits: whether the model may fit its memory."""
    if inputs.wrong:
        return _cause_of_failure(inputs)
    if bound is None:
        return _context(inputs, ledger)
    if not fits and inputs.baseline is None:
        return _another_place(inputs)
    if inputs.baseline is None:
        return _baseline(inputs)
    gap = gap_of(Seen(inputs, ledger, bound))
    if inputs.profile is None and gap is not None and gap > max(ABOVE, together(candidates)):
        return _profile(inputs, ledger, gap, candidates)
    if candidates:
        return _comparison(inputs, candidates[0])
    if gap is not None and gap > ABOVE:
        return _counters(inputs, gap)
    return _nothing_left(inputs, gap)


def gap_of(seen: Seen) -> float | None:
    """How much faster the bound is than what was measured, as a share: 0.25 where it takes a quarter longer; None unknown."""
    measured = seen.measured_time
    return None if measured is None else measured.value / seen.whole.value - 1


def together(candidates: Sequence[Candidate]) -> float:
    """The most that all candidates together can gain, one after the other, as a share."""
    return math.prod(1 + each.gain_percent.value / 100 for each in candidates) - 1


def _cause_of_failure(inputs: Inputs) -> NextExperiment:
    """The stack asked as it is, its answers checked: the only experiment on a stack that is known to be wrong."""
    first, stack = inputs.wrong[0], inputs.stack.name
    asked = (
        f"with {inputs.fixture.name}, else with the request that failed"
        if inputs.fixture
        else "with the request that failed"
    )
    return NextExperiment(
        experiment=f"find the cause of {first.name} ({first.model.hazard}): {stack} against itself {asked}, every answer "
        f"checked; {first.file} tells what was seen",
        proves=f"whether {stack} still answers wrongly: a run of stage a-a whose checks pass or fail",
        stop_if=f"the cause is mended and a correction of {first.name} is in the ledger, or another stack is the parent; until "
        "then no speed of it counts (contract 9.6)",
        route="measure-baseline",
        command=typed.baseline_of(inputs),
    )


def _context(inputs: Inputs, ledger: Ledger) -> NextExperiment:
    """What a bound is missing, each with the command that gets it; never what only makes it sharper."""
    lacks = list(_lacks(inputs)) or [(each, typed.again(inputs)) for each in ledger.missing[:1]]
    told = "; ".join(what for what, _ in lacks)
    order = ", in this order" if len(lacks) > 1 else ""
    return NextExperiment(
        experiment=f"get what nothing is estimated without{order}: {told}",
        proves="what bounds this workload: the ledger of this estimate, computed again",
        stop_if="a lower bound is stated",
        route="measure-baseline",
        command="\n".join(command for _, command in lacks) or None,
    )


def _another_place(inputs: Inputs) -> NextExperiment:
    """What cannot be held is not measured: its place or its size is decided first."""
    workload = inputs.workload
    fewer = ", or fewer requests at once" if at_once(workload) > 1 and not may_wait(workload) else ""
    return NextExperiment(
        experiment=f"none of {inputs.stack.name} as it is, which cannot fit: divide it over more devices, or give it weights or K/V "
        f"in fewer bits{fewer}; then estimate again",
        proves="that what has to be held is less than there is: the line `memory` of the next estimate",
        stop_if="it fits, or another model or machine is decided on",
        route="size-capacity",
        command=typed.again(inputs),
    )


def _lacks(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """(what is missing, what to type)."""
    if "shape" in inputs.unknown:
        yield WORDS["shape"], typed.shape_of(inputs)
    if not inputs.ceilings and not {"memory-read", "matmul", "disk-read"} & inputs.stated.keys():
        yield "rates of the machine", "hio probe host --yes --write"
    if lengths := [each for each in inputs.unknown if each != "shape"]:
        how = (
            "counted by a run of this fixture, or stated"
            if inputs.fixture
            else "of a fixture that ran, or stated"
        )
        yield f"{' and '.join(WORDS[each] for each in lengths)}, {how}", typed.again(inputs, *lengths)


def _baseline(inputs: Inputs) -> NextExperiment:
    asked = f" with {inputs.fixture.name}" if inputs.fixture else ""
    if inputs.workload.concurrency > 1:
        return _of_several_at_once(inputs, asked)
    return NextExperiment(
        experiment=f"measure {inputs.stack.name} against itself{asked}: the baseline that is missing",
        proves=f"{inputs.target.metric} of exactly this workload, with its noise, in a run of stage a-a",
        stop_if=f"{inputs.target.metric} is better than the bound: then the estimate or the measurement is wrong",
        route="measure-baseline",
        command=typed.baseline_of(inputs),
    )


def _of_several_at_once(inputs: Inputs, asked: str) -> NextExperiment:
    """A run of hio asks one request after the other: another program measures this, and its numbers are read."""
    stack, at_once = inputs.stack.name, inputs.workload.concurrency
    return NextExperiment(
        experiment=f"measure {stack}{asked} at {at_once} requests at once with a load generator: hio run asks one after the "
        "other, so that no run of it is this baseline",
        proves=f"{inputs.target.metric} at {at_once} requests at once: an observation that stands beside the bound, with what "
        "it does not tell of the workload",
        stop_if=f"{inputs.target.metric} is better than the bound: then the estimate or the measurement is wrong",
        route="measure-baseline",
        command=typed.observed_of(inputs),
    )


def _profile(inputs: Inputs, ledger: Ledger, gap: float, candidates: Sequence[Candidate]) -> NextExperiment:
    route = _which_profile(inputs, ledger)
    most = 100 * together(candidates)
    rest = {0: "no candidate explains any of it", 1: f"the only candidate explains {most:.0f} %"}.get(
        len(candidates), f"{len(candidates)} candidates together explain {most:.0f} %"
    )
    return NextExperiment.model_validate(
        {
            "experiment": f"{ROUTES[route].measure}: {inputs.stack.name} takes {100 * gap:.0f} % longer than the bound, and {rest}",
            "proves": f"where the time beyond the bound goes: {ROUTES[route].artifact}",
            "stop_if": "one part has more than a tenth of the time, or the profile is flat: then nothing is blamed",
            "route": route,
            "command": typed.route_of(inputs, route),
        }
    )


def _which_profile(inputs: Inputs, ledger: Ledger) -> str:
    """By what the workload runs on: a timeline of a device, one step of decode without kernels measured, else samples."""
    documents = [item.model for item in inputs.ceilings if item.model is not None]
    on_device = any(each.per == "device" or each.devices for each in documents)
    if on_device or any(term.resource in ("launch", "interconnect") for term in ledger.terms):
        return "device-timeline"
    kernels = any(each.engine is not None for each in documents)
    if inputs.path == "decode-token" and inputs.workload.concurrency == 1 and not kernels:
        return "decode-step-budget"
    return "attribute-cpu-and-device"


def _comparison(inputs: Inputs, first: Candidate) -> NextExperiment:
    stack, metric = inputs.stack.name, inputs.target.metric
    changed = f"{first.factor} {first.change}" if first.factor and first.change else first.mechanism
    at_most = f"at most {first.gain_percent.value:.3g} %"
    return NextExperiment(
        candidate=first.name,
        experiment=f"{stack} against {stack} with one change, {changed}; everything else held fixed",
        proves=f"whether {metric} gains anything, {at_most}: {ROUTES[first.route].artifact}",
        stop_if=first.stop_if,
        route=first.route,
        command=typed.plan_of(inputs, first),
    )


def _counters(inputs: Inputs, gap: float) -> NextExperiment:
    row = ROUTES["kernel-counters"]
    return NextExperiment(
        experiment=f"{row.measure}: {100 * gap:.0f} % beyond the bound, and no mechanism is known that could pay",
        proves=f"whether a kernel waits for memory or for arithmetic: {row.artifact}",
        stop_if="its counters reach the ceiling of the machine: then the bound is what is wrong",
        route="kernel-counters",
        command=typed.route_of(inputs, "kernel-counters"),
    )


def _nothing_left(inputs: Inputs, gap: float | None) -> NextExperiment:
    near = (
        f"{100 * gap:.0f} % beyond the bound" if gap is not None else "at an unknown distance from the bound"
    )
    return NextExperiment(
        experiment=f"none on this machine: {inputs.stack.name} is {near} and no mechanism is known that could pay; size the "
        "capacity that the goal takes",
        proves="how many requests this machine serves within the goal: a campaign over rising concurrency",
        stop_if="the goal is met, or another model or machine is decided on",
        route="size-capacity",
        command=typed.route_of(inputs, "size-capacity"),
    )
