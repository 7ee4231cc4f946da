"""What a champion leaves in the known-good registry: a preference with its evidence, which refuses no deployment."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.cli.champion_writing import CannotWrite
from hio_validate.cli.champion_writing import write as write_champion
from hio_validate.rules.base import View
from tests.evidence.campaigned import RUN_ID, Campaigned
from tests.evidence.experiment import MODEL, ROOM, SERVICE, text
from tests.evidence.test_champion import OTHER, asked, serving, without_model
from tests.small_repo import pin, write


def recorded(root: Path) -> Campaigned:
    """A campaign of one cell that improves, run to its end."""
    made = Campaigned(root, {"two": ("2", "short")})
    made.run("two")
    return over(made)


def over(made: Campaigned) -> Campaigned:
    """The same campaign with the record of all its cells."""
    runs = {cell: (made.root / f"{ROOM}/runs/{RUN_ID}.{cell}/run.yaml").read_text() for cell in made.threads}
    record = {
        "hio": "campaign-run/v1", "name": RUN_ID, "service": SERVICE, "campaign": made.pin,
        "at": "2026-01-04T02:00:00Z", "ended": "2026-01-04T09:00:00Z",
        "cells": {cell: {"outcome": "completed", "run": pin(f"{RUN_ID}.{cell}", run)} for cell, run in runs.items()},
    }  # fmt: skip
    write(made.root, {f"{ROOM}/campaign-runs/{RUN_ID}.yaml": text(record)})
    return made


def written(made: Campaigned) -> list[str]:
    return list(write_champion(made.champion(), made.root, View(made.experiment.repo)))


def test_the_winner_is_preferred_and_never_required(tmp_path: Path) -> None:
    made = recorded(tmp_path)
    said = written(made)
    assert (
        said[0] == "wrote manifests/known-good/tiny.yaml: threads, preferred; no deployment is refused for it"
    )
    registry = made.experiment.repo.find("known-good/v1", "tiny")
    assert registry is not None and registry.model is not None, registry and registry.refused
    (row,) = registry.model.settings
    assert (row.must, row.values, row.severity) == ("preferred", [2], "performance")
    assert row.runs == [f"{SERVICE}/{RUN_ID}.two"]
    assert [(each.name, each.sha256) for each in registry.model.models] == [("tiny", None), (None, MODEL)]


def test_it_is_written_once(tmp_path: Path) -> None:
    made = recorded(tmp_path)
    written(made)
    with pytest.raises(CannotWrite, match="threads is preferred here as it is above"):
        written(made)


def test_a_campaign_that_is_not_over_writes_nothing(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, {"two": ("2", "short")})
    made.run("two")
    with pytest.raises(CannotWrite, match=r"not recorded yet.*hio campaign run threads"):
        written(made)
    assert not (tmp_path / "manifests/known-good").exists()


def test_what_suits_other_weights_is_not_preferred_for_the_models_of_the_registry(tmp_path: Path) -> None:
    made = over(asked(tmp_path, {}, four={"capture": serving("two", OTHER), "run": without_model}))
    said = f"two serves other weights .*hio ledger append increment --service {SERVICE} --from-run {RUN_ID}.four$"
    with pytest.raises(CannotWrite, match=said):
        written(made)
    assert not (tmp_path / "manifests/known-good").exists()


def test_other_weights_of_a_cell_that_did_not_win_refuse_nothing(tmp_path: Path) -> None:
    wrong = {"four": {"two": 40}}
    made = over(asked(tmp_path, wrong, four={"capture": serving("two", OTHER), "run": without_model}))
    assert "threads, preferred" in written(made)[0]
