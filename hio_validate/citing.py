"""What a document names, pins and keeps beside it, by its kind.

Invariant: a file whose bytes a document relies on is listed here, or nobody notices that it was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from hio_validate.diagnostic import Path
from hio_validate.models.campaign import Campaign
from hio_validate.models.campaign_run import CampaignRun
from hio_validate.models.capture import Capture
from hio_validate.models.ceilings import Ceilings
from hio_validate.models.engine import Engine
from hio_validate.models.entry import Entry
from hio_validate.models.estimate import Estimate
from hio_validate.models.fixture import Fixture
from hio_validate.models.known_good import KnownGood
from hio_validate.models.matrix import Bundle, FactorRow, Matrix
from hio_validate.models.observation import Observation
from hio_validate.models.plan import Plan
from hio_validate.models.profile import Profile
from hio_validate.models.qualification import Qualification
from hio_validate.models.receipt import HumanScore, OperatorTest, Quality, Telemetry
from hio_validate.models.rollback import Rollback as RollbackPlan
from hio_validate.models.run import Executed, Run
from hio_validate.models.shape import Shape
from hio_validate.models.stack import Stack
from hio_validate.models.tasks import Tasks


class Cites(Protocol):
    """A document that was read; `model` is None where it is not valid."""

    @property
    def model(self) -> Any: ...


class Reference(NamedTuple):
    """A place in a document that names another one; `digest` is set where it pins it."""

    path: Path
    kind: str
    name: str
    digest: str | None = None


PINNED = {"run": "run/v1", "stack": "stack/v1", "parent": "stack/v1", "candidate": "stack/v1",
          "rollback": "stack/v1", "capture": "capture/v1", "matrix": "matrix/v1", "plan": "plan/v1",
          "approval": "entry/v1", "qualification": "qualification/v1", "observation": "observation/v1",
          "rollback_plan": "rollback/v1"}  # fmt: skip
"""Key among an entry's pins -> the kind of document it pins."""


def references(item: Cites) -> Iterator[Reference]:
    """Every place where a valid document names or pins another one."""
    model = item.model
    match model:
        case Stack():
            for process, each in model.processes.items():
                if each.build:
                    yield Reference(("processes", process, "build"), "engine/v1", each.build)
        case Capture():
            yield from _captured(model)
        case Matrix():
            yield from _matrix(model)
        case Plan():
            yield from _plan(model)
        case Run():
            yield from _run(model)
        case KnownGood():
            yield from _known_good(model)
        case Qualification():
            yield _pin(("stack",), "stack/v1", model.stack)
            if model.build:
                yield Reference(("build",), "engine/v1", model.build)
            if model.capture:
                yield _pin(("capture",), "capture/v1", model.capture)
        case Observation():
            if model.stack:
                yield _pin(("stack",), "stack/v1", model.stack)
        case Campaign():
            yield from _campaign(model)
        case CampaignRun():
            yield _pin(("campaign",), "campaign/v1", model.campaign)
            for name, cell in model.cells.items():
                if cell.run:
                    yield _pin(("cells", name, "run"), "run/v1", cell.run)
        case Quality() | OperatorTest() | HumanScore() | Telemetry():
            yield from _receipt(model)
        case Ceilings():
            if model.engine:
                yield Reference(("engine",), "engine/v1", model.engine)
        case Profile():
            yield _pin(("stack",), "stack/v1", model.stack)
            if model.fixture:
                yield Reference(("fixture",), "fixture/v1", model.fixture)
        case Estimate():
            yield from _estimate(model)
        case RollbackPlan():
            yield Reference(("site",), "site/v1", model.site)
            yield _pin(("takes_back",), "stack/v1", model.takes_back)
            if model.restores:
                yield _pin(("restores",), "stack/v1", model.restores)
        case _ if isinstance(model, Entry):
            yield from _entry(model)


def _known_good(registry: KnownGood) -> Iterator[Reference]:
    for index, opted_in in enumerate(registry.opted_in):
        for number, stack in enumerate(opted_in.stacks):
            yield Reference(("opted_in", index, "stacks", number), "stack/v1", stack)
    for index, requirement in enumerate(registry.settings):
        for key, kind in (("builds", "engine/v1"), ("entries", "entry/v1"), ("runs", "run/v1")):
            for number, name in enumerate(getattr(requirement, key)):
                yield Reference(("settings", index, key, number), kind, name)


def _captured(capture: Capture) -> Iterator[Reference]:
    if capture.stack:
        yield Reference(("stack",), "stack/v1", capture.stack)
    if capture.site:
        yield Reference(("site",), "site/v1", capture.site)
    for process, each in capture.processes.items():
        if each.build:
            yield Reference(("processes", process, "build"), "engine/v1", each.build)


