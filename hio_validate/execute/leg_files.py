"""What stands in the folder of a leg: names of its files, its record, and what is left of one that died.

Invariant: every line that the client wrote whole is kept, whoever died.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORD = "leg.json"
CAPTURE = "capture.yaml"
EVENTS = "events.jsonl"
LOG = "server.log"
ANSWERS = "requests.jsonl"
BENCH = "bench.jsonl"
OF_TASKS = "tasks-"
"""What the names of files begin with that come of asking a task set."""
UNFINISHED = "it did not come to its end: whoever ran it died"

Record = dict[str, Any]


def unfinished(number: int, place: int, arm: str, at: str, why: str = UNFINISHED) -> Record:
    """The record of a leg that began and did nothing yet; why it does not count if that stays so."""
    return {
        "leg": number, "place": place, "arm": arm, "started": at, "ended": at, "invalid": [why], "startup_s": None,
        "exit": None, "capture": None, "contradicted": False, "rows": [], "commands": [],
    }  # fmt: skip


def records(folder: Path) -> list[Record]:
    """The records of all legs of a job that began, by number, with what is left of those that did not come to an end."""
    found = [
        _salvaged(json.loads(each.read_text()), each.parent) for each in (folder / "legs").glob(f"*/{RECORD}")
    ]
    return sorted(found, key=lambda record: int(record["leg"]))


def _salvaged(record: Record, here: Path) -> Record:
    """What a leg whose supervisor died left behind: the answers so far, and the log of its process."""
    if record["invalid"] != [UNFINISHED]:
        return record
    log = kept(here / LOG, here)
    command = {"argv": record["argv"], "exit": "not known", "stdout": log, "stderr": log}
    return record | {"rows": list(rows_of(here / ANSWERS)), "commands": [command] if log else []}


def kept(file: Path, here: Path, begin: int = 0) -> str | None:
    """The name under which a file's bytes from `begin` on are kept in the folder `here`, compressed; None where it has none."""
    raw = file.read_bytes()[begin:] if file.exists() else b""
    if not raw:
        return None
    name = f"{file.name}.gz"
    (here / name).write_bytes(gzip.compress(raw, mtime=0))
    return name


def rows_of(answers: Path) -> Iterator[Record]:
    """Every whole line that the client wrote; the last one may be torn where it was ended."""
    for line in answers.read_text().split("\n") if answers.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue
