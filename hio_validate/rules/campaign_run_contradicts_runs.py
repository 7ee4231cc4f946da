"""The run of a campaign that says something else than the runs it pins.

Whether a campaign is covered, and which cells count for a champion, is read from its run. Contract 10.2: one run identity
joins everything. So each run that is pinned names this campaign, this run id and its cell, runs the plan of that cell, and
ended as it is said here; every cell of the campaign is told, and none that it does not have; and what the cells needed
leave for was acknowledged when it began (contract 10.3). All of it is computed from the documents.

How to fix: restore what `hio campaign run` wrote; nothing in it is edited by hand. Where the campaign really went
otherwise, run it again under its next id.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import unacknowledged
from hio_validate.evidence.design import full_name
from hio_validate.models.campaign_run import CampaignRun, CellRun
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed

_AS_WRITTEN = "restore what hio campaign run wrote"


def check(item: Item, view: View) -> Iterator[Problem]:
    record: CampaignRun = item.model
    campaign = view.repo.find("campaign/v1", name_of(record.campaign), item.service)
    if campaign is None or campaign.model is None:
        return
    untold = [name for name in campaign.model.cells if name not in record.cells]
    if untold:
        yield Problem(
            at_key(item, "cells"), f"nothing is said of the cells {listed(untold)}", "tell every cell"
        )
    for message in unacknowledged(campaign, view.repo, item.name, record.at):
        if any(cell.run for cell in record.cells.values()):
            yield Problem(at(item, "at"), message, "what was not allowed must not have been run")
    for name, cell in record.cells.items():
        if name not in campaign.model.cells:
            yield Problem(at_key(item, "cells", name), f"{campaign.name} has no cell {name}", _AS_WRITTEN)
        else:
            yield from _cell(item, campaign, name, cell, view)


def _cell(item: Item, campaign: Item, name: str, cell: CellRun, view: View) -> Iterator[Problem]:
    if cell.run is None:
        if cell.outcome == "completed":
            yield Problem(
                at(item, "cells", name, "outcome"), f"{name} is completed and pins no run", _AS_WRITTEN
            )
        return
    run = view.repo.find("run/v1", name_of(cell.run), item.service)
    if run is None or run.model is None:
        return
    for path, message in _contradictions(item, campaign, name, cell, run):
        yield Problem(at(item, "cells", name, path), message, _AS_WRITTEN, (("the run", at(run, "name")),))


def _contradictions(
    item: Item, campaign: Item, name: str, cell: CellRun, run: Item
) -> Iterator[tuple[str, str]]:
    of = run.model.campaign
    if of is None or of.id != item.name or of.campaign != item.model.campaign:
        yield "run", f"{run.name} is no run of {item.name}" + (f", but of {of.id}" if of else "")
    elif of.cell != name:
        yield "run", f"{run.name} is the cell {of.cell}, not {name}"
    planned = campaign.model.cells[name].plan
    if run.model.plan is None or full_name(name_of(run.model.plan), run) != full_name(planned, campaign):
        yield "run", f"{run.name} ran another plan than {planned}"
    if run.model.outcome != cell.outcome:
        yield "outcome", f"{run.name} was {run.model.outcome or 'not told to have ended'}, not {cell.outcome}"


RULE = Rule(
    "campaign-run-contradicts-runs", Scope.DOCUMENT, Severity.ERROR, "the run of a campaign is not what its runs say", check,
    kinds=("campaign-run/v1",), contract=("10.2", "10.3"), since=5, suppressible=False,
)  # fmt: skip
