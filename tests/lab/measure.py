"""Measures two recorded stacks against each other on the real engine, and records the run as it happened.

    python -m tests.lab.measure base threads-2 --name 2026-11-29-threads --order ABBABAAB

Every leg is a process of its own, started from its stack, asked one fixed question with a cold cache, and
ended. The rows are written as measured; nothing is edited or left out. hio did not run this, so the run is
`imported` and never rises above DRAFT.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hio_validate.history import Folder
from hio_validate.recording import modeline
from hio_validate.repo import Repo, load
from hio_validate.source import digest_of
from hio_validate.source.dump import Row, dump
from tests.lab.serving import ROOT, SERVICE, Server, command, serving

FIXTURE = "explain-the-tides-128"
REQUEST = {
    "prompt": "Explain to a curious child, step by step, why the sea has tides.",
    "n_predict": 128, "temperature": 0.0, "seed": 1, "cache_prompt": False, "ignore_eos": True,
}  # fmt: skip
COLUMNS: dict[str, dict[str, str]] = {
    "leg": {"unit": "1"},
    "arm": {"unit": "text"},
    "started": {"unit": "text", "about": "start of the leg's process, UTC"},
    "decode_tps": {"unit": "token/s", "better": "higher", "about": "predicted_per_second of the answer"},
    "prefill_tps": {
        "unit": "token/s",
        "better": "higher",
        "about": "prompt_per_second; a short prompt, no long prefill",
    },
    "wall_s": {"unit": "s", "better": "lower", "about": "the whole request, seen by the client"},
    "evaluated": {"unit": "1", "about": "prompt tokens evaluated"},
    "cached": {"unit": "1", "about": "prompt tokens taken from the cache"},
    "generated": {"unit": "1", "about": "tokens generated"},
    "content_sha256": {"unit": "text", "about": "SHA-256 of the answer's text"},
}


def main() -> None:
    """Run the legs in the order given and write the run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", help="stack of the arm A")
    parser.add_argument("b", help="stack of the arm B")
    parser.add_argument("--name", required=True)
    parser.add_argument("--order", default="ABBA")
    asked = parser.parse_args()
    arms = {"A": asked.a, "B": asked.b}
    began = datetime.now(UTC)
    folder = ROOT / "manifests/services" / SERVICE / "runs" / asked.name
    folder.mkdir(parents=True)
    rows, captures = [], {}
    for leg, arm in enumerate(asked.order, 1):
        stack = arms[arm]
        capture = None if arm in captures else f"{asked.name}-{stack}"
        rows.append(_leg(leg, stack, capture))
        captures.setdefault(arm, capture)
        print("\t".join(str(value) for value in rows[-1].values()), flush=True)
    lines = ["\t".join(COLUMNS), *("\t".join(str(row[name]) for name in COLUMNS) for row in rows)]
    (folder / "rows.tsv").write_text("\n".join(lines) + "\n")
    _record(folder, asked.name, began, {arms[arm]: name for arm, name in captures.items() if name}, len(rows))


def _leg(leg: int, stack: str, capture: str | None) -> dict[str, Any]:
    argv, port = command(stack)
    with (
        tempfile.TemporaryDirectory() as scratch,
        serving(argv, port, Path(scratch) / "server.log") as server,
    ):
        if capture:
            _capture(server, stack, capture)
        started = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        clock = time.perf_counter()
        answer = _ask(port)
        wall = time.perf_counter() - clock
    timings = answer["timings"]
    return {
        "leg": leg,
        "arm": stack,
        "started": started,
        "decode_tps": round(timings["predicted_per_second"], 4),
        "prefill_tps": round(timings["prompt_per_second"], 4),
        "wall_s": round(wall, 4),
        "evaluated": timings["prompt_n"],
        "cached": timings["cache_n"],
        "generated": timings["predicted_n"],
        "content_sha256": hashlib.sha256(answer["content"].encode()).hexdigest(),
    }


def _ask(port: int) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion",
        json.dumps(REQUEST).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def _capture(server: Server, stack: str, name: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "hio_validate", "capture", "--pid", str(server.pid), "--service", SERVICE,
         "--stack", stack, "--name", name, "--log", str(server.log), "--repo", str(ROOT)],
        check=True,
    )  # fmt: skip


def _record(folder: Path, name: str, began: datetime, captures: dict[str, str], rows: int) -> None:
    repo = load(Folder(ROOT))
    seen = [repo.find("capture/v1", capture, SERVICE) for capture in captures.values()]
    data = {
        "hio": "run/v1",
        "name": name,
        "service": SERVICE,
        "imported": True,
        "question": f"which of {' and '.join(captures)} decodes faster on this host, a process per leg?",
        "at": f"{began:%Y-%m-%dT%H:%M:%SZ}",
        "scope": {
            "host": seen[0].model.host.id,
            "model": seen[0].model.processes["server"].artifacts["model"].sha256,
            "fixture": FIXTURE,
            "regime": "cold cache, one request, one client",
        },
        "arms": {stack: {"stack": _pin(repo, "stack/v1", stack), "captures": [_pin(repo, "capture/v1", capture)]}
                 for stack, capture in captures.items()},
        "raw": Row({"file": "rows.tsv", "sha256": digest_of((folder / "rows.tsv").read_bytes())[7:],
                    "format": "tsv", "rows": rows, "arm": "arm"}),
        "columns": {column: Row(meaning) for column, meaning in COLUMNS.items()},
        "unknown": ["load by others", "temperature", "A-A noise of this host", "quality", "server logs"],
    }  # fmt: skip
    file = f"manifests/services/{SERVICE}/runs/{name}/run.yaml"
    (folder / "run.yaml").write_bytes(dump(data, head=modeline("run", file)))


def _pin(repo: Repo, kind: str, name: str) -> str:
    return f"{name}@{repo.find(kind, name, SERVICE).document.digest}"


if __name__ == "__main__":
    main()
