"""The report of a campaign as versioned data: its champion or what is kept, the gates, and every cell's run as run.py tells it.

Invariant: the champion is computed from the runs (evidence/champion.py); the gaps of a cell count where the champion
needs that cell, and what failed in the others is told all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hio_validate.evidence.campaign import coverage_of, records_of
from hio_validate.evidence.cell_result import CellResult
from hio_validate.evidence.champion import Champion
from hio_validate.evidence.outcome import Tier
from hio_validate.ledger import Ledger
from hio_validate.repo import Item, Repo
from hio_validate.report import champion as page
from hio_validate.report.published import run, standing
from hio_validate.report.published.gaps import Gap, gap, gaps_of
from hio_validate.report.published.run import Shape, Told
from hio_validate.rests_on import RestsOn, rests_on


@dataclass(frozen=True)
class ToldCampaign:
    """One campaign with everything that its report is computed from."""

    found: Champion
    runs: dict[str, Told]
    """Cell -> its run; a cell that nobody ran has none."""
    ledger: Ledger
    repo: Repo
    is_committed: bool = True
    strict: bool = True

    @property
    def record(self) -> Item | None:
        """What the campaign left at its end."""
        return next(iter(records_of(self.found.campaign, self.repo)), None)

    @property
    def rests(self) -> RestsOn:
        """The campaign, its record and every run, with all that these rely on."""
        roots = [self.found.campaign, *([self.record] if self.record is not None else [])]
        kept = [told.rests for told in self.runs.values()] + [rests_on(self.repo, roots)]
        files = {each for rests in kept for each in rests.files}
        broken = {each for rests in kept for each in rests.broken}
        return RestsOn(tuple(sorted(files)), tuple(sorted(broken)))


def as_shape(told: ToldCampaign) -> Shape:
    """Everything that is published, in the order in which it is read."""
    found, rests = told.found, told.rests
    gaps = list(_gaps(told, rests))
    champion = page.as_shape(found, 0)
    item = found.campaign
    cells = {name: run.as_shape(each) for name, each in told.runs.items()}
    told_once = ("version", "strict", "deployed", "parent", "rollback", "rests_on")
    return {
        "version": 1,
        "subject": {
            "kind": "campaign/v1", "name": item.name, "service": item.service, "digest": item.document.digest,
            "run_id": told.record.name if told.record is not None else None,
            "at": told.record.model.at if told.record is not None else None,
            "ended": told.record.model.ended if told.record is not None else None,
        },
        "strict": told.strict,
        "tier": str(_tier(told, gaps)),
        "result": champion["result"],
        "question": item.model.question,
        "answer": [each.removeprefix(f"{item.full_name}: ") for each in page.answer(found)],
        "gaps": [each._asdict() for each in gaps],
        **_standing(told),
        **{key: champion[key] for key in ("champion", "keeps", "regimes", "gates", "configurations", "scope")},
        "cells": [
            {**each, "report": _without(cells[each["cell"]], told_once) if each["cell"] in cells else None}
            for each in champion["cells"]
        ],
        "untested": found.untested,
        "next": page.next_steps(found, item.service or ""),
        "rests_on": [each._asdict() for each in rests.files],
        "missing": list(_missing(told, cells)),
    }  # fmt: skip


def _without(shape: Shape, keys: tuple[str, ...]) -> Shape:
    return {key: value for key, value in shape.items() if key not in keys}


def _gaps(told: ToldCampaign, rests: RestsOn) -> Iterator[Gap]:
    found = told.found
    yield from (gap(each.reason, f"{each.name}: {each.sentence}") for each in found.gates if not each.met)
    for each in found.cells:
        if each.name in told.runs and _is_needed(told, each):
            mine = gaps_of(told.runs[each.name].judged, (), True)
            yield from (one._replace(sentence=f"cell {each.name}: {one.sentence}") for one in mine)
    if told.record is None:
        yield gap("not-recorded", "no record says how the campaign and each of its cells ended")
    yield from (gap("broken-evidence", f"{each.file}:{each.line}: {each.sentence}") for each in rests.broken)
    if not told.is_committed:
        yield gap("not-committed", "git does not keep these bytes yet, so they could still be replaced")


def _is_needed(told: ToldCampaign, cell: CellResult) -> bool:
    """Whether the champion stands on a cell: it is to be covered, and not out for wrong answers."""
    return cell.name in coverage_of(told.found.campaign.model) and not cell.fails_its_answers


def _tier(told: ToldCampaign, gaps: list[Gap]) -> Tier:
    """VERDICT where every gate is met and no gap is left; NEEDS_CONTEXT stays what it is in any cell that counts."""
    needed = [
        told.runs[each.name] for each in told.found.cells if each.name in told.runs and _is_needed(told, each)
    ]
    if any(each.judged.tier is Tier.NEEDS_CONTEXT for each in needed):
        return Tier.NEEDS_CONTEXT
    return Tier.VERDICT if told.strict and not gaps and told.found.is_measured else Tier.DRAFT


def _standing(told: ToldCampaign) -> Shape:
    """Who serves, what was decided on these runs, what is left before the winners serve."""
    winners = {each.winner.name for each in told.found.winners if each.winner is not None}
    won = [told.runs[name] for name in told.runs if name in winners]
    decisions = {item.name: item for each in told.runs.values() for item in each.decisions}
    left = {
        f"{status.stack}: {sentence}": None
        for each in won for status in each.statuses if status.stack == each.stack for sentence in status.missing
    }  # fmt: skip
    profiles = {item.name: item for each in told.runs.values() for item in each.profiles}
    return {
        **standing.of_ledger(told.ledger),
        "decisions": [standing.decision(item) for item in decisions.values()],
        "gates_left": list(left),
        "bottleneck": run.OTHER_PROFILES if profiles else run.NO_PROFILE,
        "profiles": [{"observation": name, "format": item.model.source.format} for name, item in profiles.items()],
    }  # fmt: skip


def _missing(told: ToldCampaign, cells: dict[str, Any]) -> Iterator[Shape]:
    """What belongs into the bundle and is not there: of the campaign, then of each cell that which not all lack."""
    if told.record is None:
        yield {"what": "record", "sentence": "the campaign was not recorded at its end"}
    lacks = {name: [one["what"] for one in shape["missing"]] for name, shape in cells.items()}
    for what in dict.fromkeys(one for mine in lacks.values() for one in mine):
        named = [name for name, mine in lacks.items() if what in mine]
        sentence = next(
            one["sentence"] for shape in cells.values() for one in shape["missing"] if one["what"] == what
        )
        where = "" if len(named) == len(cells) else f"cell {', '.join(named)}: "
        yield {"what": what, "sentence": f"{where}{sentence}"}
    for each in told.found.cells:
        if each.name not in cells:
            yield {"what": f"cell {each.name}", "sentence": each.why_not}
