"""What the record gained: entries of the ledger, runs and what was measured, captures, receipts, ways back.

Invariant: a pin is told by what it leads to; no digest stands in the place of a meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import known, plan_of, trials_of
from hio_validate.ledger import NOTHING
from hio_validate.models.campaign_run import CampaignRun
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.entry import (
    Anchor,
    Approval,
    Baseline,
    Correction,
    Decision,
    Deployment,
    FailedRun,
    Increment,
    Merge,
    NegativeControl,
    Opportunity,
    Redaction,
    Rollback,
)
from hio_validate.models.observation import Observation
from hio_validate.models.qualification import Qualification
from hio_validate.models.receipt import HumanScore, OperatorTest, Quality, Telemetry
from hio_validate.models.rollback import Rollback as RollbackPlan
from hio_validate.models.run import Run
from hio_validate.quantity import measured
from hio_validate.repo import Item, Repo
from hio_validate.review.changes import Added
from hio_validate.review.matrices import published
from hio_validate.review.trees import Trees
from hio_validate.settings.secrets import WITHHELD, says_secret
from hio_validate.settings.value import text_of


def entries(trees: Trees, service: str) -> Iterator[Added]:
    """The entries that the ledger of a service gained, in the order of the ledger."""
    added = {
        now.name: now
        for was, now in trees.pairs("entry/v1", service)
        if now is not None and was is None and now.file in trees.changed
    }
    for item in trees.after.view.ledger(service).as_of():
        if item.name in added:
            says = [sentence for sentence in _entry(item.model) if sentence]
            says.append(f"by {item.model.by}" + (", imported" if item.model.imported else ""))
            yield Added(item.model.kind, item.name, tuple(says), item.model.because or "")


def _entry(entry: object) -> Iterator[str]:
    """What an entry decides, in sentences."""
    result = getattr(entry, "result", None)
    run = _named(getattr(getattr(entry, "pins", None), "run", None))
    match entry:
        case Baseline():
            yield f"{_named(entry.pins.stack)} serves, and others are compared with it"
        case Increment():
            stack = _named(entry.pins.stack) if entry.pins else ""
            yield f"accepts {entry.factor}" + (f", which makes {stack} the parent" if stack else "")
        case NegativeControl():
            yield f"excludes {entry.factor}" + (f", and {', '.join(entry.blocks)}" if entry.blocks else "")
        case FailedRun():
            yield f"a trial ended by {entry.hazard}" + (f", of {entry.factor}" if entry.factor else "")
        case Correction():
            yield f"corrects {entry.corrects}"
        case Decision():
            yield entry.decision + (f", about {entry.factor}" if entry.factor else "")
            yield f"stands on {', '.join(sorted(entry.evidence))}" if entry.evidence else ""
            yield f"next: {entry.next}" if entry.next else ""
        case _:
            yield from _act(entry)
    if result is not None:
        yield published(result) + (f", run {run}" if run else "")
    elif run:
        yield f"run {run}"


def _act(entry: object) -> Iterator[str]:
    """What an entry allows, does or keeps, in sentences."""
    match entry:
        case Approval():
            yield f"allows to {entry.approves} {', '.join(entry.services)} until {entry.until}"
            yield f"scope: {entry.scope}"
            yield f"owners: {', '.join(entry.owners)}"
            yield f"covers the wider exposure of {', '.join(entry.factors)}" if entry.factors else ""
        case Deployment():
            pins = entry.pins
            parent = f" in place of {_named(pins.parent)}" if pins.parent else ""
            yield f"{_named(pins.candidate)} serves at {entry.site}{parent}"
            named = {"matrix": pins.matrix, "rollback to": pins.rollback, "approval": pins.approval,
                     "qualification": pins.qualification}  # fmt: skip
            yield ", ".join(f"{role} {_named(pin)}" for role, pin in named.items() if pin)
            yield f"went past: {', '.join(entry.overridden)}" if entry.overridden else ""
        case Rollback():
            undone = entry.undoes or f"the attempt to deploy {_named(entry.attempted or 'unknown')}"
            yield f"{_named(entry.pins.stack or NOTHING)} serves again; undoes {undone}"
            failed = ", ".join(f"{name} ({found})" for name, found in entry.failed.items())
            yield f"failed: {failed}" if failed else ""
        case Opportunity():
            about = f", about {entry.factor}" if entry.factor else ""
            yield f"{entry.result_kind}{about}: may bring {entry.benefit}"
            yield f"costs {entry.regression}; not known: {entry.uncertainty}; next: {entry.next}"
        case Anchor():
            yield f"every later history contains commit {entry.commit[:12]}"
        case Merge():
            yield "closes the open tips" + (f", keeps {', '.join(entry.keeps)}" if entry.keeps else "")
        case Redaction():
            yield f"bytes were taken out of {', '.join(each.file for each in entry.redacts)}"


def _named(pin: str | None) -> str:
    return (pin or "").partition("@")[0]


def records(trees: Trees, service: str) -> Iterator[Added]:
    """What was recorded that a service gained or lost, by file: runs, captures, qualifications, receipts, observations,
    rollback plans, campaign runs."""
    told = (
        ("run/v1", _run),
        ("capture/v1", _capture),
        ("qualification/v1", _qualified),
        ("receipt/v1", _receipt),
        ("observation/v1", _observed),
        ("rollback/v1", _way_back),
        ("campaign-run/v1", _campaigned),
    )
    for kind, said in told:
        for was, now in trees.pairs(kind, service):
            if was is None and now is not None and now.file in trees.changed:
                yield Added(kind.partition("/")[0], now.name, tuple(said(now, trees.after.repo)))
            elif now is None and was is not None and was.file in trees.changed:
                yield Added(kind.partition("/")[0], was.name, ("removed",))


def _qualified(item: Item, _: Repo) -> Iterator[str]:
    """What was probed, and how each probe came out."""
    receipt: Qualification = item.model
    yield f"probes {_named(receipt.stack)} at {receipt.at}" + (
        f", build {receipt.build}" if receipt.build else ""
    )
    for name, probe in receipt.probes.items():
        yield f"{name} {probe.verdict}" + (f": {probe.because}" if probe.because else "")


def _observed(item: Item, _: Repo) -> Iterator[str]:
    """What was read from which file, and what it deserves: never more than DRAFT."""
    told: Observation = item.model
    source = told.source
    kept = "" if source.file else ", not kept: it may hold texts of requests"
    yield f"{_count(told.records.count, 'record')} of a file of {source.format}, measured outside hio{kept}"
    yield f"measured {_named(told.stack)}, as whoever imported it says" if told.stack else "of no known stack"
    yield from (f"found {each.id}: {each.message}" for each in told.findings)


def _receipt(item: Item, _: Repo) -> Iterator[str]:
    """What somebody said of the answers, the operators or the host, and of what it is."""
    told = item.model
    yield f"about {_named(told.stack)}, as whoever recorded it says" if told.stack else "of no known stack"
    match told:
        case Quality():
            error = f" +- {told.stderr:.4g}" if told.stderr is not None else ""
            yield f"{told.metric} of {told.task} ({told.filter}) is {told.value:.4g}{error}, items: {told.n} of {told.whole}"
            yield f"{told.harness.name} {told.harness.version}, {told.few_shot} examples, limit {told.limit}"
        case OperatorTest():
            sums = [
                sum(getattr(each, key) for each in told.operators.values())
                for key in ("ok", "failed", "not_supported")
            ]
            yield f"{told.backend} against {told.reference}: {sums[0]} cases ok, {sums[1]} failed, {sums[2]} not supported"
        case HumanScore():
            yield f"{_count(told.items, 'score')} by {told.scorer}, {told.blinding}"
        case Telemetry():
            yield f"readings of {told.producer} about {_named(told.run)}, clock {told.clock.offset_s} s off"


def _way_back(item: Item, _: Repo) -> Iterator[str]:
    """What a rollback plan takes away and restores."""
    plan: RollbackPlan = item.model
    restores = _named(plan.restores) if plan.restores else "nothing, as before"
    yield f"takes {_named(plan.takes_back)} away at {plan.site}; then serves: {restores}"


def _campaigned(item: Item, _: Repo) -> Iterator[str]:
    """Which campaign ran, and how each of its cells ended."""
    told: CampaignRun = item.model
    yield f"ran the campaign {_named(told.campaign)} from {told.at} to {told.ended}"
    for name, cell in told.cells.items():
        yield f"cell {name} {cell.outcome}" + (f": {cell.why}" if cell.why else "")


def _run(item: Item, repo: Repo) -> Iterator[str]:
    run: Run = item.model
    if run.question:
        yield f"question: {run.question}"
    raw = repo.beside(item, run.raw.file)
    rows = Counter[str]()
    metrics: list[str] = []
    try:
        read = read_rows(run, raw) if raw is not None else []
        rows.update(row.cells[run.raw.arm] for row in read)
        trials = trials_of(run, read, plan_of(item, repo))
        for metric, column in run.columns.items():
            values = {arm: known(trials, arm, metric) for arm in run.arms if column.better}
            if any(values.values()):
                metrics.append(_medians(metric, column.unit, values))
    except UnreadableRows as error:
        yield f"its rows cannot be read: {error.message}"
    yield "arms: " + "; ".join(
        f"{name} = {_arm(arm.stack, arm.set)}, {_count(rows[name], 'row')}, "
        + (_count(len(arm.captures), "capture") if arm.captures else "nobody captured it")
        for name, arm in run.arms.items()
    )
    yield from metrics
    if run.imported:
        yield "imported: never rises above DRAFT"
    if run.unknown:
        yield f"unknown: {', '.join(run.unknown)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _arm(stack: str, delta: object) -> str:
    changes = delta.items() if isinstance(delta, dict) else ()
    shown = [f"{name} {WITHHELD if says_secret(name) else text_of(value)}" for name, value in changes]
    return " with ".join([_named(stack), *([", ".join(shown)] if shown else [])])


def _medians(metric: str, unit: str, values: dict[str, list[float]]) -> str:
    from statistics import median  # only where a run is new

    return f"{metric}, median: " + ", ".join(
        f"{arm} {measured(median(seen), unit)}" for arm, seen in values.items() if seen
    )


def _capture(item: Item, repo: Repo) -> Iterator[str]:
    capture: Capture = item.model
    of = f" of {capture.stack}" if capture.stack else ""
    place = f" at site {capture.site}" if capture.site else ""
    yield f"a live process{of}{place}, {capture.at}" + (
        f", on {capture.host.cpu}" if capture.host.cpu else ""
    )
    for role, process in capture.processes.items():
        yield f"{role}: {', '.join(_process(process))}"


def _process(process: CapturedProcess) -> Iterator[str]:
    yield f"{process.family}" + (f" {process.build}" if process.build else " of no recorded build")
    if process.listening and process.listening.port:
        yield f"listening on {process.listening.address}:{process.listening.port}"
    if process.health and process.health.facts:
        yield "health " + str(process.health.facts.get("status", "unknown"))
    if process.threads.count:
        yield f"{process.threads.count} threads"
    unknown = [
        name
        for name, how in {
            "executable": process.executable.how,
            "argv": process.argv.how,
            "environment": process.environ.how,
            **{f"{role} file": each.how for role, each in process.artifacts.items()},
        }.items()
        if how == "unknown"
    ]
    if unknown:
        yield f"not observed: {', '.join(unknown)}"
