"""The first lines of a report: what was found, how far it holds, what to do."""

from __future__ import annotations

from typing import Any

from hio_validate.quantity import change, measured, probability, share
from hio_validate.report.prose import bullets, paragraph, text

Shape = dict[str, Any]

_TIERS = {
    "VERDICT": "every condition of the record is met",
    "DRAFT": "it is no verdict, and decides nothing",
    "NEEDS_CONTEXT": "nobody knows for which workload it holds",
}


def title(shape: Shape) -> str:
    subject = shape["subject"]
    return f"# {text(subject['service'] + '/' + subject['name'])}: {shape['result']}, {shape['tier']}"


def of_a_run(shape: Shape) -> list[str]:
    """What was found, how far it holds, what to do: whoever stops reading here has been told."""
    first = " ".join([f"**{text(_finding(shape))}**", text(_scope(shape))])
    return [paragraph(first), paragraph(text(_held(shape))), paragraph(text(_now(shape)))]


def of_a_campaign(shape: Shape) -> list[str]:
    """The same of a campaign: the champion, or what is kept and why; each regime; where it holds."""
    first, *others = (
        each.replace(" = ", " ") for each in shape["answer"]
    )  # a line of `=` would be a heading
    parts = [paragraph(f"**{text(first)}.**"), bullets(map(text, others))]
    decided = shape["decisions"][-1] if shape["decisions"] else None
    now = f"Decided last: {decided['kind']} {decided['entry']} by {decided['by']}." if decided else ""
    return [*parts, paragraph(text(_held(shape))), *([paragraph(text(now))] if now else [])]


def _held(shape: Shape) -> str:
    reasons = len(shape["gaps"])
    held = f"{shape['tier']}: {_TIERS[shape['tier']]}"
    if not shape["strict"]:
        held += "; written with --no-strict"
    if reasons:
        held += f", {reasons} gap{'s' if reasons > 1 else ''} below"
    return f"{held}."


def _finding(shape: Shape) -> str:
    said = [f"{each['means']}{_numbers(shape, each['arm'])}" for each in shape["alternatives"]]
    return "; ".join(said or ["there is nothing to compare"]) + "."


def _numbers(shape: Shape, arm: str) -> str:
    each = next(
        each for each in shape["comparisons"] if (each["to"], each["metric"]) == (arm, shape["metric"])
    )
    if each["change_percent"] is None:
        return ""
    one, two = each["medians"]
    noise = share(each["noise"]["percent"]) if each["noise"] else "unknown"
    return (
        f" ({each['metric']} {measured(one)} -> {measured(two, each['unit'])}, {change(each['change_percent'])}, "
        f"n {' and '.join(str(len(values)) for values in each['values'].values())}, "
        f"p {probability(each['test']['p'])}, noise {noise})"
    )


def _scope(shape: Shape) -> str:
    chosen = shape["chosen"]
    scope = f"{chosen['scope']['fixture'] or 'an unknown fixture'}, {chosen['scope']['regime'] or 'an unknown regime'}"
    if chosen["arm"] is None:
        return f"Scope {scope}."
    return f"{chosen['arm']} is the best of the {chosen['configurations']} configurations measured in scope {scope}."


def _now(shape: Shape) -> str:
    last = shape["decisions"][-1] if shape["decisions"] else None
    if last is not None:
        left = shape["gates_left"]
        then = f" {len(left)} gate{'s' if len(left) > 1 else ''} left before the next level." if left else ""
        return f"Decided: {last['kind']} {last['entry']} by {last['by']}.{then}"
    return f"To do: {shape['next']['say']}."
