"""The sections of a report about a run, in Markdown: each is a list of paragraphs, lists and tables; none where it has nothing.

Invariant: they say what the shape says and nothing else; no word of optimality stands in them (contract 7.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hio_validate.quantity import change, measured, probability, share
from hio_validate.repo import name_of
from hio_validate.report.prose import bullets, command, fitted, paragraph, text
from hio_validate.report.published.run import set_of
from hio_validate.size import shown

Shape = dict[str, Any]
Section = tuple[str, Callable[[Shape], list[str]]]


def gaps(shape: Shape) -> list[str]:
    if not shape["gaps"]:
        return []
    return [bullets(text(f"{each['id']}: {each['sentence']}. Do: {each['do']}") for each in shape["gaps"])]


def serving(shape: Shape) -> list[str]:
    deployed, parent = shape["deployed"], shape["parent"]
    said = [
        f"serving: {deployed['stack']}, {deployed['kind']} {deployed['entry']} by {deployed['by']}, {deployed['at']}"
        if deployed else "serving: no deployment is recorded",
        f"parent, which the next change starts from: {parent['stack']}, {parent['kind']} {parent['entry']}"
        if parent else "parent: none is accepted",
        "as the ledger says; hio verify proves what runs",
    ]  # fmt: skip
    return [bullets(text(each) for each in said)]


def configurations(shape: Shape) -> list[str]:
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
    base = shape["baseline"]
    accepted = f"accepted by {base['entry']}" if base["entry"] else "accepted by no entry when the run began"
    recorded = f", with {base['dimensions']} numbers on record" if base["dimensions"] else ""
    said.append(f"the reference is {base['stack'].partition('@')[0]}, {accepted}{recorded}")
    said += [
        f"{each['kind']} {each['entry']}, by {each['by']}, {each['at']}: {each['because'] or 'no reason was given'}"
        for each in shape["decisions"]
    ] or ["no entry of the ledger stands on this run"]
    return [fitted(("arm", "stack", "set", "result"), rows), bullets(text(each) for each in said)]


def measurements(shape: Shape) -> list[str]:
    parts = []
    for each in shape["alternatives"]:
        mine = [one for one in shape["comparisons"] if one["to"] == each["arm"]]
        parts += [
            fitted(("metric", mine[0]["from"], mine[0]["to"], "change", "p", "result"), map(_row, mine))
        ]
        parts += [fitted(("metric", "estimate and interval", "A-A noise"), map(_uncertainty, mine))]
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


def observations(shape: Shape) -> list[str]:
    metrics = [each["name"] for each in shape["metrics"]]
    units = ", ".join(f"{each['name']} in {each['unit']}" for each in shape["metrics"])
    rows = [
        [str(each["leg"]), text(each["arm"]), *(_cell(each["values"][name]) for name in metrics)]
        for each in shape["legs"] if each["counted"]
    ]  # fmt: skip
    if not rows:
        return ["No leg counts."]
    return [fitted(("leg", "arm", *map(text, metrics)), rows), paragraph(text(f"{units}."))]


def _cell(value: float | None) -> str:
    return "unknown" if value is None else measured(value)


def quality(shape: Shape) -> list[str]:
    """How each arm answered; what else answers are good for is untested (contract 10.4)."""
    checks = [each for each in shape["conditions"] if each["name"] == "quality gate"]
    parts = [bullets(text(f"expected answers: {each['sentence']}") for each in checks)]
    found = shape["quality"]
    if found is None:
        return [
            *parts,
            paragraph("No task set was asked: what the answers are worth beyond these is untested."),
        ]
    arms = list(found["arms"])
    rows = [["all", *(_share(found["arms"][arm]) for arm in arms)]]
    rows += [[text(kind), *(_share(sides[arm]) for arm in arms)] for kind, sides in found["kinds"].items()]
    said = [
        f"{arm}: {each['reason'] or 'met'}: {each['sentence']}" for arm, each in found["candidates"].items()
    ]
    said.append(f"task set {found['tasks']}; other kinds of tasks are untested")
    return [*parts, fitted(("items", *map(text, arms)), rows), bullets(map(text, said))]


def _share(side: Shape) -> str:
    interval = side["interval"]
    return f"{side['right']} of {side['items']} ({interval['low']:.3f} to {interval['high']:.3f})"


def not_measured(shape: Shape) -> list[str]:
    said = [f"not measured: {each}" for each in shape["not_measured"]]
    said += [f"untested, by the plan: {each}" for each in shape["untested"]]
    said += [f"unknown, by the run: {each}" for each in shape["unknown"]]
    return [bullets(text(each) for each in said)] if said else []


def failed(shape: Shape) -> list[str]:
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


def conditions(shape: Shape) -> list[str]:
    missed = [
        f"missed: {each['reason']}: {each['sentence']}" for each in shape["conditions"] if not each["met"]
    ]
    met = [f"{each['name']}: {each['sentence']}" for each in shape["conditions"] if each["met"]]
    return [bullets(text(each) for each in [*missed, *met])]


def identity(shape: Shape) -> list[str]:
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


def restoration(shape: Shape) -> list[str]:
    found = shape["restoration"]
    if found["proven"] is None:
        stopped = {True: "a service was stopped, and nothing proves it back", False: "no service was stopped",
                   None: "whether a service was stopped is unknown"}  # fmt: skip
        return [paragraph(text(f"Restoration: {stopped[found['stopped']]}."))]
    wrong = [f"{name}: {said}" for name, said in found["checks"].items() if said != "passed"]
    said = f"{name_of(found['stack'])} serves again, {'proven' if found['proven'] else 'not proven'}: "
    passed = f"{len(found['checks']) - len(wrong)} of {len(found['checks'])} checks passed"
    return [bullets(text(each) for each in [said + passed, *wrong])]


def way_back(shape: Shape) -> list[str]:
    found = shape["rollback"]
    if found["command"] is None:
        return [paragraph("Nothing is deployed on record, so there is nothing to take back.")]
    plan = f"by the plan {found['plan']}" if found["plan"] else "no rollback plan is pinned"
    return [
        paragraph(text(f"{found['restores']} serves again, {plan}; this shows it, --yes does it:")),
        command(found["command"]),
    ]


def left(shape: Shape) -> list[str]:
    said = [f"gate: {each}" for each in shape["gates_left"]]
    said.append(f"remaining bottleneck: {shape['bottleneck']}")
    said += [f"profile {each['observation']} ({each['format']})" for each in shape["profiles"]]
    parts = [bullets(map(text, said))]
    todo = shape["next"]
    if todo and todo["command"]:
        parts += [paragraph(text(f"{todo['say']}:")), command(todo["command"])]
    return parts


def evidence(shape: Shape) -> list[str]:
    said = [f"not there: {each['what']}: {each['sentence']}" for each in shape["missing"]]
    counted = f"{len(shape['rests_on'])} files of the repository, listed with their hashes in the JSON report"
    return [bullets(text(each) for each in [counted, *said])]


OF_A_RUN: Sequence[Section] = (
    ("Gaps", gaps),
    ("What serves now", serving),
    ("Configurations", configurations),
    ("Measurements", measurements),
    ("Individual observations", observations),
    ("Quality gate", quality),
    ("What was not measured", not_measured),
    ("Failed and invalid", failed),
    ("Conditions of the tier", conditions),
    ("Identity", identity),
    ("Restoration", restoration),
    ("Rollback", way_back),
    ("What is left", left),
    ("Evidence", evidence),
)
"""In the order of the page."""
