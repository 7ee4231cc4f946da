"""What is known before a trial: earlier runs with their failures, who listens, and the host's own figures."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from hio_validate.execute.preflight import host_readings, last_runs, preflight, serving_on
from hio_validate.history import Folder
from hio_validate.models import reader
from hio_validate.repo import load
from tests.execute.experiment import NOW, ROOM, SERVICE, documents, stack, yaml
from tests.small_repo import pin, sha, write

ROWS = "arm\n"


def run(name: str, at: str, **more: Any) -> dict[str, str]:
    said = {"hio": "run/v1", "name": name, "service": SERVICE, "at": at, "arms": {"one": {"stack": pin("base", yaml(stack()))}},
            "raw": {"file": "rows.tsv", "sha256": sha(ROWS), "format": "tsv", "rows": 0, "arm": "arm"},
            "columns": {"arm": {"unit": "text"}}}  # fmt: skip
    return {f"{ROOM}/runs/{name}/run.yaml": yaml(said | more), f"{ROOM}/runs/{name}/rows.tsv": ROWS}


def test_the_newest_runs_are_told_with_what_failed_in_them(tmp_path: Path) -> None:
    leg = {
        "leg": 2,
        "place": 2,
        "arm": "one",
        "started": NOW,
        "ended": NOW,
        "invalid": ["request 3 failed: HTTP 503"],
    }
    files = (
        run("old", "2026-01-01T00:00:00Z")
        | run("r1", "2026-02-01T00:00:00Z")
        | run("r2", "2026-03-01T00:00:00Z")
    )
    files |= run("new", "2026-04-01T00:00:00Z", outcome="aborted", why="too little memory", legs=[leg])
    told = list(last_runs(load(Folder(write(tmp_path, {**documents(), **files}))), SERVICE))
    assert told[0] == (
        "new on 2026-04-01: aborted: too little memory; leg 2 (one) does not count: request 3 failed: HTTP 503"
    )
    assert [each.split()[0] for each in told] == ["new", "r2", "r1"]


def test_who_listens_is_named_by_its_process_and_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert serving_on(SERVICE, port).startswith(f"process {os.getpid()}, /")
    assert serving_on(SERVICE, port) == f"nobody listens on port {port}"


def test_it_is_kept_as_the_run_has_it(tmp_path: Path) -> None:
    found = preflight(
        load(Folder(write(tmp_path, documents()))), SERVICE, None, NOW, ["job a runs"], ["job b is open"]
    )
    data = {key: value for key, value in found.as_data().items() if value}
    fields = reader("run/v1")
    whole = {"hio": "run/v1", "name": "r", "service": SERVICE, "arms": {"one": {"stack": pin("base", "x")}},
             "raw": {"file": "rows.tsv", "sha256": sha(ROWS), "format": "tsv", "rows": 0, "arm": "arm"},
             "columns": {"arm": {"unit": "text"}}, "preflight": data}  # fmt: skip
    kept = fields.validate_python(whole).preflight
    assert (kept.active[0], kept.pending, kept.at) == ("job a runs", ["job b is open"], NOW)
    assert host_readings()["memory"] > host_readings()["memory_available"] > 0
