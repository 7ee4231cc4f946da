"""A campaign begun for a person: cells from plans that are there, and from a grid of settings over the current parent.

Invariant: every value comes from a document; what only a person can say stands as TODO or is left out, and
`hio campaign check` names each of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from hio_validate.evidence.campaign import BENCH
from hio_validate.evidence.campaign_scope import out_of_scope, word_of
from hio_validate.evidence.design import between, full_name, legs
from hio_validate.known_good import judge
from hio_validate.known_good.row import value_of
from hio_validate.ledger import one_setting
from hio_validate.models.campaign import CampaignScope
from hio_validate.models.plan import Plan
from hio_validate.plans.begin import Begun
from hio_validate.plans.begin import begin as begin_plan
from hio_validate.plans.compared import Compared
from hio_validate.plans.quality import unasked
from hio_validate.plans.refusal import CannotPlan
from hio_validate.quantity import counted
from hio_validate.recording import modeline
from hio_validate.repo import Item, item_of, name_of
from hio_validate.rules.base import View
from hio_validate.rules.unfinished_plan import TODO
from hio_validate.settings.value import text_of
from hio_validate.source import read
from hio_validate.source.dump import Row, dump

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

MOST = 64
"""Points of a grid; more are no campaign but a search, and nobody waits for it."""

Grid = Mapping[str, Sequence[str]]
"""Setting -> the values that are tried."""


def grid_of(words: Sequence[str]) -> dict[str, list[str]]:
    """`server.threads=2,4` as setting and values. Raises CannotPlan."""
    found: dict[str, list[str]] = {}
    for word in words:
        setting, equals, values = word.partition("=")
        listed = [each.strip() for each in values.split(",") if each.strip()]
        if not equals or not setting.strip() or not listed:
            raise CannotPlan(
                f"{word} is no part of a grid; write SETTING=VALUE,VALUE, e.g. server.threads=2,4"
            )
        if setting in found:
            raise CannotPlan(f"{setting} is given twice; write all of its values at once")
        found[setting.strip()] = listed
    return found


def begin(
    view: View,
    service: str,
    name: str,
    plans: Sequence[Item],
    grid: Grid,
    metric: str | None,
    fixture: str | None,
) -> Begun:
    """The campaign with the drafts of the plans that its grid asks for. Raises CannotPlan."""
    parent = view.ledger(service).parent
    if parent is None:
        raise CannotPlan(
            f"the ledger of {service} names no parent; record what serves: hio ledger append baseline"
        )
    files: dict[str, bytes] = {}
    drafts: list[Item] = []
    for compared in _cells(view, service, parent, grid):
        begun = begin_plan(
            view, service, compared, "confirmation", f"{name}-{compared.name}", metric, fixture
        )
        files |= dict(begun.files)
        drafts.append(item_of(read(begun.files[0][1], begun.files[0][0])))
    cells = [*plans, *drafts]
    if not cells:
        raise CannotPlan(
            "a campaign needs cells: give plans (--plan), or settings to try (--grid SETTING=VALUE,VALUE)"
        )
    file = f"manifests/services/{service}/campaigns/{name}.yaml"
    content = dump(_campaign(view, service, name, parent, cells, grid), head=modeline("campaign", file))
    every = ((file, content), *files.items())
    said = f"{counted(len(cells), 'cell')} over {parent}"
    said += f", {counted(len(drafts), 'plan')} begun" if drafts else ""
    hint = unasked(view, service)
    hints = (hint,) if hint else ()
    return Begun(every, said, sum(each.count(TODO.encode()) for _, each in every), hints)


def _cells(view: View, service: str, parent: str, grid: Grid) -> Iterator[Compared]:
    """Every combination of the grid that differs from the parent. Raises CannotPlan."""
    stack = view.repo.find("stack/v1", parent, service)
    if stack is None or stack.model is None:
        raise CannotPlan(f"the stack {parent} cannot be read; hio validate says why")
    points = prod(map(len, grid.values()))
    if points > MOST:
        raise CannotPlan(
            f"the grid has {points} points, at most {MOST} are planned; screen the settings one by one first"
        )
    base = view.settings.effective(stack)
    for values in product(*grid.values()) if grid else ():
        delta = {setting: value_of(value) for setting, value in zip(grid, values, strict=True)}
        mine = view.settings.effective(stack, None, {key: text_of(value) for key, value in delta.items()})
        factors = tuple(each.address for each in between(base, mine, view.settings)[1])
        if not factors:
            continue
        short = "-".join(_short(setting, value) for setting, value in zip(grid, values, strict=True))[
            :60
        ].rstrip("-.")
        yield Compared(
            short,
            {parent: Row(stack=parent), short: Row({"stack": parent, "set": Row(delta)})},
            factors,
            f"What does {' and '.join(f'{key} = {text_of(value)}' for key, value in delta.items())} change on {parent}?",
            "the grid of the campaign",
        )


def _short(setting: str, value: str) -> str:
    """`threads-2` for server.threads = 2."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{setting.rpartition('.')[2]}-{value}").strip("-.")


