"""What a campaign would do on this host, cell by cell, and everything that speaks against it, before anything runs (contract 10.3).

Invariant: all reasons are found before any side effect, and nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hio_validate.evidence.campaign import (
    acts_needed,
    cell_run_name,
    cells_of,
    coverage_of,
    records_of,
    unacknowledged,
)
from hio_validate.execute import campaigns, preflight
from hio_validate.execute.campaigns import Begun, Standing
from hio_validate.execute.work import Work
from hio_validate.models.campaign import Campaign, Cell
from hio_validate.prospect import Prospect, prospect
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View

LONGEST_NAME = 90
"""Of a cell's run: its captures are called after it, with a number, within the 100 characters of a name."""

Prepare = Callable[[Item, str], Work | list[str]]
"""(plan, job) -> the work, or every reason against it."""


@dataclass(frozen=True)
class CellProspect:
    """One cell before it runs, or as it stands."""

    name: str
    cell: Cell
    plan: Prospect | None
    """None where its plan cannot be read."""
    standing: Standing
    refused: tuple[str, ...]
    """Why it may not begin now."""


@dataclass(frozen=True)
class CampaignProspect:
    """A campaign before it runs, or where it goes on. Times are seconds."""

    item: Item
    run_id: str
    begun: Begun | None
    """Its run, where one was begun here and is not over."""
    cells: tuple[CellProspect, ...]
    coverage: tuple[str, ...]
    acts: Mapping[str, list[str]]
    """Act beyond measuring -> who needs it."""
    reasons: tuple[str, ...]
    """What speaks against the campaign as a whole."""
    record: Item | None
    """What became of it, where it has run to its end; its cells then stand as recorded."""

    @property
    def model(self) -> Campaign:
        model: Campaign = self.item.model
        return model

    @property
    def left(self) -> list[CellProspect]:
        """The cells that are not over."""
        return [each for each in self.cells if each.standing.is_open]

    @property
    def longest_s(self) -> float:
        """What is left, as long as it may take; restorations come on top."""
        return sum(each.plan.longest_s for each in self.left if each.plan is not None)

    @property
    def refused(self) -> list[str]:
        """Every reason, those of cells with their cell."""
        own = [f"{each.name}: {why}" for each in self.cells for why in each.refused]
        return [*self.reasons, *own]


def outlook(item: Item, view: View, root: Path, state: Path, now: str, prepare: Prepare) -> CampaignProspect:
    """The prospect of a valid campaign at `now` (UTC, as documents write it)."""
    begun = campaigns.open_of(state, item, root)
    record = None if begun else next(reversed(records_of(item, view.repo)), None)
    run_id = (
        begun.run_id
        if begun
        else record.name
        if record
        else campaigns.run_id_for(item, view.repo, state, now)
    )
    cells = []
    at_work = any(
        each.state in ("running", "unsafe") for each in campaigns.standings(state, run_id, item.model.cells)
    )
    for name, cell, plan in cells_of(item, view.repo):
        stands = _recorded(record, name) if record else campaigns.standing(state, run_id, name)
        refused: tuple[str, ...] = ()
        if plan is None:
            refused = (f"the plan {cell.plan} cannot be read; hio validate says why",)
        elif stands.state == "to-run":
            made = prepare(plan, stands.run)
            refused = tuple(made) if isinstance(made, list) else ()
            # While a cell runs, its own server listens; the next one is asked again before it begins.
            if isinstance(made, Work) and not at_work and (occupied := preflight.occupied(made)):
                refused = (occupied,)
        seen = prospect(plan, view, now) if plan is not None else None
        cells.append(CellProspect(name, cell, seen, stands, refused))
    return CampaignProspect(
        item=item,
        run_id=run_id,
        begun=begun,
        cells=tuple(cells),
        coverage=tuple(coverage_of(item.model)),
        acts=acts_needed(item, view.repo),
        reasons=tuple(_reasons(item, view, begun, record, run_id, now)),
        record=record,
    )


def _recorded(record: Item, cell: str) -> Standing:
    """How a cell ended, as the campaign's record says."""
    ended = record.model.cells.get(cell)
    if ended is None:
        return Standing(cell, "", "not-run", "the record does not know this cell")
    return Standing(cell, name_of(ended.run) if ended.run else "", ended.outcome, ended.why or "")


def _reasons(
    item: Item, view: View, begun: Begun | None, record: Item | None, run_id: str, now: str
) -> list[str]:
    model: Campaign = item.model
    if record is not None:
        return [
            f"it has run as {record.name}: hio champion {item.name} says what came of it; a new question is a new campaign"
        ]
    found = []
    if begun is not None and begun.data.get("campaign", "").partition("@")[2] != item.document.digest:
        found.append(f"it was edited since {run_id} began: restore it, or write a campaign of another name")
    if model.target is not None and model.target.scheduler not in (None, "host"):
        found.append(
            f"it is meant for {model.target.scheduler}, and hio measures on the host it runs on: write scheduler: host"
        )
    baseline = model.baseline
    if baseline is not None and (baseline.stack is None or baseline.entry is None):
        needed = "; ".join(baseline.needed)
        found.append(
            f"its baseline is still to be captured ({needed}): hio capture, hio ledger append baseline"
        )
    found += [
        f"the run of the cell {cell} would be called {name}, which is longer than {LONGEST_NAME} characters"
        for cell in model.cells
        if len(name := cell_run_name(run_id, cell)) > LONGEST_NAME
    ]
    return [*found, *unacknowledged(item, view.repo, run_id, now)]
