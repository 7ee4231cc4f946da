"""A whole small experiment: a plan, its A-A run, captures of every leg, an approval; everything that a VERDICT needs.

Tests take it apart: each spoils one document before it is written and looks at what the verdict then lacks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hio_validate.evidence.tiers import Verdict, verdict
from hio_validate.history import Folder
from hio_validate.repo import Repo, load
from hio_validate.rules.base import View
from hio_validate.source.dump import dump
from tests.small_repo import (
    ENGINE,
    EXECUTABLE,
    FILES,
    HELP,
    LIBRARY,
    ROOM,
    SERVICE,
    baseline,
    pin,
    sha,
    stack,
    write,
)

Spoil = Callable[[dict[str, Any]], None]
Row = dict[str, Any]

HOST, MODEL = sha("host"), sha("model")
BASE = pin("base", stack("base"))
ORDER = ("base", "two", "two", "base", "two", "base", "base", "two")
SPEEDS = {"base": [50.0, 50.5, 49.6, 50.2], "two": [60.1, 59.8, 60.9, 60.4]}
SAME = {"base": [50.0, 50.5, 49.6, 50.2], "again": [50.1, 49.9, 50.4, 49.7]}

FIXTURE = {
    "hio": "fixture/v1", "name": "tides", "prompt": "why are there tides?", "max_tokens": 8, "seed": 1,
    "sampling": {"temperature": 0},
}  # fmt: skip
CHECK = {
    "hio": "fixture/v1", "name": "sum", "prompt": "1+1=", "max_tokens": 2, "seed": 1, "sampling": {"temperature": 0},
    "expect": {"source": "arithmetic", "contains": ["2"]},
}  # fmt: skip
PLAN: dict[str, Any] = {
    "hio": "plan/v1", "name": "threads", "service": SERVICE, "question": "are two threads faster?",
    "stage": "confirmation",
    "hypothesis": {"claim": "10 % more", "operation": "matrix products", "mechanism": "a second core"},
    "baseline": "base",
    "arms": {"base": {"stack": "base"}, "two": {"stack": "base", "set": {"server.threads": "2"}}},
    "factors": ["server.threads"],
    "order": list(ORDER),
    "fixture": "tides", "requests": {"warm_up": 1, "measured": 2}, "checks": ["sum"],
    "same_work": {"content": "equal"},
    "decide": {
        "metric": "decode_tps", "better": "higher", "at_least_percent": 5.5, "test": "permutation", "alpha": 0.0625,
        "noise": "aa",
    },
    "limits": {"memory": "1GiB", "available": "1GiB", "start_s": 9.5, "leg_s": 9.5, "total_s": 99.5},
    "abort_owner": "someone",
    "serving": {"during": "none"},
}  # fmt: skip
COLUMNS: dict[str, dict[str, str]] = {
    **{name: {"unit": "text"} for name in ("arm", "phase", "status", "expected", "fixture", "prompt_sha256", "content_sha256")},
    **{name: {"unit": "1"} for name in ("leg", "request", "evaluated", "cached", "generated", "drafted", "accepted")},
    "decode_tps": {"unit": "token/s", "better": "higher"},
    "ttft_ms": {"unit": "ms", "better": "lower"},
}  # fmt: skip


class Experiment:
    """Writes the documents of one experiment; what is spoilt is spoilt before anything pins it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        files = {path: text for path, text in FILES.items() if "/runs/" not in path}
        write(
            root,
            {**files, f"{ROOM}/fixtures/tides.yaml": text(FIXTURE), f"{ROOM}/fixtures/sum.yaml": text(CHECK)},
        )
        self.approval = self._approval()

    def _approval(self) -> str:
        entry = {
            "hio": "entry/v1", "id": "ok", "service": SERVICE, "after": [pin("b0", baseline())], "by": "someone",
            "at": "2026-01-02T00:00:00Z", "kind": "approval", "approves": "load-test", "services": [SERVICE],
            "owners": ["someone"], "scope": "the lab", "until": "2026-02-01T00:00:00Z",
        }  # fmt: skip
        write(self.root, {f"ledger/{SERVICE}/2026/ok.yaml": text(entry)})
        return pin("ok", text(entry))

    def plan(self, name: str = "threads", spoil: Spoil | None = None) -> tuple[dict[str, Any], str]:
        """The plan and its pin."""
        plan = copy.deepcopy(PLAN) | {"name": name}
        if spoil:
            spoil(plan)
        write(self.root, {f"{ROOM}/plans/{name}.yaml": text(plan)})
        return plan, pin(name, text(plan))

    def noise(
        self, speeds: dict[str, list[float]] = SAME, plan: Spoil | None = None, run: Spoil | None = None
    ) -> None:
        """The A-A experiment: the baseline against itself."""

        def as_null(document: dict[str, Any]) -> None:
            document |= {"stage": "a-a", "factors": [], "arms": {arm: {"stack": "base"} for arm in speeds}}
            document["order"] = ["again" if arm == "two" else arm for arm in ORDER]
            del document["decide"]["noise"]
            if plan:
                plan(document)

        self.run("aa", speeds, plan=as_null, run=run, day=3)

    def run(
        self,
        name: str = "threads",
        speeds: dict[str, list[float]] = SPEEDS,
        plan: Spoil | None = None,
        run: Spoil | None = None,
        rows: Callable[[Row], None] | None = None,
        capture: Spoil | None = None,
        day: int = 4,
    ) -> None:
        """A run with everything; `rows` and `capture` spoil each row and each leg's capture."""
        planned, pinned = self.plan(name, plan)
        captures = [
            self._capture(name, leg, _threads(planned, arm), day, capture)
            for leg, arm in enumerate(planned["order"], 1)
        ]
        measured = list(_rows(planned, speeds))
        for row in measured:
            if rows:
                rows(row)
        table = "\n".join(
            ["\t".join(COLUMNS), *("\t".join(str(row[key]) for key in COLUMNS) for row in measured), ""]
        )
        log = "ready\n"
        document = {
            "hio": "run/v1", "name": name, "service": SERVICE, "plan": pinned, "at": f"2026-01-0{day}T03:00:00Z",
            "scope": {"host": HOST, "model": MODEL, "fixture": "tides", "regime": "cold"},
            "arms": {arm: _arm(captures, arm, planned) for arm in planned["arms"]},
            "stage": planned["stage"], "outcome": "completed", "ended": f"2026-01-0{day}T04:00:00Z",
            "fixtures": [pin("tides", text(FIXTURE)), pin("sum", text(CHECK))],
            "approvals": [self.approval],
            "legs": [_leg(number, arm, captures[number - 1], day) for number, arm in enumerate(planned["order"], 1)],
            "raw": {"file": "rows.tsv", "sha256": sha(table), "format": "tsv", "rows": len(measured), "arm": "arm",
                    "leg": "leg", "phase": "phase", "status": "status"},
            "columns": COLUMNS,
            "samples": {"file": "samples.tsv", "sha256": sha("none\n"), "period_s": 0.5, "count": 9, "longest_gap_s": 0.5},
            "commands": [{"argv": ["llama-server"], "exit": "0"}],
            "logs": [{"file": "server.log", "sha256": sha(log)}],
        }  # fmt: skip
        if run:
            run(document)
        folder = f"{ROOM}/runs/{name}"
        write(self.root, {f"{folder}/run.yaml": text(document), f"{folder}/rows.tsv": table,
                          f"{folder}/server.log": log, f"{folder}/samples.tsv": "none\n"})  # fmt: skip

    def _capture(self, run: str, leg: int, threads: str, day: int, spoil: Spoil | None) -> str:
        known = {"how": "hash"}
        document: dict[str, Any] = {
            "hio": "capture/v1", "name": f"{run}-{leg}", "service": SERVICE, "at": f"2026-01-0{day}T03:{leg:02}:30Z",
            "by": "hio", "host": {"how": "proc", "id": HOST},
            "processes": {"server": {
                "pid": 100 + leg, "family": "llama-server", "build": "b1",
                "started": {"how": "proc", "ticks": 1000 * day + leg},
                "executable": {"path": "/opt/engine/llama-server", "sha256": EXECUTABLE, **known},
                "libraries": {"libggml.so": {"path": "/opt/engine/libggml.so", "sha256": LIBRARY, **known}},
                "artifacts": {"model": {"path": "/srv/model.gguf", "sha256": MODEL, **known}},
                "argv": {"how": "proc", "value": [["/opt/engine/llama-server"], ["--threads", threads],
                                                  ["--port", "8080"]]},
                "environ": {"how": "proc"}, "threads": {"how": "unknown"}, "memory": {"how": "unknown"},
            }},
        }  # fmt: skip
        if spoil:
            spoil(document)
        write(self.root, {f"{ROOM}/runs/{run}/captures/{run}-{leg}.yaml": text(document)})
        return pin(f"{run}-{leg}", text(document))

    @property
    def repo(self) -> Repo:
        return load(Folder(self.root))

    def verdict(self, name: str = "threads", metric: str | None = None) -> Verdict:
        """What a run says."""
        repo = self.repo
        item = repo.find("run/v1", name, SERVICE)
        assert item is not None and item.model is not None, item and item.refused
        return verdict(item, View(repo), metric)


