"""A verdict on one page: the answer first, then what was measured, then why it may or may not be relied on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.quality import Side, told_share
from hio_validate.evidence.quality_gate import answered
from hio_validate.evidence.statistics import Detectable, order_check, outliers
from hio_validate.evidence.tiers import Verdict
from hio_validate.quantity import change, from_to, measured, probability, share
from hio_validate.report.table import table
from hio_validate.report.visible import visible

Rows = list[tuple[str, str]]

MEANS = {
    Result.IMPROVEMENT: "{arm} is better",
    Result.HARM: "{arm} is worse: keep {base}",
    Result.NO_IMPROVEMENT: "no improvement of {arm} was shown: keep {base}",
    Result.WITHIN_NOISE: "the difference is within the noise of this host: keep {base}",
    Result.NOT_COMPARABLE: "the arms did not do the same work: speeds are not compared",
    Result.NOT_MEASURABLE: "not measurable: an arm has no trial that counts",
}
_TIERS = {
    Tier.VERDICT: "every condition of the record is met",
    Tier.DRAFT: "the record does not carry a verdict; what it misses stands below",
    Tier.NEEDS_CONTEXT: "nobody knows for which workload this holds",
}


def render(judged: Verdict, width: int = 80) -> str:
    """The page as text."""
    parts = [_head(judged, width), *(_compared(judged, each, width) for each in judged.deciding)]
    parts += [
        _unequal(judged, width),
        _others(judged, width),
        _quality(judged, width),
        _trials(judged, width),
        *_conditions(judged, width),
    ]
    return "\n".join(part for part in [*parts, _next(judged, width)] if part)


def _head(judged: Verdict, width: int) -> str:
    case = judged.case
    rows = [("tier", f"{judged.tier}: {_TIERS[judged.tier]}")]
    for each in judged.deciding:
        arms = {"arm": each.candidate, "base": each.baseline}
        rows.append(("result", f"{judged.result_of(each)}: {MEANS[judged.result_of(each)].format(**arms)}"))
    if not judged.deciding:
        rows.append(("result", f"{judged.result}: there is nothing to compare"))
    rows += [("question", question)] if (question := _question(judged)) else []
    scope = f"{case.fixture or 'an unknown fixture'}, {case.regime or 'an unknown regime'}"
    if judged.result not in (Result.NOT_COMPARABLE, Result.NOT_MEASURABLE):
        count = len(case.model.arms)
        rows.append(("best", f"{judged.best}, of the {count} configurations measured in this scope: {scope}"))
    else:
        rows.append(("scope", scope))
    return f"{visible(judged.run.full_name)}: {judged.result}, {judged.tier}\n{table(rows, width)}"


def _question(judged: Verdict) -> str:
    return (judged.case.plan.question if judged.case.plan else None) or judged.case.model.question or ""


def _compared(judged: Verdict, each: Comparison, width: int) -> str:
    unit = each.metric.unit
    head = f"{each.metric.name} in {unit}, {each.metric.better} is better: {each.candidate} against {each.baseline}"
    rows: Rows = []
    for arm, values in zip((each.baseline, each.candidate), each.values, strict=True):
        rows.append((arm, "  ".join(map(measured, values)) or "no trial that counts"))
    if each.measurable:
        rows += [("median", from_to(*each.medians, unit)), ("mean", from_to(*each.means, unit))]
        if each.same_work:
            rows += _statistics(each)
        rows += _shown_beside(judged, each)
    return f"{visible(head)}\n{table(rows, width)}"


def _statistics(each: Comparison) -> Rows:
    test, interval = each.test, each.interval
    rows = [("change", f"{change(each.change)} of the medians")]
    shown = change(interval.percent)
    if interval.low is not None and interval.high is not None and interval.confidence is not None:
        shown += f", {change(interval.low)} to {change(interval.high)} with {100 * interval.confidence:.3g} % confidence"
        asked = 100 * (1 - each.case.alpha)
        if 100 * interval.confidence < asked - 1e-6:
            shown += f" (so few trials cannot reach {asked:g} %)"
    else:
        shown += "; so few trials have no interval"
    rows.append(("estimate", f"{shown}; {interval.method}"))
    error = f", standard error {test.error:.2g}" if test.error else ""
    n = f"{test.n[0]} rounds" if len(test.n) == 1 else f"{test.n[0]} and {test.n[1]} trials"
    rows.append(
        ("p", f"{probability(test.p)}{error}; {probability(test.smallest_p)} at best with {n}; {test.method}")
    )
    rows.append(("noise", _noise(each)))
    rows.append(("detectable", _detectables(each)))
    return rows


def _noise(each: Comparison) -> str:
    if each.noise is None:
        return f"unknown: {each.floor.refused or 'the A-A run did not measure this'}"
    n = each.noise
    return f"{share(n.percent)}: {n.method}; {n.n} A-A trials, groups of {n.sizes[0]} and {n.sizes[1]}"


def _detectables(each: Comparison) -> str:
    before = each.detectable_before
    said = [f"before: {_effect(before)}" if before else "before: unknown without A-A noise"]
    after = each.detectable_after
    said.append(f"after, by the scatter of these trials: {_effect(after)}")
    return f"{'; '.join(said)}; power {after.power:g} at level {probability(after.alpha)}, {after.n} per arm"


def _effect(found: Detectable) -> str:
    return share(found.percent) if found.percent is not None else "no effect, however large"


def _placed(each: Comparison) -> list[tuple[str, int, float]]:
    case, name = each.case, each.metric.name
    arms = (each.baseline, each.candidate)
    placed = [(t.arm, t.number, t.value(name)) for t in case.trials if t.counted and t.arm in arms]
    return [(arm, leg, value) for arm, leg, value in placed if value is not None]


def _shown_beside(judged: Verdict, each: Comparison) -> Iterator[tuple[str, str]]:
    found = order_check(_placed(each))
    if found.correlation is None or found.p is None:
        said = found.method
    else:
        said = f"correlation of value and leg {found.correlation:+.2f}, p {probability(found.p)} ({found.method})"
    if found.first_percent is not None:
        said += f"; the first leg is {change(found.first_percent)} from its arm's others"
    yield "order", said
    for far in outliers(_placed(each)):
        yield (
            "outlier",
            f"leg {far.number} of {far.arm}, {measured(far.value, each.metric.unit)} (modified z {far.score:+.1f}): counted",
        )


def _unequal(judged: Verdict, width: int) -> str:
    if not judged.unequal:
        return ""
    rows = [("-", each.sentence) for each in judged.unequal[:5]]
    more = len(judged.unequal) - len(rows)
    rows += [("-", f"and {more} more")] if more else []
    return f"different work\n{table(rows, width)}"


def _others(judged: Verdict, width: int) -> str:
    """The other metrics: absolute values beside every ratio; each is judged by itself (contract 6.4)."""
    rows = []
    for each in judged.comparisons:
        if each.metric == judged.metric:
            continue
        if not each.measurable:
            rows.append((each.metric.name, f"{each.candidate}: {each.result}"))
            continue
        said = f"{each.baseline} {measured(each.medians[0])}, {each.candidate} {measured(each.medians[1], each.metric.unit)}"
        if each.same_work:
            said += f": {change(each.change)}, p {probability(each.test.p)}, {each.result}"
        rows.append((each.metric.name, said))
    return f"beside it, each judged by itself\n{table(rows, width)}" if rows else ""


def _quality(judged: Verdict, width: int) -> str:
    """What each arm answered to the task set, with the interval of its share, and the difference."""
    found = answered(judged.case)
    if found is None:
        return ""
    rows = [
        (
            arm,
            f"{told_share(side)}, {side.interval.low:.3f} to {side.interval.high:.3f} (95 %, {side.interval.method})",
        )
        for arm, side in found.sides.items()
    ]
    for kind, sides in found.kinds.items():
        rows.append((f"  {kind}", ", ".join(f"{told_share(side)} in {arm}" for arm, side in sides.items())))
    for each in found.outcomes.values():
        method = f" ({each.difference.method})" if each.difference else ""
        rows.append(("met" if not each.reason else each.reason, f"{each.sentence}{method}"))
    return f"task set {visible(found.tasks)}\n{table(rows, width)}"


def _trials(judged: Verdict, width: int) -> str:
    rows = [
        (f"leg {trial.number}", f"{trial.arm}: {reason}")
        for trial in judged.trials
        for reason in trial.invalid
    ]
    return f"kept and not counted\n{table(rows, width)}" if rows else ""


def _conditions(judged: Verdict, width: int) -> Iterator[str]:
    missed = [(each.reason, each.sentence) for each in judged.conditions if not each.met]
    met = [(each.name, each.sentence) for each in judged.conditions if each.met]
    if missed:
        yield f"missed, {len(missed)}\n{table(missed, width)}"
    if met:
        yield f"met, {len(met)}\n{table(met, width)}"


def _next(judged: Verdict, width: int) -> str:
    said, command = next_step(judged)
    return f"next\n{table([('-', said)], width)}" + (f"  {visible(command)}\n" if command else "")


def next_step(judged: Verdict) -> tuple[str, str]:
    """What to do now, and the command that does it; "" where a document has to be written first."""
    model, metric = judged.case.model, judged.metric
    about = f"--service {model.service} --from-run {judged.run.name}"
    about += f" --metric {metric.name}" if metric is not None and len(judged.case.metrics) > 1 else ""
    if model.outcome in ("aborted", "failed", "stopped") or judged.result is Result.NOT_MEASURABLE:
        return (
            "keep it on record as what it is",
            f"hio ledger append failed-run {about.partition(' --metric')[0]}",
        )
    if any(each.reason == "a-a-experiment" for each in judged.record):
        return f"name it as the noise of the next plan: decide: {{noise: {judged.run.name}}}", ""
    if judged.result is Result.NOT_COMPARABLE:
        return (
            "make the arms do the same work (fixture, seed, sampling), or widen same_work in a new plan",
            "",
        )
    if judged.tier is not Tier.VERDICT:
        said = "plan what is missed and measure again; to keep it as research until then"
        return said, f"hio ledger append decision --decision keep-research --edit {about}"
    if judged.result is Result.IMPROVEMENT:
        return (
            "accept it; --stack names the stack that results",
            f"hio ledger append increment {about} --stack STACK",
        )
    said = f"keep {judged.case.baseline}; nobody has to try it again here"
    return said, f"hio ledger append negative-control {about}"


def as_shape(judged: Verdict) -> dict[str, Any]:
    """The verdict as versioned data."""
    said, command = next_step(judged)
    case = judged.case
    return {
        "version": 1,
        "run": judged.run.name,
        "service": case.model.service,
        "tier": str(judged.tier),
        "result": str(judged.result),
        "metric": judged.metric.name if judged.metric else None,
        "best": judged.best,
        "configurations": len(case.model.arms),
        "scope": {"fixture": case.fixture, "regime": case.regime},
        "comparisons": [comparison_shape(judged, each) for each in judged.comparisons],
        "trials": [
            {"leg": each.number, "arm": each.arm, "counted": each.counted, "invalid": list(each.invalid)}
            for each in judged.trials
        ],
        "quality": quality_shape(judged),
        "different_work": [{**each._asdict(), "sentence": each.sentence} for each in judged.unequal],
        "conditions": [{**each._asdict(), "met": each.met} for each in judged.conditions],
        "next": {"say": said, "command": command},
    }


def quality_shape(judged: Verdict) -> dict[str, Any] | None:
    """What the arms answered; null where no task set was planned or nothing can be computed."""
    found = answered(judged.case)
    if found is None:
        return None
    return {
        "tasks": found.tasks,
        "arms": {arm: _side(side) for arm, side in found.sides.items()},
        "kinds": {
            kind: {arm: _side(side) for arm, side in sides.items()} for kind, sides in found.kinds.items()
        },
        "candidates": {
            arm: {
                "reason": each.reason,
                "sentence": each.sentence,
                "difference": each.difference._asdict() if each.difference else None,
            }
            for arm, each in found.outcomes.items()
        },
    }


def _side(side: Side) -> dict[str, Any]:
    return {"right": side.right, "items": side.n, "share": side.share, "interval": side.interval._asdict()}


def comparison_shape(judged: Verdict, each: Comparison) -> dict[str, Any]:
    """One metric of one candidate; what cannot be computed, or is not compared, is null."""
    compared = each.measurable and each.same_work
    before = each.detectable_before if compared else None
    placed = _placed(each) if each.measurable else []
    return {
        "metric": each.metric.name,
        "unit": each.metric.unit,
        "better": each.metric.better,
        "from": each.baseline,
        "to": each.candidate,
        "result": str(judged.result_of(each)),
        "values": {each.baseline: each.values[0], each.candidate: each.values[1]},
        "medians": list(each.medians) if each.measurable else None,
        "means": list(each.means) if each.measurable else None,
        "change_percent": each.change if compared else None,
        "test": each.test._asdict() if compared else None,
        "estimate": each.interval._asdict() if compared else None,
        "noise": each.noise._asdict() if compared and each.noise else None,
        "detectable": {
            "before": before._asdict() if before else None,
            "after": each.detectable_after._asdict() if compared else None,
        },
        "order": order_check(placed)._asdict() if each.measurable else None,
        "outliers": [far._asdict() for far in outliers(placed)],
    }
