"""Cells of a campaign that are not measured alike, so that their numbers cannot stand side by side.

Two engines, or two settings, are compared only by one protocol. Contract 10.1: a comparison of engines defines all of
them and one shared protocol. Each cell's plan is held against the campaign's: method, cache regime, restarts, warm-up,
trials; and against the first cell of the campaign: measured requests, direction, smallest effect, test and level. A cell
names an engine that the campaign defines; with several engines, each one has a cell.

How to fix: give the plans of all cells what the campaign says, or make it another campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import CellPlan, cells_of
from hio_validate.evidence.design import legs
from hio_validate.models.campaign import Campaign
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    campaign: Campaign = item.model
    cells = cells_of(item, view.repo)
    first = next((each for each in cells if each.plan is not None), None)
    for each in cells:
        if campaign.engines and each.cell.engine not in campaign.engines:
            yield Problem(
                at(item, "cells", each.name, "engine"),
                f"the campaign defines no engine {each.cell.engine}",
                f"one of {listed(campaign.engines)}, or define it in engines:",
            )
        if each.plan is not None and first is not None and first.plan is not None:
            yield from _compared(item, campaign, each, first)
    measured = {each.cell.engine for each in cells}
    for name in campaign.engines if len(campaign.engines) > 1 else ():
        if name not in measured:
            yield Problem(
                at_key(item, "engines", name),
                f"no cell measures the engine {name}",
                "give it a cell, or leave it out",
            )


def _compared(item: Item, campaign: Campaign, each: CellPlan, first: CellPlan) -> Iterator[Problem]:
    assert each.plan is not None and first.plan is not None
    plan: Plan = each.plan.model
    for what, wanted, found in (*_asked(campaign, plan), *_shared(first.plan.model, plan)):
        if wanted is not None and wanted != found:
            asks = "the campaign" if what in _OF_THE_CAMPAIGN else f"the cell {first.name}"
            yield Problem(
                at(item, "cells", each.name, "plan"),
                f"{each.cell.plan} has {what} {found}, {asks} {wanted}",
                "measure all cells by one protocol",
                ((f"the plan {each.cell.plan}", at(each.plan, "name")),),
            )


_OF_THE_CAMPAIGN = ("method", "cache", "restart", "warm-up", "trials")


def _asked(campaign: Campaign, plan: Plan) -> Iterator[tuple[str, Any, Any]]:
    """(what, as the campaign has it, as the plan has it); None: the campaign does not say."""
    protocol, workload = campaign.protocol, campaign.workload
    yield "method", protocol.method, plan.method
    yield "cache", protocol.cache, plan.cache
    yield "restart", protocol.restart, plan.restart
    if workload is not None:
        if plan.requests is not None:
            yield "warm-up", workload.warm_up, plan.requests.warm_up
        yield "trials", workload.trials, min(legs(plan).values())


def _shared(first: Plan, plan: Plan) -> Iterator[tuple[str, Any, Any]]:
    if first.requests is not None and plan.requests is not None:
        yield "measured requests", first.requests.measured, plan.requests.measured
    yield "direction", first.decide.better, plan.decide.better
    yield "smallest effect", first.decide.at_least_percent, plan.decide.at_least_percent
    yield "test", first.decide.test, plan.decide.test
    yield "level", first.decide.alpha, plan.decide.alpha


RULE = Rule(
    "cells-without-shared-protocol", Scope.DOCUMENT, Severity.ERROR, "cells of a campaign are not measured alike", check,
    kinds=("campaign/v1",), contract=("10.1",), since=5,
)  # fmt: skip