def _campaign(
    view: View, service: str, name: str, parent: str, cells: Sequence[Item], grid: Grid
) -> dict[str, Any]:
    first: Plan = cells[0].model
    engine, said = _engine(view, service, parent)
    entry = view.ledger(service).parent_entry
    shapes = {_shape(plan): _shape(plan) for plan in cells}
    requests = first.requests
    return {
        "hio": "campaign/v1",
        "name": name,
        "service": service,
        "question": f"{TODO}: what the campaign is to find out",
        "model": Row(_served(view, service, parent)),
        "engines": {engine: Row(said)},
        "target": Row(hardware=f"{TODO}: processor, device, memory", scheduler="host"),
        "deployment": Row(stack=_deployed(view, service) or parent),
        "workload": {
            "shapes": Row(shapes),
            "loads": {"one": Row(concurrency=1)},
            **({"warm_up": requests.warm_up} if requests else {"warm_up": 0}),
            "trials": min(legs(first).values()),
        },
        "focus": {"metric": first.decide.metric, "better": first.decide.better, **_accuracy(first)},
        "baseline": Row(stack=parent, **({"entry": entry.name} if entry else {})),
        "protocol": Row(method=first.method, cache=first.cache, restart=first.restart),
        **({"scope": _scope(view, cells, grid)} if grid else {}),
        "cells": {each.name.removeprefix(f"{name}-"): Row(_cell(each, service, engine, len(shapes))) for each in cells},
    }  # fmt: skip


def _scope(view: View, cells: Sequence[Item], grid: Grid) -> dict[str, Any]:
    """The space that the grid names; what of it is quantisation or speculation is declared as such."""
    said: dict[str, list[str]] = {}
    for cell in cells:
        for each in out_of_scope(cell, CampaignScope(), view.repo, view.settings):
            if any(one_setting(name, each.changed.address) for name in grid):
                words = said.setdefault(each.what, [])
                words += [word] if (word := word_of(each.changed)) not in words else []
    return {**said, "factors": list(grid)}


def _cell(plan: Item, service: str, engine: str, shapes: int) -> dict[str, str]:
    cited = plan.name if plan.service == service else full_name(plan.name, plan)
    said = {
        "plan": cited,
        "engine": engine,
        "regime": f"{_shape(plan)}, {plan.model.cache} cache, one at a time",
    }
    return said | ({"shape": _shape(plan)} if shapes > 1 else {})


def _shape(plan: Item) -> str:
    return BENCH if plan.model.fixture is None else name_of(plan.model.fixture).rpartition("/")[2]


def _engine(view: View, service: str, parent: str) -> tuple[str, dict[str, str]]:
    """Name and identity of the engine that the parent runs, as far as documents say it."""
    stack = view.repo.find("stack/v1", parent, service)
    process = (
        next(iter(stack.model.processes.values())) if stack is not None and stack.model is not None else None
    )
    if process is None:
        return "stock", {"family": f"{TODO}: the engine"}
    build = view.repo.find("engine/v1", process.build) if process.build else None
    source = build.model.source if build is not None and build.model is not None else None
    said = {"family": str(process.engine), **({"build": process.build} if process.build else {})}
    if source is not None and source.revision and _COMMIT.fullmatch(source.revision):
        said["revision"] = source.revision
    return process.build or str(process.engine), said


def _served(view: View, service: str, parent: str) -> dict[str, str]:
    """The model, where exactly one known-good registry is about what the parent serves."""
    stack = view.repo.find("stack/v1", parent, service)
    known = judge(view.repo, service, stack, view.settings).registries if stack is not None else ()
    return {
        "name": known[0] if len(known) == 1 else f"{TODO}: the model, as its known-good registry is called"
    }


def _accuracy(plan: Plan) -> dict[str, Any]:
    gate = plan.quality
    said: dict[str, Any] = {"checks": list(plan.checks)} if plan.checks else {}
    if gate is not None:
        said |= {"tasks": gate.tasks, "floor": gate.floor, "margin": gate.margin}
    return {"accuracy": said} if said else {}


def _deployed(view: View, service: str) -> str | None:
    deployment = view.ledger(service).deployment
    pins = getattr(deployment.model, "pins", None) if deployment is not None else None
    candidate = getattr(pins, "candidate", None)
    return name_of(candidate) if candidate else None