def _threads(plan: dict[str, Any], arm: str) -> str:
    delta: dict[str, str] = plan["arms"][arm].get("set", {})
    return delta.get("server.threads", "1")


def _arm(captures: Sequence[str], name: str, plan: dict[str, Any]) -> dict[str, Any]:
    mine = [capture for capture, arm in zip(captures, plan["order"], strict=True) if arm == name]
    delta = plan["arms"][name].get("set")
    return {"stack": BASE, **({"set": delta} if delta else {}), "captures": mine}


def _leg(number: int, arm: str, capture: str, day: int) -> dict[str, Any]:
    at = f"2026-01-0{day}T03:{number:02}"
    return {
        "leg": number,
        "place": number,
        "arm": arm,
        "started": f"{at}:00Z",
        "ended": f"{at}:50Z",
        "capture": capture,
    }


def _rows(plan: dict[str, Any], speeds: dict[str, list[float]]) -> Sequence[Row]:
    rows, left = [], {arm: list(values) for arm, values in speeds.items()}
    for leg, arm in enumerate(plan["order"], 1):
        speed = left[arm].pop(0)
        for request, phase in enumerate(("check", "warm-up", "measured", "measured"), 1):
            name = "sum" if phase == "check" else "tides"
            rows.append({
                "arm": arm, "leg": leg, "phase": phase, "status": "ok", "request": request, "fixture": name,
                "expected": "pass" if phase == "check" else "-", "prompt_sha256": sha(name), "content_sha256": sha(f"{name}!"),
                "evaluated": 5, "cached": 0, "generated": 8, "drafted": "none", "accepted": "none",
                "decode_tps": round(speed + 0.1 * (-1) ** request, 4), "ttft_ms": round(1000 / speed, 4),
            })  # fmt: skip
    return rows


def text(document: dict[str, Any]) -> str:
    """A document as hio writes it."""
    return dump(document).decode()


def whole(root: Path) -> Experiment:
    """An experiment that meets every condition."""
    experiment = Experiment(root)
    experiment.noise()
    experiment.run()
    return experiment


__all__ = ["ENGINE", "HELP", "Experiment", "whole"]
