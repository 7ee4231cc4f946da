"""A report as Markdown: the answer in the first lines, then what it rests on, in the order in which a reader asks.

Invariant: it says what the shape says and nothing else; no word of optimality stands in it (contract 7.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hio_validate.quantity import change, measured, probability, share
from hio_validate.repo import name_of
from hio_validate.report.prose import bullets, command, grid, paragraph, text
from hio_validate.report.published.run import set_of
from hio_validate.size import shown

Shape = dict[str, Any]
Section = tuple[str, Callable[[Shape], list[str]]]

HEAD = ("subject", "strict", "tier", "result", "gaps")
"""Keys of every reported subject; the sections look for the others."""

_TIERS = {
    "VERDICT": "every condition of the record is met",
    "DRAFT": "it is no verdict, and decides nothing",
    "NEEDS_CONTEXT": "nobody knows for which workload it holds",
}


def render(shape: Shape) -> str:
    """The whole page."""
    parts = [_title(shape), *_answer(shape)]
    for title, told in SECTIONS[shape["subject"]["kind"]]:
        found = told(shape)
        if found:
            parts += [f"## {title}", *found]
    return "\n\n".join(parts) + "\n"


def _title(shape: Shape) -> str:
    subject = shape["subject"]
    return f"# {text(subject['service'] + '/' + subject['name'])}: {shape['result']}, {shape['tier']}"


def _answer(shape: Shape) -> list[str]:
    """What was found, how far it holds, what to do: whoever stops reading here has been told."""
    first = " ".join([f"**{text(_finding(shape))}**", text(_scope(shape))])
    reasons = len(shape["gaps"])
    held = f"{shape['tier']}: {_TIERS[shape['tier']]}"
    if not shape["strict"]:
        held += "; written with --no-strict"
    if reasons:
        held += f", {reasons} gap{'s' if reasons > 1 else ''} below"
    return [paragraph(first), paragraph(text(f"{held}.")), paragraph(text(_now(shape)))]


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


def _gaps(shape: Shape) -> list[str]:
    if not shape["gaps"]:
        return []
    return [bullets(text(f"{each['id']}: {each['sentence']}. Do: {each['do']}") for each in shape["gaps"])]


def _serving(shape: Shape) -> list[str]:
    deployed, parent = shape["deployed"], shape["parent"]
    said = [
        f"serving: {deployed['stack']}, {deployed['kind']} {deployed['entry']} by {deployed['by']}, {deployed['at']}"
        if deployed else "serving: no deployment is recorded",
        f"parent, which the next change starts from: {parent['stack']}, {parent['kind']} {parent['entry']}"
        if parent else "parent: none is accepted",
        "as the ledger says; hio verify proves what runs",
    ]  # fmt: skip
    return [bullets(text(each) for each in said)]


def _configurations(shape: Shape) -> list[str]:
    chosen, results = shape["chosen"], {each["arm"]: each["result"] for each in shape["alternatives"]}
    rows = []
    for each in shape["arms"]:
        role = "reference" if each["arm"] == shape["baseline"]["arm"] else results.get(each["arm"], "-")
        role += ", chosen" if each["arm"] == chosen["arm"] else ""
        rows.append(
            [text(each["arm"]), text(name_of(each["stack"])), text(set_of(each) or "as it stands"), role]
        )
    said = []
    if chosen["stack"]:
        said.append(
            f"the chosen configuration is the stack {chosen['stack']} ({chosen['status'] or 'not judged'})"
        )
    elif chosen["arm"]:
        said.append("no stack document holds the chosen configuration yet")
    said += [
        f"{each['kind']} {each['entry']}, by {each['by']}, {each['at']}: {each['because'] or 'no reason was given'}"
        for each in shape["decisions"]
    ] or ["no entry of the ledger stands on this run"]
    return [grid(("arm", "stack", "set", "result"), rows), bullets(text(each) for each in said)]


def _measurements(shape: Shape) -> list[str]:
    parts = []
    for each in shape["alternatives"]:
        mine = [one for one in shape["comparisons"] if one["to"] == each["arm"]]
        parts += [grid(("metric", mine[0]["from"], mine[0]["to"], "change", "p", "result"), map(_row, mine))]
        parts += [grid(("metric", "estimate and interval", "A-A noise"), map(_uncertainty, mine))]
    parts += [paragraph(text(_how(shape)))] if parts else []
    return parts


def _row(each: Shape) -> list[str]:
    name = text(f"{each['metric']} ({each['unit']})")
    if each["medians"] is None:
        return [name, "-", "-", "-", "-", each["result"]]
    ratio = ["-", "-"]
    if each["change_percent"] is not None:
        ratio = [change(each["change_percent"]), probability(each["test"]["p"])]
    return [name, *map(measured, each["medians"]), *ratio, each["result"]]


def _uncertainty(each: Shape) -> list[str]:
    estimate = each["estimate"]
    if estimate is None:
        return [text(each["metric"]), "not computed", "-"]
    said = change(estimate["percent"])
    if estimate["low"] is not None and estimate["high"] is not None:
        said += f", {change(estimate['low'])} to {change(estimate['high'])} ({100 * estimate['confidence']:.3g} %)"
    else:
        said += ", so few trials have no interval"
    return [text(each["metric"]), said, share(each["noise"]["percent"]) if each["noise"] else "unknown"]


def _how(shape: Shape) -> str:
    first = next((each for each in shape["comparisons"] if each["test"] is not None), None)
    if first is None:
        return "Medians of legs that count; no ratio is computed."
    return (
        f"Medians over legs that count; of a leg, the median of its measured requests. Test: {first['test']['method']}; "
        f"interval: {first['estimate']['method']}. Each metric is judged by itself."
    )


def _observations(shape: Shape) -> list[str]:
    metrics = [each["name"] for each in shape["metrics"]]
    units = ", ".join(f"{each['name']} in {each['unit']}" for each in shape["metrics"])
    rows = [
        [str(each["leg"]), text(each["arm"]), *(_cell(each["values"][name]) for name in metrics)]
        for each in shape["legs"] if each["counted"]
    ]  # fmt: skip
    if not rows:
        return ["No leg counts."]
    return [grid(("leg", "arm", *map(text, metrics)), rows), paragraph(text(f"{units}."))]


def _cell(value: float | None) -> str:
    return "unknown" if value is None else measured(value)


def _not_measured(shape: Shape) -> list[str]:
    said = [f"not measured: {each}" for each in shape["not_measured"]]
    said += [f"untested, by the plan: {each}" for each in shape["untested"]]
    said += [f"unknown, by the run: {each}" for each in shape["unknown"]]
    return [bullets(text(each) for each in said)] if said else []


def _failed(shape: Shape) -> list[str]:
    subject = shape["subject"]
    said = [f"leg {each['leg']} of {each['arm']} does not count: {reason}"
            for each in shape["legs"] for reason in each["invalid"]]  # fmt: skip
    said += [f"different work: {each}" for each in shape["different_work"]]
    said += [
        f"{'the same plan' if each['same_plan'] else 'an earlier plan of that name'}, {each['run']}: "
        f"{each['outcome'] or 'the record does not say how it ended'}{': ' + each['why'] if each['why'] else ''}"
        for each in shape["other_runs"]
    ]
    said += [f"known to fail, by the plan: {each}" for each in shape["known_failures"]]
    if subject["outcome"] != "completed":
        said.insert(0, f"this run: {subject['outcome'] or 'the record does not say how it ended'}")
    return [
        bullets(text(each) for each in said or ["nothing is on record: no leg, no other run of this plan"])
    ]


def _conditions(shape: Shape) -> list[str]:
    missed = [
        f"missed: {each['reason']}: {each['sentence']}" for each in shape["conditions"] if not each["met"]
    ]
    met = [f"{each['name']}: {each['sentence']}" for each in shape["conditions"] if each["met"]]
    return [bullets(text(each) for each in [*missed, *met])]


def _identity(shape: Shape) -> list[str]:
    said = [f"run {shape['subject']['name']}, {shape['subject']['digest']}"]
    host = shape["host"]
    if host:
        memory = shown(host["memory_bytes"]) if host["memory_bytes"] is not None else "unknown memory"
        devices = ", ".join(host["devices"]) or "no accelerator seen"
        said.append(
            f"host {host['id'] or 'unknown'}: {host['cpu'] or 'unknown processor'}, {host['cores'] or '?'} cores, "
            f"{memory}, {devices}, kernel {host['kernel'] or 'unknown'}"
        )
    for arm in shape["arms"]:
        said.append(f"{arm['arm']}: {arm['stack']}, {len(arm['captures'])} captures")
        said += [f"{arm['arm']}: {arm['unobserved']} of its legs unobserved"] if arm["unobserved"] else []
        said += [_process(arm["arm"], each) for each in arm["processes"]]
    judged_by = shape["judged_by"]
    said.append(f"recorded by hio {judged_by['hio']}, rule set {judged_by['rules']}" if judged_by
                else "recorded by: unknown")  # fmt: skip
    return [bullets(text(each) for each in said)]


def _process(arm: str, each: Shape) -> str:
    artifacts = ", ".join(f"{role} {sha or 'unknown'}" for role, sha in each["artifacts"].items())
    unknown = sum(sha is None for sha in each["libraries"].values())
    libraries = f"{len(each['libraries'])} libraries by hash" + (
        f", {unknown} of them unknown" if unknown else ""
    )
    return (
        f"{arm}, {each['role']}: {each['family']}, build {each['build'] or 'unknown'}, executable "
        f"{each['executable'] or 'unknown'}, {libraries}, {artifacts or 'no model file seen'}"
    )


def _restoration(shape: Shape) -> list[str]:
    found = shape["restoration"]
    if found["proven"] is None:
        stopped = {True: "a service was stopped, and nothing proves it back", False: "no service was stopped",
                   None: "whether a service was stopped is unknown"}  # fmt: skip
        return [paragraph(text(f"Restoration: {stopped[found['stopped']]}."))]
    wrong = [f"{name}: {said}" for name, said in found["checks"].items() if said != "passed"]
    said = f"{name_of(found['stack'])} serves again, {'proven' if found['proven'] else 'not proven'}: "
    passed = f"{len(found['checks']) - len(wrong)} of {len(found['checks'])} checks passed"
    return [bullets(text(each) for each in [said + passed, *wrong])]


def _way_back(shape: Shape) -> list[str]:
    found = shape["rollback"]
    if found["command"] is None:
        return [paragraph("Nothing is deployed on record, so there is nothing to take back.")]
    plan = f"by the plan {found['plan']}" if found["plan"] else "no rollback plan is pinned"
    return [paragraph(text(f"{found['restores']} serves again, {plan}:")), command(found["command"])]


def _left(shape: Shape) -> list[str]:
    said = [f"gate: {each}" for each in shape["gates_left"]]
    parts = [bullets(text(each) for each in [*said, f"remaining bottleneck: {shape['bottleneck']}"])]
    todo = shape["next"]
    if todo and todo["command"]:
        parts += [paragraph(text(f"{todo['say']}:")), command(todo["command"])]
    return parts


def _evidence(shape: Shape) -> list[str]:
    said = [f"not there: {each['what']}: {each['sentence']}" for each in shape["missing"]]
    counted = f"{len(shape['rests_on'])} files of the repository, listed with their hashes in the JSON report"
    return [bullets(text(each) for each in [counted, *said])]


_RUN: Sequence[Section] = (
    ("Gaps", _gaps),
    ("What serves now", _serving),
    ("Configurations", _configurations),
    ("Measurements", _measurements),
    ("Individual observations", _observations),
    ("What was not measured", _not_measured),
    ("Failed and invalid", _failed),
    ("Conditions of the tier", _conditions),
    ("Identity", _identity),
    ("Restoration", _restoration),
    ("Rollback", _way_back),
    ("What is left", _left),
    ("Evidence", _evidence),
)

SECTIONS: dict[str, Sequence[Section]] = {"run/v1": _RUN}
"""Kind of the subject -> its sections, in the order of the page."""
