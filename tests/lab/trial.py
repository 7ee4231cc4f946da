"""A small repository whose plan runs on the real engine, and the legs of it, without a supervisor."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hio_validate.execute import leg, leg_files, record
from hio_validate.execute.watch import Abort, Watch
from hio_validate.execute.work import Work, as_text
from tests.execute.experiment import (
    PLAN_FILE,
    ROOM,
    SITE_FILE,
    approval,
    baseline,
    documents,
    pin,
    plan,
    prepared,
    site,
    stack,
    yaml,
)
from tests.lab.serving import LAB, ROOT
from tests.ports import free_port

SERVER = LAB / "llama-10001/bin/llama-server"
MODEL = LAB / "model/gemma-3-270m-q4-k-m.gguf"
SMALL = [
    ["--ctx-size", "512"],
    ["--parallel", "1"],
    ["--verbosity", "4"],
    ["--flash-attn", "off"],
    ["--alias", "tiny"],
]
LIMITS = {"memory": "4GiB", "available": "1GiB", "start_s": 600.0, "leg_s": 3000.0, "total_s": 30000.0}


@dataclass(frozen=True)
class Trial:
    """A job's folder, its work and its repository."""

    root: Path
    folder: Path
    work: Work
    watch: Watch = field(default_factory=Watch)

    def leg(self, place: int, number: int | None = None) -> dict[str, Any]:
        """Run one leg with the simple watch."""
        return leg.run(self.work, place, number or place, self.watch, self.folder)

    def refused(self, place: int, number: int | None = None) -> tuple[Abort, dict[str, Any]]:
        """Run a leg that must end the trial: why, and what is on record of it."""
        try:
            self.leg(place, number)
        except Abort as abort:
            return abort, leg_files.records(self.folder)[-1]
        raise AssertionError("the leg was not refused")

    def recorded(self, outcome: str = "completed", why: str = "all legs ran") -> Path:
        """End the job and write its run."""
        line = {"at": "2026-11-29T12:30:00.000Z", "event": "ended", "outcome": outcome, "why": why}
        (self.folder / "journal.jsonl").write_text(json.dumps(line) + "\n")
        written = record.write(self.folder)
        assert written is not None
        return written

    def changed(self, **more: Any) -> Trial:
        """The same trial with other work."""
        work = replace(self.work, **more)
        (self.folder / "work.json").write_text(as_text(work))
        return replace(self, work=work)


def trial(
    tmp_path: Path,
    program: Path = SERVER,
    base: dict[str, Any] | None = None,
    place: dict[str, Any] | None = None,
    **planned: Any,
) -> Trial:
    """A prepared trial of the lab's engine in a repository of its own."""
    served = base or stack(more=SMALL, build="b10001")
    first = baseline(served)
    where = {"port": free_port(), "paths": {"model": str(MODEL)}, **(place or {})}
    texts = {path: text for path, text in documents().items() if "/engines/" not in path}
    texts |= {
        SITE_FILE: yaml(site(place=where, programs={"b10001": str(program)})),
        f"{ROOM}/stacks/base.yaml": yaml(served),
        PLAN_FILE: yaml(plan(**{"limits": LIMITS, **planned})),
        "ledger/here/tiny/2026/b0.yaml": yaml(first),
        "ledger/here/tiny/2026/yes.yaml": yaml(approval(after=[pin("b0", yaml(first))])),
    }
    root = tmp_path / "repo"
    engine = "manifests/engines/llama-server/b10001"
    shutil.copytree(ROOT / engine, root / engine)
    work = prepared(root, texts)
    assert isinstance(work, Work), work
    folder = tmp_path / "job"
    folder.mkdir()
    return Trial(root, folder, work).changed()
