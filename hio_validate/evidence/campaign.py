"""A campaign with its plans: what it lacks, which acts it needs leave for, how its cells hang together (contract 10.1-10.3).

Invariant: everything is computed from the documents; who checks a campaign, runs it or looks for its champion asks here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.evidence.design import full_name
from hio_validate.models.campaign import Acknowledgement, Campaign, CampaignEngine, Cell
from hio_validate.models.plan import Plan
from hio_validate.moment import moment
from hio_validate.repo import Item, Repo

BENCH = "llama-bench"
"""What a shape names that no fixture asks: the benchmark program of the engine."""

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Missing(NamedTuple):
    """One of the seven required inputs, or a part of one, that a campaign does not have."""

    input: str
    path: Path
    """The nearest key that is there; () = the document."""
    sentence: str
    help: str


class CellPlan(NamedTuple):
    """A cell with its plan; None where that cannot be read."""

    name: str
    cell: Cell
    plan: Item | None


def cells_of(campaign: Item, repo: Repo) -> list[CellPlan]:
    """The cells in the order of the document."""
    found = []
    for name, cell in campaign.model.cells.items():
        plan = repo.find("plan/v1", cell.plan, campaign.service)
        found.append(CellPlan(name, cell, plan if plan is not None and plan.model is not None else None))
    return found


def coverage_of(campaign: Campaign) -> list[str]:
    """The cells that have to be complete for a champion."""
    return list(dict.fromkeys(campaign.coverage)) or list(campaign.cells)


def missing_inputs(campaign: Campaign, repo: Repo) -> Iterator[Missing]:
    """Each required input that is absent, in the order of contract 10.1."""
    yield from _subject(campaign)
    for name, engine in campaign.engines.items():
        if not _is_exact(engine, repo):
            yield Missing(
                "exact source",
                ("engines", name),
                f"the engine {name} has no exact source revision and no image digest",
                "write revision: (the full commit), image: (sha256:...), or build: with the archive it was built from; a tag or a version moves",
            )
    yield from _target(campaign)
    yield from _deployment(campaign)
    yield from _workload(campaign)
    yield from _focus(campaign)
    yield from _baseline(campaign)


def _subject(campaign: Campaign) -> Iterator[Missing]:
    lacks = [*(["model"] if campaign.model is None else []), *([] if campaign.engines else ["engines"])]
    if lacks:
        there: Path = ("model",) if campaign.model else ("engines",) if campaign.engines else ()
        yield Missing(
            "model and engine", there, f"{_nor('it names', lacks)}", "write model: {name: ...} and engines:"
        )


def _is_exact(engine: CampaignEngine, repo: Repo) -> bool:
    if engine.revision or engine.image:
        return True
    build = repo.find("engine/v1", engine.build) if engine.build else None
    source = build.model.source if build is not None and build.model is not None else None
    if source is None:
        return False
    return source.archive is not None or bool(source.revision and _COMMIT.fullmatch(source.revision))


def _target(campaign: Campaign) -> Iterator[Missing]:
    target = campaign.target
    if target is None:
        lacks = ["hardware", "devices", "scheduler"]
    else:
        lacks = [key for key in ("hardware", "devices", "scheduler") if getattr(target, key) is None]
        if target.scheduler not in (None, "host") and target.place is None:
            lacks.append("place")
    if lacks:
        there: Path = ("target",) if target else ()
        yield Missing(
            "hardware and scheduler target", there, _nor("the target says", lacks),
            "write target: {hardware: ..., devices: 0, scheduler: host}; a cluster has a place:, too",
        )  # fmt: skip


def _deployment(campaign: Campaign) -> Iterator[Missing]:
    said = campaign.deployment
    if said is None or (said.stack is None and (said.file is None or said.sha256 is None)):
        half = said is not None and said.file is not None
        yield Missing(
            "operator's deployment", ("deployment",) if said else (),
            "the operator's file has no sha256" if half else "nothing says how the operator deploys",
            "write deployment: {file: ..., sha256: ...}, or {stack: ...}",
        )  # fmt: skip


def _workload(campaign: Campaign) -> Iterator[Missing]:
    said = campaign.workload
    if said is None:
        lacks = ["shapes", "loads", "warm_up", "trials"]
    else:
        lacks = [key for key in ("shapes", "loads", "warm_up", "trials") if getattr(said, key) in (None, {})]
    if lacks:
        yield Missing(
            "shapes, loads, warm-up, trials", ("workload",) if said else (), _nor("the workload says", lacks),
            "write workload: {shapes: {...}, loads: {...}, warm_up: 1, trials: 4}",
        )  # fmt: skip


def _focus(campaign: Campaign) -> Iterator[Missing]:
    focus = campaign.focus
    if focus is None:
        sentence: str | None = "it says neither which metric decides nor how right answers have to be"
    elif focus.accuracy is None or not (focus.accuracy.tasks or focus.accuracy.checks):
        sentence = "no task set and no check says how right answers have to be"
    elif focus.accuracy.tasks and (focus.accuracy.floor is None or focus.accuracy.margin is None):
        sentence = f"the task set {focus.accuracy.tasks} has no floor or no margin"
    else:
        sentence = None
    if sentence:
        accuracy = focus is not None and focus.accuracy is not None
        there: Path = ("focus", "accuracy") if accuracy else ("focus",) if focus else ()
        yield Missing(
            "focus metric and accuracy floor", there, sentence,
            "write focus: {metric: ..., better: ..., accuracy: {checks: [...]}} or {tasks: ..., floor: ..., margin: ...}",
        )  # fmt: skip


def _baseline(campaign: Campaign) -> Iterator[Missing]:
    said = campaign.baseline
    if said is None or (not said.needed and (said.stack is None or said.entry is None)):
        yield Missing(
            "production-shaped baseline", ("baseline",) if said else (),
            "no ledger entry names the baseline" if said and said.stack else "there is no baseline",
            "write baseline: {stack: ..., entry: ...} (hio ledger append baseline), or needed: [what it takes to capture one]",
        )  # fmt: skip


def _nor(head: str, lacks: Sequence[str]) -> str:
    """`it names no model and no engines`."""
    return f"{head} no {' and no '.join(lacks)}"


def acts_needed(campaign: Item, repo: Repo) -> dict[str, list[str]]:
    """Act beyond measuring -> who needs it: cells, or the key of the campaign that says so (contract 10.3)."""
    model: Campaign = campaign.model
    needed: dict[str, list[str]] = {}
    for name, _, plan in cells_of(campaign, repo):
        serving = plan.model.serving if plan is not None else None
        if serving is not None and serving.during == "stop":
            needed.setdefault("stop-service", []).append(name)
        if serving is not None and serving.then == "keep-winner":
            needed.setdefault("keep-winner", []).append(name)
    if model.target is not None and model.target.scheduler not in (None, "host"):
        needed["mutate-cluster"] = ["target"]
    if model.publish:
        needed["publish"] = ["publish"]
    return needed


def first_run_id(campaign: str, day: str) -> str:
    """The run id of a campaign that begins on a day (YYYY-MM-DD)."""
    return f"{day}-{campaign}"


def is_run_id_of(run_id: str, campaign: str) -> bool:
    """Whether a run id is one of this campaign's: the day, its name, a number from the second of a day on."""
    return re.fullmatch(rf"\d{{4}}-\d\d-\d\d-{re.escape(campaign)}(-[2-9]|-[1-9]\d+)?", run_id) is not None


