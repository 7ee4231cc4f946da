"""What an estimate says, in sentences that its text and its Markdown share.

Invariant: nothing that is missing is left out, and no sentence calls an estimate a result (contract 9.5).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.amounts import best_guess, common_unit, digits, in_unit, percent, with_interval
from hio_validate.costs.context import WORDS, unknown_of
from hio_validate.costs.routes import ROUTES
from hio_validate.costs.units import UNITS
from hio_validate.evidence.metrics import METRICS
from hio_validate.models.estimate import (
    Amount,
    BoundTime,
    Candidate,
    Estimate,
    Sharding,
    Term,
    UnitCost,
    Workload,
)
from hio_validate.quantity import counted
from hio_validate.report.estimate_memory import fit

PER = {
    "setup": "set-up",
    "load": "loading of the model",
    "request": "request",
    "prefill-token": "prompt token",
    "decode-token": "generated token",
}
"""Path -> what is counted once on it."""

FAMILIES = {
    1: "less work",
    2: "in bulk, fused",
    3: "another representation",
    4: "less on the hot path",
    5: "reuse what was computed",
    6: "overlap, wait less",
    7: "generated code",
}
"""The hint families, in the order in which they are looked at."""

_STATUS = {
    "DRAFT": "DRAFT: an estimate is no result",
    "NEEDS_CONTEXT": "NEEDS_CONTEXT: an estimate is no result, and this one lacks what is named below",
    "VERDICT": "VERDICT is claimed, which no estimate can be: an estimate is no result",
}


def status(estimate: Estimate) -> str:
    return _STATUS[estimate.status]


def pinned(pin: str) -> str:
    """`base (0123456789ab)` of a name with a digest."""
    name, _, digest = pin.partition("@sha256:")
    return f"{name} ({digest[:12]})" if digest else name


def headline(estimate: Estimate) -> str:
    """What bounds it, and how far the measurement is from that; of a stack that is known to be wrong that it is."""
    subject = f"{estimate.target.metric} of {estimate.service}"
    if estimate.blocked_by:
        return f"{subject}: BLOCKED, {blocked(estimate)}"
    if estimate.memory is not None and estimate.memory.outcome == "cannot-fit":
        subject = f"{subject}: CANNOT FIT, {fit(estimate.memory)}; were it held"
    if estimate.bound is None:
        return f"{subject}: nothing bounds it yet, {_lack(estimate)}; {_distance(estimate)}"
    return f"{subject}: {bound_by(estimate)}, {limit(estimate, estimate.bound)}; {_distance(estimate)}"


def _lack(estimate: Estimate) -> str:
    """What a bound is missing."""
    told = estimate.workload
    unknown = unknown_of(
        estimate.path,
        has_shape=told.shape is not None,
        prompt_tokens=told.prompt_tokens,
        generated_tokens=told.generated_tokens,
    )
    if not unknown:
        return "no rate is known that its work could be divided by"
    *others, last = [WORDS[each] for each in unknown]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{names} {'are' if others or last.endswith('s') else 'is'} missing"


def blocked(estimate: Estimate) -> str:
    """`base has an open correctness failure, nan (0123456789ab): no speed of it counts before its cause is found`."""
    stack, names = estimate.workload.stack.partition("@")[0], [pinned(each) for each in estimate.blocked_by]
    failure = "an open correctness failure" if len(names) == 1 else "open correctness failures"
    return f"{stack} has {failure}, {', '.join(names)}: no speed of it counts before its cause is found"


def missing(estimate: Estimate) -> list[str]:
    """What is not there; what one thing to do mends is said together: `this; that: how to get both`."""
    together: dict[str, list[str]] = {}
    for said in dict.fromkeys(estimate.missing):
        what, colon, how = said.partition(": ")
        together.setdefault(f"{colon}{how}", []).append(what)
    alone = together.pop("", [])
    return [*(f"{'; '.join(lacks)}{mends}" for mends, lacks in together.items()), *alone]


def _distance(estimate: Estimate) -> str:
    baseline = estimate.baseline
    if baseline is None:
        return "not measured"
    said = f"measured {digits(baseline.value, baseline.low, baseline.high)} {baseline.unit}"
    efficiency = baseline.efficiency_percent
    if efficiency is None:
        return said
    said += f", efficiency {percent(efficiency)}"
    return f"{said}: the ledger or the measurement is wrong" if efficiency.low > 100 else said


def bound_by(estimate: Estimate) -> str:
    """`bound by weights (memory)`; more than one where their intervals do not tell which is the longest."""
    names = longest_names(estimate)
    terms: dict[str, Term] = {each.name: each for each in estimate.terms}
    said = " or ".join(
        f"{name} ({terms[name].resource})" if terms[name].resource != name else name for name in names
    )
    return f"bound by {said or 'no term of the ledger'}"


def longest_names(estimate: Estimate) -> list[str]:
    """The terms of the group that costs most, of which each may be the longest, the likeliest first."""
    bound = estimate.bound
    terms = {each.name: each for each in estimate.terms}
    groups = [[terms[name] for name in group if name in terms] for group in (bound.groups if bound else [])]
    heaviest = max(
        (group for group in groups if group), key=lambda group: max(map(_seconds, group)), default=[]
    )
    least = max((_base(each.time, each.time.low) for each in heaviest), default=0.0)
    able = [each for each in heaviest if _base(each.time, each.time.high) >= least]
    return [each.name for each in sorted(able, key=_seconds, reverse=True)]


def _seconds(term: Term) -> float:
    return _base(term.time, term.time.value)


def _base(amount: Amount, value: float) -> float:
    return value * UNITS[amount.unit][1]


def limit(estimate: Estimate, bound: BoundTime) -> str:
    """`at most 12 token/s (11 to 13)`, or `at least 82 ms (75 to 90)`; a bound is no forecast."""
    if bound.metric is None:
        return f"at least {with_interval(bound.time)} a {PER[estimate.path]}"
    at = "at most" if METRICS[estimate.target.metric].better == "higher" else "at least"
    return f"{at} {of_metric(estimate, bound.metric)}"


def of_metric(estimate: Estimate, amount: Amount) -> str:
    """An amount in the unit of the target's metric; a rate is counted in 1 by the metric's own unit."""
    unit = METRICS[estimate.target.metric].unit
    if amount.unit == "1":
        return with_interval(amount, word=unit)
    return with_interval(in_unit(amount, unit)) if unit in UNITS else with_interval(amount)


def target(estimate: Estimate) -> str:
    metric = METRICS[estimate.target.metric]
    said = f"{estimate.target.metric} in {metric.unit}, {estimate.target.better} is better"
    goal = estimate.target.goal
    return f"{said}; the goal is {goal:g} {metric.unit}" if goal is not None else f"{said}; no goal is stated"


def workload(estimate: Estimate) -> str:
    """What is asked of what; what is not known is said."""
    told = estimate.workload
    keys = f"K {told.key_type or 'unknown'} and V {told.value_type or 'unknown'}"
    said = [
        f"stack {pinned(told.stack)}",
        f"fixture {pinned(told.fixture)}" if told.fixture else "no fixture",
        f"shape {pinned(told.shape)}" if told.shape else "shape unknown",
        f"{_known(told.prompt_tokens)} prompt tokens",
        f"{_known(told.generated_tokens)} generated tokens",
        f"{counted(told.concurrency, 'request')} at a time",
        f"cache {told.cache}",
        _threads(told),
        *([f"{told.devices} devices"] if told.devices > 1 else []),
        *([_divided(told.sharding)] if told.sharding else []),
        *([f"microbatch {told.microbatch}"] if told.microbatch else []),
        keys,
        f"drafting: {told.drafting}" if told.drafting else "no drafting",
        f"host {told.target_host[:12]}" if told.target_host else "host unknown",
    ]
    return ", ".join(said)


_PARTS = {
    "stages": "stages", "weights": "for weights", "attention": "for attention", "experts": "for experts",
    "positions": "for positions", "groups": "groups of requests", "replicas": "replicas",
}  # fmt: skip


def _divided(by: Sharding) -> str:
    """`divided: 2 stages, 8 for weights, 2 for attention`: parts that are whole are left out."""
    whole = {"attention"} if by.weights > 1 else set()
    told = (
        f"{getattr(by, name)} {word}"
        for name, word in _PARTS.items()
        if getattr(by, name) > 1 or name in whole
    )
    return f"divided: {', '.join(told)}"


def _threads(told: Workload) -> str:
    """Those of passes of one token, and of several where they are others."""
    one = counted(told.threads, "thread") if told.threads else "threads unknown"
    if not told.batch_threads or told.batch_threads == told.threads:
        return one
    several = f"{counted(told.batch_threads, 'thread')} for passes of several tokens"
    return f"{one}, {several}" if told.threads else several


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def unit_cost(cost: UnitCost) -> str:
    """Where the unit cost is from."""
    said = f"{cost.rate or 'a rate'} of {cost.ceiling}" if cost.ceiling else ""
    if cost.efficiency is not None:
        said += f"{' ' if said else ''}at an assumed efficiency of {100 * cost.efficiency:.4g} %"
    return (
        "; ".join(filter(None, [said, f"assumed ({cost.assumed})" if cost.assumed else ""])) or "nobody says"
    )


def groups(estimate: Estimate, bound: BoundTime) -> Iterator[str]:
    """One sentence a group: what overlaps counts by its longest, groups are added."""
    terms = {each.name: each for each in estimate.terms}
    unit = common_unit([*(each.time for each in estimate.terms), bound.time])
    for number, group in enumerate(bound.groups):
        times = [
            f"{name} {best_guess(terms[name].time, unit)}" if name in terms else f"{name} unknown"
            for name in group
        ]
        start = "then added: " if number else "first: " if len(bound.groups) > 1 else ""
        rule = "at the same time, the longest counts: " if len(group) > 1 else ""
        yield f"{start}{rule}{', '.join(times)}"


def bound_sentence(estimate: Estimate, bound: BoundTime) -> str:
    """The sum, and what it is of the metric."""
    said = f"{with_interval(bound.time)} a {PER[estimate.path]} at least"
    return said if bound.metric is None else f"{said}: {estimate.target.metric} {limit(estimate, bound)}"


def measured(estimate: Estimate) -> str:
    """The measured baseline with its context, or that it is missing."""
    baseline = estimate.baseline
    if baseline is None:
        return "missing: nothing was measured of exactly this workload, so nothing can be claimed of it"
    value, low, high = (
        digits(each, baseline.low, baseline.high) for each in (baseline.value, baseline.low, baseline.high)
    )
    legs = f"legs {low} to {high}" if low != high else "all legs alike, or a single one"
    said = f"{value} {baseline.unit}, {legs}, run {pinned(baseline.run)}, arm {baseline.arm}"
    efficiency = baseline.efficiency_percent
    known = f"efficiency {percent(efficiency)}" if efficiency else "not compared with a bound"
    return f"{said}; {known}"


def share_of(candidate: Candidate) -> str:
    """What the share is a share of, and whose; a share of a bound is no measured share."""
    by = {
        "profile": "the profiled time",
        "measured": "the measured time",
        "bound": "the bound, no profile tells",
    }
    whose = f"the share of {candidate.term}" if candidate.term else "the share that no term explains"
    return f"{whose} is of {by[candidate.share_of]}"


def minutes(candidate: Candidate) -> str:
    return "cost unknown" if candidate.minutes is None else f"{candidate.minutes:.3g} min"


def details(candidate: Candidate) -> Iterator[tuple[str, str]]:
    """What else is to be known before it is tried: (what, sentence)."""
    if candidate.factor or candidate.change:
        yield "sets", " ".join(filter(None, [candidate.factor, candidate.change]))
    yield "undo", candidate.rollback
    yield "stop if", candidate.stop_if
    yield from (("needs", each) for each in candidate.needs)
    if candidate.caching:
        runs = {"cold": candidate.cold, "warm": candidate.warm}
        yield (
            "caching",
            ", ".join(f"{name} {pinned(run) if run else 'not measured'}" for name, run in runs.items()),
        )
    yield "route", candidate.route


def route(name: str) -> str:
    """`tune-sweep: parent against parent with this one change; the answer is in run/v1 with its verdict`."""
    of = ROUTES[name]
    slowed = "; it slows the process, so its numbers are shares and no speeds" if of.instrumented else ""
    return f"{name}: {of.measure}; the answer is in {of.artifact}{slowed}"


def no_candidate(estimate: Estimate) -> str:
    """Why nothing is proposed."""
    if estimate.blocked_by:
        return "none while a correctness failure of the stack is open"
    if estimate.bound is None:
        return "none: nothing is looked at before something bounds it"
    return "none: no mechanism is known to pay here"


def no_experiment(estimate: Estimate) -> str:
    """Why an estimate names none."""
    return (
        "none but to find the cause of that failure"
        if estimate.blocked_by
        else "none until what is missing is there"
    )