def _matrix(matrix: Matrix) -> Iterator[Reference]:
    yield Reference(("parent",), "stack/v1", matrix.parent)
    yield Reference(("candidate",), "stack/v1", matrix.candidate)
    for side in ("parent", "candidate"):
        capture = getattr(matrix.captures, side, None)
        if capture:
            yield Reference(("captures", side), "capture/v1", capture)
    for index, tip in enumerate(matrix.as_of):
        yield Reference(("as_of", index), "entry/v1", tip)
    for index, row in enumerate(matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.evidence:
            yield Reference(("rows", index, "evidence"), "entry/v1", row.evidence)


def _plan(plan: Plan) -> Iterator[Reference]:
    for name, arm in plan.arms.items():
        yield Reference(("arms", name, "stack"), "stack/v1", arm.stack)
    if plan.fixture:
        yield Reference(("fixture",), "fixture/v1", plan.fixture)
    for index, check in enumerate(plan.checks):
        yield Reference(("checks", index), "fixture/v1", check)
    if plan.quality:
        yield Reference(("quality", "tasks"), "tasks/v1", plan.quality.tasks)
    if plan.decide.noise:
        yield Reference(("decide", "noise"), "run/v1", plan.decide.noise)
    if plan.serving.restore:
        yield Reference(("serving", "restore"), "stack/v1", plan.serving.restore)
    if plan.reproduces:
        yield Reference(("reproduces",), "run/v1", plan.reproduces)
    if plan.again:
        yield Reference(("again", "run"), "run/v1", plan.again.run)


def _campaign(campaign: Campaign) -> Iterator[Reference]:
    for name, each in campaign.engines.items():
        if each.build:
            yield Reference(("engines", name, "build"), "engine/v1", each.build)
    if campaign.deployment and campaign.deployment.stack:
        yield Reference(("deployment", "stack"), "stack/v1", campaign.deployment.stack)
    for name, fixture in campaign.workload.shapes.items() if campaign.workload else ():
        if fixture != "llama-bench":
            yield Reference(("workload", "shapes", name), "fixture/v1", fixture)
    accuracy = campaign.focus.accuracy if campaign.focus else None
    if accuracy and accuracy.tasks:
        yield Reference(("focus", "accuracy", "tasks"), "tasks/v1", accuracy.tasks)
    for index, check in enumerate(accuracy.checks if accuracy else ()):
        yield Reference(("focus", "accuracy", "checks", index), "fixture/v1", check)
    if campaign.baseline:
        if campaign.baseline.stack:
            yield Reference(("baseline", "stack"), "stack/v1", campaign.baseline.stack)
        if campaign.baseline.entry:
            yield Reference(("baseline", "entry"), "entry/v1", campaign.baseline.entry)
    for name, cell in campaign.cells.items():
        yield Reference(("cells", name, "plan"), "plan/v1", cell.plan)


def _estimate(estimate: Estimate) -> Iterator[Reference]:
    for key in ("stack", "fixture", "shape"):
        pin = getattr(estimate.workload, key)
        if pin:
            yield _pin(("workload", key), f"{key}/v1", pin)
    for index, pin in enumerate(estimate.ceilings):
        yield _pin(("ceilings", index), "ceilings/v1", pin)
    for index, term in enumerate(estimate.terms):
        if term.cost.ceiling:
            yield Reference(("terms", index, "cost", "ceiling"), "ceilings/v1", term.cost.ceiling)
    if estimate.baseline:
        yield _pin(("baseline", "run"), "run/v1", estimate.baseline.run)
    if estimate.profile:
        yield _pin(("profile",), "profile/v1", estimate.profile)
    for index, cause in enumerate(estimate.causes):
        if cause.profile:
            yield _pin(("causes", index, "profile"), "profile/v1", cause.profile)
    for index, candidate in enumerate(estimate.candidates):
        for key in ("cold", "warm"):
            pin = getattr(candidate, key)
            if pin:
                yield _pin(("candidates", index, key), "run/v1", pin)
    for index, entry in enumerate(estimate.blocked_by):
        yield _pin(("blocked_by", index), "entry/v1", entry)


def _run(run: Run) -> Iterator[Reference]:
    if run.plan:
        yield _pin(("plan",), "plan/v1", run.plan)
    if run.campaign:
        yield _pin(("campaign", "campaign"), "campaign/v1", run.campaign.campaign)
    for index, fixture in enumerate(run.fixtures):
        yield _pin(("fixtures", index), "fixture/v1", fixture)
    if run.quality:
        yield _pin(("quality", "tasks"), "tasks/v1", run.quality.tasks)
    for index, approval in enumerate(run.approvals):
        yield _pin(("approvals", index), "entry/v1", approval)
    if run.preflight and run.preflight.live:
        yield _pin(("preflight", "live"), "capture/v1", run.preflight.live)
    if run.restored:
        yield _pin(("restored", "stack"), "stack/v1", run.restored.stack)
        if run.restored.capture:
            yield _pin(("restored", "capture"), "capture/v1", run.restored.capture)
    for index, leg in enumerate(run.legs):
        if leg.capture:
            yield _pin(("legs", index, "capture"), "capture/v1", leg.capture)
    for name, arm in run.arms.items():
        yield _pin(("arms", name, "stack"), "stack/v1", arm.stack)
        for index, capture in enumerate(arm.captures):
            yield _pin(("arms", name, "captures", index), "capture/v1", capture)


def _receipt(receipt: Quality | OperatorTest | HumanScore | Telemetry) -> Iterator[Reference]:
    if receipt.stack:
        yield _pin(("stack",), "stack/v1", receipt.stack)
    if isinstance(receipt, OperatorTest) and receipt.against:
        yield Reference(("against",), "receipt/v1", receipt.against)
    if isinstance(receipt, Telemetry):
        yield _pin(("run",), "run/v1", receipt.run)


def _entry(entry: Any) -> Iterator[Reference]:
    for index, tip in enumerate(entry.after):
        yield _pin(("after", index), "entry/v1", tip)
    pins = getattr(entry, "pins", None)
    for key, kind in PINNED.items():
        pinned = getattr(pins, key, None)
        if pinned:
            yield _pin(("pins", key), kind, pinned)
    attempted = getattr(entry, "attempted", None)
    if attempted:
        yield _pin(("attempted",), "stack/v1", attempted)
    for key in ("corrects", "undoes"):
        named = getattr(entry, key, None)
        if named:
            yield Reference((key,), "entry/v1", named)
    for index, kept in enumerate(getattr(entry, "keeps", ())):
        yield Reference(("keeps", index), "entry/v1", kept)


def pin_of(entry: Cites, role: str) -> str | None:
    """What an entry pins in a role (PINNED); None where its kind has no such pin or it leaves it out."""
    pin: str | None = getattr(getattr(entry.model, "pins", None), role, None)
    return pin


def name_of(pin: str) -> str:
    """The name in a pin, `name@sha256:...`."""
    return pin.partition("@")[0]


def _pin(path: Path, kind: str, pin: str) -> Reference:
    name, _, digest = pin.partition("@")
    return Reference(path, kind, name, digest)


def evidence_files(item: Cites) -> Iterator[tuple[Path, str, str]]:
    """(path in the document, file beside it, SHA-256) of every file whose bytes a document relies on."""
    model = item.model
    if isinstance(model, Engine) and model.help:
        yield ("help", "sha256"), model.help.file, model.help.sha256
    if isinstance(model, Engine) and model.source:
        for index, patch in enumerate(model.source.patches):
            yield ("source", "patches", index, "sha256"), patch.file, patch.sha256
    if isinstance(model, Shape) and model.source.file:
        yield ("source", "file", "sha256"), model.source.file.file, model.source.file.sha256
    if isinstance(model, Profile) and model.raw:
        yield ("raw", "sha256"), model.raw.file, model.raw.sha256
    if isinstance(model, Run):
        yield ("raw", "sha256"), model.raw.file, model.raw.sha256
        for key in ("events", "quality", "samples"):
            kept = getattr(model, key)
            if kept:
                yield (key, "sha256"), kept.file, kept.sha256
        for index, command in enumerate(model.commands):
            yield from _output(index, command)
        for index, log in enumerate(model.logs):
            yield ("logs", index, "sha256"), log.file, log.sha256
    if isinstance(model, Campaign) and model.deployment:
        said = model.deployment
        if said.file and said.sha256:
            yield ("deployment", "sha256"), said.file, said.sha256
    if isinstance(model, Tasks):
        yield ("items", "sha256"), model.items.file, model.items.sha256
    if isinstance(model, Quality | OperatorTest | HumanScore | Telemetry):
        for key in ("source", "rows", "cases", "scores", "file"):
            kept = getattr(model, key, None)
            if kept:
                yield (key, "sha256"), kept.file, kept.sha256
    if isinstance(model, Observation):
        for key in ("source", "records"):
            kept = getattr(model, key)
            if kept.file is not None:
                yield (key, "sha256"), kept.file, kept.sha256
    if isinstance(model, Qualification) and model.rows:
        yield ("rows", "sha256"), model.rows.file, model.rows.sha256
    if isinstance(model, Fixture):
        if model.file:
            yield ("file", "sha256"), model.file.file, model.file.sha256
        for index, tool in enumerate(model.tools):
            yield ("tools", index, "sha256"), tool.file, tool.sha256


def _output(index: int, command: Executed) -> Iterator[tuple[Path, str, str]]:
    for stream in ("stdout", "stderr"):
        kept = getattr(command, stream)
        if kept:
            yield ("commands", index, stream, "sha256"), kept.file, kept.sha256
