"""A campaign over documents of tests/evidence/experiment.py: every cell with a run that meets every condition."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hio_validate.evidence.champion import Champion, champion
from hio_validate.rules.base import View
from tests.evidence.experiment import ROOM, SERVICE, SPEEDS, Experiment, Spoil, text
from tests.small_repo import pin, write

RUN_ID = "2026-01-04-threads"
SLOWER = {"base": [50.0, 50.5, 49.6, 50.2], "two": [40.1, 39.8, 40.9, 40.4]}
FASTER = {"base": [50.0, 50.5, 49.6, 50.2], "two": [80.1, 79.8, 80.9, 80.4]}
SAME = {"base": [50.0, 50.5, 49.6, 50.2], "two": [50.1, 49.9, 50.4, 49.7]}

CAMPAIGN: dict[str, Any] = {
    "hio": "campaign/v1", "name": "threads", "service": SERVICE, "question": "which thread count suits this host?",
    "model": {"name": "tiny"},
    "engines": {"stock": {"family": "llama-server", "revision": "4c3be2d0aa1d9f0f2ab56b7dcd4d1e1c8b4f5a67"}},
    "target": {"hardware": "two cores", "devices": 0, "scheduler": "host"},
    "deployment": {"stack": "base"},
    "workload": {"shapes": {"tides": "tides"}, "loads": {"one": {"concurrency": 1}}, "warm_up": 1, "trials": 4},
    "focus": {"metric": "decode_tps", "better": "higher", "accuracy": {"checks": ["sum"]}},
    "baseline": {"stack": "base", "entry": "b0"},
    "cells": {},
}  # fmt: skip


class Campaigned:
    """Writes a campaign and the runs of its cells. `cells`: cell -> (threads, regime)."""

    def __init__(
        self,
        root: Path,
        cells: dict[str, tuple[str, str]],
        spoil: Spoil | None = None,
        planned: Spoil | None = None,
    ) -> None:
        self.planned = planned
        self.experiment = Experiment(root)
        self.experiment.noise()
        self.root, self.threads = root, {name: threads for name, (threads, _) in cells.items()}
        document = copy.deepcopy(CAMPAIGN)
        document["cells"] = {
            name: {"plan": f"{RUN_ID}.{name}", "engine": "stock", "regime": regime}
            for name, (_, regime) in cells.items()
        }
        if spoil:
            spoil(document)
        self.pin = pin("threads", text(document))
        write(root, {f"{ROOM}/campaigns/threads.yaml": text(document)})
        for name in cells:
            self.experiment.plan(f"{RUN_ID}.{name}", self.planned_as(name))

    def run(self, cell: str, speeds: dict[str, list[float]] = SPEEDS, **more: Any) -> None:
        """The run of a cell; `run` and `rows` spoil it as in Experiment.run."""
        spoil = more.pop("run", None)

        def joined(document: dict[str, Any]) -> None:
            document["campaign"] = {"campaign": self.pin, "id": RUN_ID, "cell": cell}
            if spoil:
                spoil(document)

        self.experiment.run(f"{RUN_ID}.{cell}", speeds, plan=self.planned_as(cell), run=joined, **more)

    def planned_as(self, cell: str, delta: dict[str, Any] | None = None) -> Spoil:
        """The plan of a cell, or the same with another delta."""

        def changed(plan: dict[str, Any]) -> None:
            plan["arms"]["two"]["set"] = delta or {"server.threads": self.threads[cell]}
            if self.planned:
                self.planned(plan)

        return changed

    def champion(self) -> Champion:
        view = View(self.experiment.repo)
        item = view.repo.find("campaign/v1", "threads", SERVICE)
        assert item is not None and item.model is not None, item and item.refused
        return champion(item, view, view.settings)

    def missed(self) -> dict[str, str]:
        """Gate -> reason of those that are not met."""
        return {each.name: each.reason for each in self.champion().gates if not each.met}