def cell_run_name(run_id: str, cell: str) -> str:
    """What the run of a cell is called: the campaign's run id and the cell (contract 10.2)."""
    return f"{run_id}.{cell}"


def unacknowledged(campaign: Item, repo: Repo, run_id: str, at: str) -> list[str]:
    """Why a run may not do what its cells need at a moment (UTC), a sentence for each act; none: it may."""
    given = next((each for each in campaign.model.acknowledgements if each.run_id == run_id), None)
    return [
        f"{act} (for {', '.join(of[:4])}) is not acknowledged for {run_id}{why}"
        for act, of in acts_needed(campaign, repo).items()
        if (why := _why_not(given, act, at)) is not None
    ]


def _why_not(given: Acknowledgement | None, act: str, at: str) -> str | None:
    if given is None:
        return ""
    if act not in given.acts:
        return f": the acknowledgement lists {', '.join(given.acts)}"
    if moment(at) < moment(given.at):
        return f": it is not given before {given.at}"
    if moment(given.until) <= moment(at):
        return f": it ended at {given.until}"
    return None


def shape_of(campaign: Campaign, cell: Cell) -> str | None:
    """The fixture that a cell has to ask; None where nothing says which."""
    shapes = campaign.workload.shapes if campaign.workload else {}
    if cell.shape is not None:
        return shapes.get(cell.shape)
    return next(iter(shapes.values())) if len(shapes) == 1 else None


def is_campaign_baseline(plan: Item, campaign: Item) -> bool:
    """Whether the baseline arm of a plan is the campaign's baseline, as it stands."""
    model: Plan = plan.model
    arm, baseline = model.arms.get(model.baseline), campaign.model.baseline
    if arm is None or baseline is None or baseline.stack is None:
        return False
    return not arm.set and full_name(arm.stack, plan) == full_name(baseline.stack, campaign)


def runs_of(campaign: Item, repo: Repo) -> list[Item]:
    """The recorded runs of a campaign, the first one first: those that pin exactly these bytes."""
    pin = f"@{campaign.document.digest}"
    mine = [
        run
        for run in repo.of("run/v1")
        if run.service == campaign.service
        and run.model.campaign is not None
        and run.model.campaign.campaign.endswith(pin)
    ]
    return sorted(mine, key=lambda run: (run.model.at or "", run.name))


def records_of(campaign: Item, repo: Repo) -> list[Item]:
    """The campaign runs that pin exactly these bytes, by name."""
    pin = f"@{campaign.document.digest}"
    return [
        each
        for each in repo.of("campaign-run/v1")
        if each.service == campaign.service and each.model.campaign.endswith(pin)
    ]
