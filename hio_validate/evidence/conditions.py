"""The conditions of contract 7.2, each met or missed for a reason that has a name.

Invariant: nothing here is declared by the run that it is about where the rows, captures, pins or the ledger can show it,
and what nobody recorded is missed, never assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from hio_validate.evidence.as_planned import contradictions
from hio_validate.evidence.case import Case
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.outcome import Condition
from hio_validate.evidence.quality_gate import condition as task_set
from hio_validate.evidence.receipts import receipts
from hio_validate.evidence.trials import Trial, has_tokens
from hio_validate.evidence.work_done import Unequal, unshown
from hio_validate.ledger import PARENT
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.engine import Engine
from hio_validate.moment import moment
from hio_validate.quantity import change, declared, probability, share
from hio_validate.repo import name_of

LEAST_TRIALS = 3
"""Independent trials per arm (contract 7.2)."""


def of_context(case: Case) -> list[Condition]:
    """Whether the workload has a shape (contract 7.1): what was asked, with which cache, how long."""
    lengths = [name for name in ("evaluated", "generated") if name not in case.model.columns]
    known_by_plan = case.plan is not None and case.plan.bench is not None
    lacks = [
        *(["a fixture"] if case.fixture is None else []),
        *(["a cache regime"] if case.regime is None else []),
        *([f"its lengths (columns {' and '.join(lengths)})"] if lengths and not known_by_plan else []),
    ]
    if lacks:
        return [Condition("workload", "workload-unknown", f"the workload lacks {', '.join(lacks)}")]
    return [Condition("workload", "", f"{case.fixture}, {case.regime}")]


def of_record(case: Case, unequal: Sequence[Unequal]) -> list[Condition]:
    """Whether the record is one that a verdict can stand on, whatever the numbers say."""
    return [
        *(check(case) for check in _CHECKS),
        *(each for each in (task_set(case),) if each is not None),
        *receipts(case),
        _work(case, unequal),
    ]


def of_effect(case: Case, deciding: Sequence[Comparison], bounds: Sequence[Comparison]) -> list[Condition]:
    """Whether an effect was shown: beyond noise and tolerance, by the test, with the bounds kept."""
    measured = [each for each in deciding if each.measurable and each.same_work]
    return (
        [condition for each in measured for condition in _effect(each)] + [_bounds(case, bounds)]
        if measured
        else []
    )


def of_noise(deciding: Sequence[Comparison]) -> list[Condition]:
    """Whether the noise of this host is known, and whether so few trials could reach the level at all."""
    measured = [each for each in deciding if each.measurable]
    found = []
    for each in measured[:1]:
        why = each.floor.refused or ("" if each.noise else f"the A-A run did not measure {each.metric.name}")
        known = f"{share(each.noise.percent)} on {each.metric.name}" if each.noise else ""
        found.append(Condition("A-A noise", "noise-unknown" if why else "", why or known))
        p, alpha = each.test.smallest_p, each.case.alpha
        said = (
            f"with {_trials(each.test.n)} the smallest p is {probability(p)}, the level {probability(alpha)}"
        )
        found.append(Condition("reachable level", "level-unreachable" if p > alpha + 1e-12 else "", said))
    return found


def _trials(n: tuple[int, ...]) -> str:
    return f"{n[0]} rounds" if len(n) == 1 else f"{n[0]} and {n[1]} trials"


def _plan(case: Case) -> Condition:
    pin = case.model.plan
    if pin is None:
        return Condition(
            "prespecified plan", "no-plan", "it pins no plan, so nothing was decided before the first result"
        )
    if case.plan is None:
        said = f"the plan {name_of(pin)} is not in the repository with the pinned bytes"
        return Condition("prespecified plan", "no-plan", said)
    other = next((message for _, _, message in contradictions(case.model, case.plan)), None)
    if other is not None:
        return Condition("prespecified plan", "contradicts-plan", other)
    return Condition("prespecified plan", "", name_of(pin))


def _imported(case: Case) -> Condition:
    if case.model.imported:
        return Condition(
            "run by hio", "imported", "it was measured outside hio: nobody watched host and order"
        )
    return Condition("run by hio", "", "hio ran it")


def _stage(case: Case) -> Condition:
    stage = case.plan.stage if case.plan else case.model.stage
    if stage == "confirmation" and case.model.stage in (None, stage):
        return Condition("confirmation", "", "planned as one")
    if stage is None:
        return Condition("confirmation", "stage-unknown", "no plan says that it is the confirmation")
    if stage == "a-a":
        return Condition(
            "confirmation", "a-a-experiment", "an A-A experiment measures noise and decides nothing"
        )
    return Condition("confirmation", "screening", "a screening looks where to measure and decides nothing")


def _baseline(case: Case) -> Condition:
    arm, pin = case.arm(case.baseline), case.arm(case.baseline).stack
    name = "accepted baseline"
    if arm.set:
        return Condition(
            name, "baseline-not-accepted", f"the arm {case.baseline} is no stack as it stands: it sets more"
        )
    if case.model.at is None:
        return Condition(
            name, "baseline-not-accepted", "the run does not say when it began, so the parent then is unknown"
        )
    ledger = case.known.ledger(case.model.service).until(case.model.at)
    entry = ledger.parent_entry
    if entry is None:
        return Condition(name, "baseline-not-accepted", "the ledger had no parent when it began")
    accepted = {word.outcome for word in ledger.words(entry) if word.subject == PARENT}
    if pin.partition("@")[2] not in {word.partition("@")[2] for word in accepted}:
        shown = ", ".join(sorted(map(name_of, accepted)))
        said = f"the parent was {shown} then, by {entry.name}; the arm {case.baseline} is {name_of(pin)}"
        return Condition(name, "baseline-not-accepted", said)
    if entry.model.imported:
        return Condition(
            name, "baseline-not-accepted", f"{entry.name}, which names the parent, is history from before hio"
        )
    return Condition(name, "", f"{name_of(pin)}, by {entry.name}")


def _identity(case: Case) -> Condition:
    unseen = [what for arm in case.model.arms for what, capture in case.captures(arm) if capture is None]
    missing = [
        trial.number
        for trial in case.trials
        if trial.counted and (trial.leg is None or not trial.leg.capture)
    ]
    if unseen or missing or not case.model.legs:
        what = ", ".join(unseen[:3]) or "its legs, which the run does not tell"
        return Condition("identity per leg", "no-identity", f"no capture of {what}")
    return Condition("identity per leg", "", f"{sum(map(len, map(case.counted, case.model.arms)))} captures")


def _processes(case: Case) -> Iterator[tuple[str, Capture | None, CapturedProcess | None]]:
    for arm in case.model.arms:
        for what, capture in case.captures(arm):
            if capture is None:
                yield what, None, None
            else:
                yield from ((what, capture, process) for process in capture.processes.values())


def _source(case: Case) -> Condition:
    for what, _, process in _processes(case):
        if process is None:
            return Condition("source", "source-unknown", f"what ran in {what} was not captured")
        build = case.known.repo.find("engine/v1", process.build) if process.build else None
        engine: Engine | None = build.model if build is not None else None
        if engine is None:
            return Condition("source", "source-unknown", f"no engine document has the executable of {what}")
        if engine.source is None or engine.source.revision is None:
            return Condition(
                "source", "source-unknown", f"the engine document {engine.name} names no source revision"
            )
    return Condition("source", "", "each leg's executable has an engine document with its revision")


def _delivery(case: Case) -> Condition:
    for what, _, process in _processes(case):
        if process is None:
            return Condition("delivery", "delivery-unknown", f"what ran in {what} was not captured")
        unhashed = [name for name, each in process.libraries.items() if each.sha256 is None]
        if process.executable.sha256 is None or unhashed:
            missing = unhashed[0] if unhashed else "executable"
            return Condition("delivery", "delivery-unknown", f"the hash of {missing} in {what} is unknown")
    return Condition("delivery", "", "executable and libraries of each leg by hash")


def _enough(case: Case) -> Condition:
    counts = {arm: len(case.counted(arm)) for arm in case.model.arms}
    said = ", ".join(f"{count} of {arm}" for arm, count in counts.items())
    few = min(counts.values()) < LEAST_TRIALS
    return Condition("three trials per arm", "too-few-trials" if few else "", f"{said} count")


def _restarts(case: Case) -> Condition:
    name = "restarts"
    if case.plan is not None and case.plan.restart == "never":
        return Condition(name, "not-restarted", "the plan never restarts the server: its legs are one trial")
    seen: dict[tuple[object, ...], str] = {}
    for arm in case.model.arms:
        for what, capture in case.captures(arm):
            if capture is None or not case.model.legs:
                return Condition(name, "not-restarted", f"nobody saw that {what} had a process of its own")
            for process in capture.processes.values():
                start = process.started.ticks if process.started.ticks is not None else process.started.at
                key = (process.pid, start)
                if start is None or key in seen:
                    other = f" and {seen[key]}" if key in seen else ""
                    return Condition(
                        name, "not-restarted", f"{what}{other} cannot be told apart by pid and start"
                    )
                seen[key] = what
    return Condition(name, "", "every leg has a process of its own")


def _host(case: Case) -> Condition:
    hosts = {
        capture.host.id if capture else None for arm in case.model.arms for _, capture in case.captures(arm)
    }
    if None in hosts or not hosts:
        return Condition("one host", "host-unknown", "a leg's host was not captured")
    if len(hosts) > 1:
        return Condition("one host", "host-differs", f"its legs ran on {len(hosts)} hosts")
    return Condition("one host", "", str(next(iter(hosts)))[:12])


def _order(case: Case) -> Condition:
    name, legs = "counterbalanced order", case.model.legs
    if not legs:
        return Condition(name, "order-unproven", "the run does not say when its legs ran")
    for leg in legs:
        if moment(leg.ended) < moment(leg.started):
            return Condition(name, "order-unproven", f"leg {leg.leg} ended before it began")
    for one, two in pairwise(legs):
        if moment(two.started) < moment(one.ended) or two.leg <= one.leg:
            return Condition(name, "order-unproven", f"leg {two.leg} began before leg {one.leg} had ended")
    if case.plan is not None:
        for leg in legs:
            if leg.place > len(case.plan.order) or case.plan.order[leg.place - 1] != leg.arm:
                return Condition(
                    name,
                    "order-unproven",
                    f"leg {leg.leg} is not the arm that the plan has at place {leg.place}",
                )
    places = {arm: [trial.leg.place for trial in case.counted(arm) if trial.leg] for arm in case.model.arms}
    centres = [sum(each) / len(each) for each in places.values() if each]
    if len(centres) < len(places) or max(centres) - min(centres) >= 1:
        said = "one arm ran earlier than the other on the whole, so that a drift would look like an effect"
        return Condition(name, "order-not-counterbalanced", said)
    return Condition(name, "", " ".join(leg.arm for leg in legs))


def _regime(case: Case) -> Condition:
    name = "cache regime"
    if case.regime is None:
        return Condition(name, "regime-unlabelled", "nobody said whether the cache was cold or warm")
    if case.plan is not None and case.plan.method == "llama-bench":
        return Condition(name, "", "llama-bench keeps no prompt")
    if "cached" not in case.model.columns:
        return Condition(
            name, "regime-unproven", f"{case.regime} is said; no column of cached tokens shows it"
        )
    silent = [
        trial.number for arm in case.model.arms for trial in case.counted(arm) if not _says_cached(trial)
    ]
    if silent:
        return Condition(
            name,
            "regime-unproven",
            f"{case.regime} is said; the server of leg {silent[0]} did not say how many prompt tokens a cache gave",
        )
    if case.plan is not None and case.plan.cache == "warm":
        cold = [trial.number for arm in case.model.arms for trial in case.counted(arm) if not _is_warm(trial)]
        if cold:
            return Condition(
                name, "regime-unproven", f"warm is planned, and nothing was cached in leg {cold[0]}"
            )
    return Condition(name, "", case.regime)


def _says_cached(trial: Trial) -> bool:
    return all(row.cells["cached"] for row in trial.rows)


def _is_warm(trial: Trial) -> bool:
    return all(has_tokens(row.cells["cached"]) for row in trial.rows)


def _quality(case: Case) -> Condition:
    name = "quality gate"
    by_tasks = case.plan is not None and case.plan.quality is not None and not case.plan.checks
    if "expected" not in case.model.columns and not by_tasks:
        return Condition(name, "no-quality-gate", "no answer was compared with an expected result")
    judged = {arm: _judged(case, arm) for arm in case.model.arms if "expected" in case.model.columns}
    failed = {arm: sum(leg.count("fail") for leg in legs) for arm, legs in judged.items()}
    if any(failed.values()):
        told = ", ".join(f"{count} of {arm}" for arm, count in failed.items() if count)
        return Condition(name, "quality-gate-failed", f"answers that are not what was expected: {told}")
    unjudged = [arm for arm, legs in judged.items() if not legs or not all(legs)]
    if by_tasks and (unjudged or not judged):
        return Condition(name, "", "no check was planned; the task set is judged by itself")
    if unjudged:
        said = f"a leg of {' and of '.join(unjudged)} has no answer with an expected result"
        return Condition(name, "no-quality-gate", said)
    return Condition(
        name, "", ", ".join(f"{sum(map(len, legs))} passed in {arm}" for arm, legs in judged.items())
    )


def _judged(case: Case, arm: str) -> list[list[str]]:
    """What became of every answer with an expected result, leg by leg."""
    cells = [[row.cells["expected"] for row in (*trial.checks, *trial.rows)] for trial in case.counted(arm)]
    return [[each for each in leg if each in ("pass", "fail")] for leg in cells]


def _work(case: Case, unequal: Sequence[Unequal]) -> Condition:
    if unequal:
        more = f", and {len(unequal) - 1} more" if len(unequal) > 1 else ""
        return Condition("same work", "work-differs", f"{unequal[0].sentence}{more}")
    missing = unshown(case.model) if case.plan is None or case.plan.method == "http" else []
    if missing:
        return Condition("same work", "work-unproven", f"no column shows {', '.join(missing)}")
    idle = [arm for arm in case.model.arms if not case.counted(arm)]
    if idle:
        return Condition("same work", "work-unproven", f"{' and '.join(idle)} did no work that counts")
    return Condition("same work", "", "prompts, tokens and answers, request by request")


def _instruments(case: Case) -> Condition:
    legs = [trial.number for trial in case.trials if trial.counted and trial.leg and trial.leg.instrumented]
    if legs:
        return Condition("no instrumentation", "instrumented", f"a profiler ran beside leg {legs[0]}")
    if not case.model.legs:
        return Condition("no instrumentation", "instruments-unknown", "the run does not tell of its legs")
    return Condition("no instrumentation", "", "no profiler ran beside a leg")


_CHECKS: tuple[Callable[[Case], Condition], ...] = (
    _plan, _imported, _stage, _baseline, _source, _delivery, _identity, _enough, _restarts, _host, _order, _regime,
    _quality, _instruments,
)  # fmt: skip


def _effect(each: Comparison) -> Iterator[Condition]:
    name = f"{each.metric.name} of {each.candidate}"
    if each.noise is not None:
        said = f"{name}: {change(each.change)}, the A-A noise is {share(each.noise.percent)}"
        yield Condition("beyond noise", "" if each.beyond_noise else "effect-within-noise", said)
    said = f"{name}: a gain of {share(each.gain)}, at least {declared(each.tolerance)} was asked for"
    yield Condition(
        "beyond tolerance", "" if each.gain >= each.tolerance and each.gain > 0 else "below-tolerance", said
    )
    said = f"{name}: p {probability(each.test.p)}, the level is {probability(each.case.alpha)}"
    yield Condition("p at most alpha", "" if each.significant else "not-significant", said)


def _bounds(case: Case, bounds: Sequence[Comparison]) -> Condition:
    asked: dict[str, float] = (
        {bound.metric: bound.worse_by_percent for bound in case.decide.bounds} if case.decide else {}
    )
    measured = {each.metric.name for each in bounds if each.measurable}
    for metric in asked:
        unknown = [str(trial.number) for trial in case.trials if trial.counted and not _knows(trial, metric)]
        if metric not in measured or unknown:
            where = f" in leg {', '.join(unknown)}" if metric in measured else ""
            return Condition("bounds kept", "bound-unmeasured", f"{metric} was not measured{where}")
    for each in bounds:
        if -each.gain > asked[each.metric.name]:
            said = f"{each.metric.name} got worse by {share(-each.gain)}, {declared(asked[each.metric.name])} is allowed"
            return Condition("bounds kept", "bound-broken", said)
    return Condition("bounds kept", "", ", ".join(asked) or "none was asked for")


def _knows(trial: Trial, metric: str) -> bool:
    return all(metric in row.cells for row in trial.rows) and trial.value(metric) is not None
