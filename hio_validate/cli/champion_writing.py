"""Adds the settings of a champion to the known-good registry of its model (contract 10.5).

Invariant: what is written is preferred and never required, so that no deployment is refused for speed alone (contract 8.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hio_validate import writing
from hio_validate.evidence.cell_result import CellResult, scope_of
from hio_validate.evidence.champion import Champion
from hio_validate.evidence.design import contrasts
from hio_validate.known_good.row import CannotRecord, checked, recorded, value_of
from hio_validate.recording import modeline
from hio_validate.repo import Item, item_of
from hio_validate.report.champion import gain_of, next_steps
from hio_validate.rules.base import View
from hio_validate.settings.setting import Class
from hio_validate.settings.value import ABSENT, UNKNOWN
from hio_validate.source import read
from hio_validate.source.dump import dump
from hio_validate.source.edit import CannotEdit


class CannotWrite(Exception):
    """Nothing was written; one sentence."""


def write(judged: Champion, root: Path, view: View) -> Iterator[str]:
    """Write a row for each setting that the champion changes; what was done, line by line. Raises CannotWrite."""
    winner = judged.overall
    if winner is None:
        raise CannotWrite(_why_none(judged))
    if not judged.is_recorded:
        raise CannotWrite(
            f"the campaign is not recorded yet, so that a cell may still change it: hio campaign run {judged.campaign.name} "
            "--yes goes on, --close ends it"
        )
    _refuse_other_weights(judged, winner)
    rows = list(_rows(judged, winner, view))
    if not rows:
        raise CannotWrite(
            "the champion is another stack, build or model, which no single setting says; append it to the ledger"
        )
    name = judged.campaign.model.model.name
    file = f"manifests/known-good/{name}.yaml"
    content, old = _registry(judged, winner, rows, file, view)
    try:
        (writing.replace if old else writing.create)(root / file, content)
    except OSError as error:
        raise CannotWrite(f"{file} cannot be written: {error.strerror}") from None
    factors = ", ".join(row["factor"] for row in rows)
    yield f"{'added to' if old else 'wrote'} {file}: {factors}, preferred; no deployment is refused for it"
    for each in next_steps(judged, judged.campaign.service or ""):
        yield f"next: {each}"


def _why_none(judged: Champion) -> str:
    if judged.winners:
        return "the winners differ by regime, and a registry knows one setting for all: record what each regime needs by hand"
    missed = [each.name for each in judged.gates if not each.met]
    return (
        f"there is no champion to write ({', '.join(missed) or 'no improvement'}); the previous one is kept"
    )


def _refuse_other_weights(judged: Champion, winner: CellResult) -> None:
    """A registry is of the baseline's model: what suits other weights is not preferred for it. Raises CannotWrite."""
    best = winner.best.candidate if winner.best is not None else None
    other = next((each for each in winner.other_weights if each.candidate == best), None)
    if other is not None:
        then = "; ".join(next_steps(judged, judged.campaign.service or ""))
        raise CannotWrite(
            f"{other.sentence}, and a setting that suits them is not known to suit the baseline's: append the champion to "
            f"the ledger instead: {then}"
        )


def _rows(judged: Champion, winner: CellResult, view: View) -> Iterator[dict[str, Any]]:
    assert winner.verdict is not None and winner.best is not None and winner.run is not None
    best, service = winner.best, judged.campaign.service
    plan = view.repo.find("plan/v1", winner.cell.plan, service)
    assert plan is not None
    changed = [each for each in contrasts(plan, view.repo, view.settings) if each.arm == best.candidate]
    said = (
        f"best of the {judged.configurations} configurations measured by the campaign {judged.campaign.name}: "
        f"{gain_of(best)}"
    )
    for each in changed[0].factors if changed else ():
        if each.class_ is Class.TUNING and each.to not in (ABSENT, UNKNOWN):
            yield {
                "factor": each.address.partition(".")[2] or each.address,
                "must": "preferred",
                "values": [value_of(each.to)],
                "severity": "performance",
                "because": said,
                "scope": judged.scope,
                "runs": [f"{service}/{winner.run.name}"],
                "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            }


def _registry(
    judged: Champion, winner: CellResult, rows: list[dict[str, Any]], file: str, view: View
) -> tuple[bytes, bool]:
    """The bytes of the registry with the rows, and whether it was there. Raises CannotWrite."""
    campaign = judged.campaign.model
    item = view.repo.find("known-good/v1", campaign.model.name)
    old = item is not None
    try:
        if item is None:
            for row in rows:
                checked(row, None, file, view.repo)
            return _new(judged, winner, rows, file), old
        for row in rows:
            item = _with(item, row, view)
        return item.document.raw, old
    except (CannotRecord, CannotEdit) as error:
        raise CannotWrite(str(error)) from None


def _with(item: Item, row: dict[str, Any], view: View) -> Item:
    made = item_of(read(recorded(row, item, view.repo), item.file))
    if made.model is None:
        raise CannotRecord(f"{item.file} would not be a registry any more; hio validate says why it is none")
    return made


def _new(judged: Champion, winner: CellResult, rows: list[dict[str, Any]], file: str) -> bytes:
    campaign = judged.campaign.model
    models = [{"name": campaign.model.name}]
    measured = campaign.model.sha256 or scope_of(winner, "model")
    models += [{"sha256": measured}] if re.fullmatch(r"[0-9a-f]{64}", measured) else []
    data = {
        "hio": "known-good/v1",
        "name": campaign.model.name,
        "engine": campaign.engines[winner.cell.engine].family,
        "models": models,
        "settings": rows,
    }
    content = dump(data, head=modeline("known-good", file))
    made = item_of(read(content, file))
    if made.model is None:
        wrong = made.refused[0].message if made.refused else "it cannot be read"
        raise CannotRecord(
            f"the registry {file} would not be one: {wrong}; record it by hand: hio known-good record"
        )
    return content
