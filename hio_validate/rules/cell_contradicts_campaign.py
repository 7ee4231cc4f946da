"""A cell whose plan measures something else than its campaign is about.

A champion is chosen among cells that answer one question. Each plan has the campaign's baseline among its arms, as it
stands, so that the baseline is measured again with every change (contract 10.2); it decides by the focus metric, asks the
fixture of its shape, judges answers by the campaign's accuracy floor, and starts its candidates from the engine that the
cell names. A plan belongs to one cell. Requests come one at a time, so that a load of more is not what a plan measures. A
screening decides nothing (contract 4.10) and an A-A experiment neither: as a cell that has to be complete it is a gate.

How to fix: correct the plan or the campaign; a plan that has been run stays, and the cell gets a new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import (
    BENCH,
    CellPlan,
    cells_of,
    coverage_of,
    is_campaign_baseline,
    shape_of,
)
from hio_validate.evidence.design import full_name
from hio_validate.models.campaign import Campaign
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    campaign: Campaign = item.model
    cells = cells_of(item, view.repo)
    for index, name in enumerate(campaign.coverage):
        if name not in campaign.cells:
            yield Problem(
                at(item, "coverage", index), f"no cell is called {name}", f"one of {listed(campaign.cells)}"
            )
    owner: dict[str, str] = {}
    for each in cells:
        named = full_name(each.cell.plan, item)
        if owner.setdefault(named, each.name) != each.name:
            yield Problem(
                at(item, "cells", each.name, "plan"),
                f"{each.cell.plan} is the plan of the cell {owner[named]}, too",
                "a cell is exactly one plan",
            )
        yield from _names(item, campaign, each)
        if each.plan is not None:
            yield from _plan(item, campaign, each, each.plan, view)


def _names(item: Item, campaign: Campaign, each: CellPlan) -> Iterator[Problem]:
    """A shape and a load that the workload has; which one, where it has several."""
    if campaign.workload is None:
        return
    for key, known in (("shape", campaign.workload.shapes), ("load", campaign.workload.loads)):
        said = getattr(each.cell, key)
        if said is not None and known and said not in known:
            yield Problem(
                at(item, "cells", each.name, key),
                f"the workload has no {key} {said}",
                f"one of {listed(known)}",
            )
        elif said is None and len(known) > 1:
            yield Problem(
                at(item, "cells", each.name, "plan"),
                f"the workload has {len(known)} {key}s, and the cell {each.name} does not say which is its",
                f"write {key}: {' or '.join(list(known)[:4])}",
            )


def _plan(item: Item, campaign: Campaign, each: CellPlan, plan: Item, view: View) -> Iterator[Problem]:
    place = at(item, "cells", each.name, "plan")
    for message, help_ in _faults(item, campaign, each, plan, view):
        yield Problem(place, message, help_, (("the plan", at(plan, "name")),))
    if plan.model.stage != "confirmation" and each.name in coverage_of(campaign):
        yield Problem(
            place,
            f"{plan.name} is of stage {plan.model.stage}, which decides nothing",
            "confirm it by a plan of stage confirmation before a champion is named",
            severity=Severity.GATE,
        )


def _faults(
    item: Item, campaign: Campaign, each: CellPlan, plan: Item, view: View
) -> Iterator[tuple[str, str]]:
    model: Plan = plan.model
    if plan.service != item.service:
        yield f"{plan.full_name} is about another service", f"plan it for {item.service}"
    if campaign.baseline and campaign.baseline.stack and not is_campaign_baseline(plan, item):
        arm = model.arms.get(model.baseline)
        found = f"{arm.stack}{' with a delta' if arm.set else ''}" if arm else "unknown"
        yield (
            f"its baseline arm is {found}, the campaign's baseline {campaign.baseline.stack}",
            "measure the campaign's baseline again in every cell",
        )
    focus = campaign.focus
    if focus is not None and (model.decide.metric, model.decide.better) != (focus.metric, focus.better):
        yield (
            f"it decides by {model.decide.metric}, {model.decide.better}; the focus is {focus.metric}, {focus.better}",
            "decide by the focus metric",
        )
    yield from _asks(item, campaign, each, plan)
    yield from _judges(item, campaign, plan)
    yield from _engine(campaign, each, plan, view)


def _asks(item: Item, campaign: Campaign, each: CellPlan, plan: Item) -> Iterator[tuple[str, str]]:
    wanted = shape_of(campaign, each.cell)
    found = BENCH if plan.model.method == BENCH else plan.model.fixture
    if wanted is not None and found is not None:
        same = (
            wanted == found if BENCH in (wanted, found) else full_name(wanted, item) == full_name(found, plan)
        )
        if not same:
            yield f"it asks {found}, the shape of its cell is {wanted}", "ask the fixture of the shape"
    loads = campaign.workload.loads if campaign.workload else {}
    load = loads.get(each.cell.load) if each.cell.load else next(iter(loads.values()), None)
    if load is not None and (load.concurrency != 1 or load.rate is not None):
        rate = f", {load.rate:g} a second" if load.rate is not None else ""
        yield (
            f"it asks one request at a time; the load of its cell is {load.concurrency} at a time{rate}",
            "write a load of concurrency 1, or leave the cell out and name it untested",
        )


def _judges(item: Item, campaign: Campaign, plan: Item) -> Iterator[tuple[str, str]]:
    accuracy = campaign.focus.accuracy if campaign.focus else None
    if accuracy is None:
        return
    gate = plan.model.quality
    if accuracy.tasks:
        asked = full_name(gate.tasks, plan) if gate is not None else "no task set"
        if asked != full_name(accuracy.tasks, item):
            yield (
                f"it asks {asked}, the accuracy floor stands on {accuracy.tasks}",
                "write quality: {tasks: ...} as the campaign has it",
            )
        elif gate is not None and (gate.floor, gate.margin) != (accuracy.floor, accuracy.margin):
            yield (
                f"its quality gate has floor {gate.floor} and margin {gate.margin}, the campaign {accuracy.floor} and {accuracy.margin}",
                "judge every cell by one floor and one margin",
            )
    mine = {full_name(name, plan) for name in plan.model.checks}
    lacks = [name for name in accuracy.checks if full_name(name, item) not in mine]
    if lacks:
        yield f"it does not ask {listed(lacks)}, which the accuracy floor stands on", "name them in checks:"


def _engine(campaign: Campaign, each: CellPlan, plan: Item, view: View) -> Iterator[tuple[str, str]]:
    engine = campaign.engines.get(each.cell.engine)
    if engine is None:
        return
    for name, arm in plan.model.arms.items():
        stack = view.repo.find("stack/v1", arm.stack, plan.service)
        if name == plan.model.baseline or stack is None or stack.model is None:
            continue
        builds = {process.build for process in stack.model.processes.values() if process.build}
        families = {process.engine for process in stack.model.processes.values()}
        if engine.family not in families or (engine.build and builds and engine.build not in builds):
            found = ", ".join(sorted(builds or families))
            yield (
                f"its arm {name} starts {found}, the engine {each.cell.engine} is {engine.build or engine.family}",
                "start the candidates from the engine of the cell",
            )


RULE = Rule(
    "cell-contradicts-campaign", Scope.DOCUMENT, Severity.ERROR, "a cell measures something else than its campaign", check,
    kinds=("campaign/v1",), contract=("10.1", "10.2", "10.4"), since=5,
)  # fmt: skip
