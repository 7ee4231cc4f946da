"""A plan on one page: what is wrong with it, what it compares, what it can show, how long it lasts, what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hio_validate.diagnostic import Report
from hio_validate.evidence.quality_gate import level_of
from hio_validate.execute.approvals import ASK
from hio_validate.prospect import DEFAULT, PLAN, Approval, Observed, Prospect
from hio_validate.quantity import counted, declared, probability, share, span
from hio_validate.report import text
from hio_validate.report.json_ import summary_and_findings
from hio_validate.report.table import table
from hio_validate.report.visible import visible
from hio_validate.settings.difference import Compared
from hio_validate.settings.value import text_of

_STAGES = {
    "screening": "a screening",
    "confirmation": "a confirmation",
    "a-a": "an A-A experiment",
}


def as_shape(found: Prospect, report: Report, exit_code: int, held: Sequence[str] = ()) -> dict[str, Any]:
    """The page as versioned data; `held`: what listens on this host now against what the plan says."""
    plan, level = found.plan, found.level
    return {
        "version": 1,
        "plan": found.item.name,
        "service": found.item.service,
        "file": found.item.file,
        "digest": found.item.document.digest,
        "stage": plan.stage,
        "question": plan.question,
        "runs": list(found.runs),
        "arms": [_arm(found, name) for name in plan.arms],
        "observed": [
            {
                "stack": each.stack,
                "capture": each.capture,
                "at": each.at,
                "differs": [
                    {"setting": one.address, "declared": one.from_, "observed": one.to}
                    for one in each.differs
                ],
            }
            for each in found.observed
        ],
        "order": list(plan.order),
        "rounds": found.rounds,
        "measured_requests": found.requests,
        "decides": {
            "metric": plan.decide.metric,
            "better": plan.decide.better,
            "at_least_percent": plan.decide.at_least_percent,
            "test": level.test,
            "alpha": level.alpha,
            "smallest_p": level.smallest_p,
            "reachable": level.reachable,
            "legs_needed": level.legs_needed,
            "noise": plan.decide.noise,
            "power": plan.decide.power,
            "detectable_percent": level.detectable_percent,
            "detectable_how": level.detectable_how,
        },
        "quality": None
        if plan.quality is None
        else {
            "tasks": plan.quality.tasks,
            "items": found.items,
            "floor": plan.quality.floor,
            "margin": plan.quality.margin,
            "alpha": plan.quality.alpha,
            "legs": plan.quality.legs,
            "least_margin": found.least_margin,
        },
        "longest_s": found.longest_s,
        "port": found.port,
        "held": list(held),
        "limits": [{"limit": each.name, "value": each.value, "from": each.origin} for each in found.limits],
        "stops": found.stops,
        "restores": plan.serving.restore,
        "then": plan.serving.then,
        "approvals": [
            {
                "approves": each.approves,
                "entry": each.entry,
                "until": each.until,
                "missing": each.missing or None,
            }
            for each in found.approvals
        ],
        **summary_and_findings(report),
        "exit_code": exit_code,
    }


def _arm(found: Prospect, name: str) -> dict[str, Any]:
    arm = found.plan.arms[name]
    contrast = next((each for each in found.contrasts if each.arm == name), None)
    return {
        "arm": name,
        "stack": arm.stack,
        "set": dict(arm.set),
        "legs": found.legs[name],
        "differs": None
        if contrast is None
        else [{"setting": each.address, "from": each.from_, "to": each.to} for each in contrast.factors],
    }


def render(
    found: Prospect, report: Report, *, held: Sequence[str] = (), color: bool = False, width: int = 80
) -> str:
    """The page as text; what the rules found stands at its end, with the outcome in the last line."""
    plan = found.plan
    parts = [
        f"{visible(found.item.name)}: {_STAGES[plan.stage]} of {visible(found.item.service or '')}\n{visible(plan.question)}\n",
        table(list(_compares(found)), width),
        "what it can show\n" + table([("  " + key, said) for key, said in _shows(found)], width),
        "what it does to the host\n" + table([("  " + key, said) for key, said in _does(found, held)], width),
        "approvals\n" + _approvals(found, width),
    ]
    return "\n".join([*parts, text.render(report, color=color, width=width)])


def _compares(found: Prospect) -> Iterator[tuple[str, str]]:
    plan = found.plan
    for name, arm in plan.arms.items():
        delta = ", ".join(f"{key} = {text_of(value)}" for key, value in arm.set.items())
        what = f"stack {arm.stack}" + (f" with {delta}" if delta else "")
        if name == plan.baseline:
            what += ", the baseline"
        yield f"arm {name}", f"{counted(found.legs[name], 'leg')}: {what}"
    for each in found.contrasts:
        differing = ", ".join(map(_change, each.factors)) or "nothing"
        yield "differs", f"{each.arm} from {plan.baseline} in {differing}"
    yield "values", "as declared: stacks, deltas and the defaults of the builds that they name"
    for seen in found.observed:
        yield "observed", _seen(seen)
    yield "order", " ".join(plan.order)
    if found.runs:
        yield "was run", f"{', '.join(found.runs)}: the plan is frozen"


def _seen(seen: Observed) -> str:
    """How the newest capture of a stack agrees with what the documents say of it."""
    if seen.capture is None:
        return f"{seen.stack}: never, no capture is of this stack"
    told = [f"{each.address} {each.to} where {each.from_} is declared" for each in seen.differs[:_MOST_SEEN]]
    more = f", and {len(seen.differs) - _MOST_SEEN} more" if len(seen.differs) > _MOST_SEEN else ""
    how = f"shows {', '.join(told)}{more}" if told else "shows the same"
    return f"{seen.stack}: its newest capture, {seen.capture} of {seen.at}, {how}"


_MOST_SEEN = 4
"""Differences that are told on the page; the JSON has all."""


def _change(each: Compared) -> str:
    return f"{each.address} ({each.from_} -> {each.to})"


def _shows(found: Prospect) -> Iterator[tuple[str, str]]:
    decide, level = found.plan.decide, found.level
    yield (
        "decides",
        f"{decide.metric}, {decide.better} is better, by at least {declared(decide.at_least_percent)}",
    )
    if level.smallest_p is None:
        yield "smallest p", "none: an arm has no leg"
    else:
        reach = (
            "can be reached"
            if level.reachable
            else f"cannot be reached; it takes {level.legs_needed} legs an arm"
        )
        yield (
            "smallest p",
            f"{probability(level.smallest_p)} two-sided ({level.test}); level {probability(level.alpha)} {reach}",
        )
    if found.plan.stage == "screening":
        yield "stage", "a screening only looks: whatever comes out, it decides nothing"
    yield "noise", decide.noise or "unknown: no A-A experiment is named"
    if level.detectable_percent is None:
        yield "detects", f"unknown: {level.detectable_how}"
    else:
        chance = f"in {100 * decide.power:g} of 100 such trials"
        yield "detects", f"{share(level.detectable_percent)} or more, {chance} ({level.detectable_how})"
    if found.plan.quality is not None:
        yield "task set", _task_set(found)
    if found.requests is not None:
        yield (
            "requests",
            f"{found.requests} measured, {found.requests // len(found.plan.order)} a leg; a leg is one trial",
        )


def _task_set(found: Prospect) -> str:
    asked = found.plan.quality
    assert asked is not None
    where = "every leg" if asked.legs == "every" else "the first leg of each arm"
    items = f"{found.items} items of {asked.tasks}" if found.items else f"{asked.tasks}, which cannot be read"
    said = f"{items} in {where}; at least {asked.floor:g} right on every arm, at most {asked.margin:g} less than {found.plan.baseline}"
    if found.items and found.plan.limits.leg_s < found.items:
        each = 1000 * found.plan.limits.leg_s / found.items
        said += f"; a leg of at most {span(found.plan.limits.leg_s)} leaves {each:.3g} ms for an item, start and requests included"
    if found.least_margin is None:
        return said
    best = f"{found.least_margin:.3f} with {100 * (1 - level_of(found.plan)):g} % confidence"
    return f"{said}; so many items show a margin of {best} at best"


def _does(found: Prospect, held: Sequence[str]) -> Iterator[tuple[str, str]]:
    plan = found.plan
    yield (
        "lasts",
        f"at most {span(found.longest_s)}, {len(plan.order)} legs of at most {span(plan.limits.leg_s)}; restoration on top",
    )
    yield "port", str(found.port) if found.port else "unknown: neither the plan nor the site says one"
    for each in held:
        yield "but", each
    if found.stops:
        yield "stops", f"{found.stops}, and starts {plan.serving.restore or 'nothing'} again"
    else:
        yield "stops", "nothing" + (": the service keeps serving" if plan.serving.during == "leave" else "")
    yield (
        "ends with",
        "the parent as before" if plan.serving.then == "restore-parent" else "the winner in its place",
    )
    for label, origin, why in (("limits", PLAN, "the plan"), ("defaults", DEFAULT, "the plan says nothing")):
        told = ", ".join(f"{each.name} {each.shown}" for each in found.limits if each.origin == origin)
        if told:
            yield label, f"{told} ({why})"
    yield "aborts", f"{plan.abort_owner}, or a limit"


def _approvals(found: Prospect, width: int) -> str:
    """Each kind with the entry that gives it, or with what its owner types to give it."""
    rows = [
        (
            f"  {each.approves}",
            f"{each.entry}, until {each.until}" if each.entry else f"missing: {_why(each)}",
        )
        for each in found.approvals
    ]
    commands = [visible(each.missing.partition(ASK)[2]) for each in found.approvals if each.missing]
    asked = "".join(f"  {command}\n" for command in commands)
    return table(rows, width) + (f"\nwhoever owns the host approves with\n{asked}" if commands else "")


def _why(each: Approval) -> str:
    return each.missing.partition(ASK)[0]
