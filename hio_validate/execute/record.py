"""The run that comes out of a job, as a folder of the repository: all of it appears in one rename, or nothing.

Invariants: every document is pinned by the bytes that were used, and where the repository has others by now nothing
is recorded; a request that failed has no metric, an invalid leg stays, and a run that measured nothing says so.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hio_validate import __version__
from hio_validate.execute import journal, run_rows, tasks
from hio_validate.execute import leg_files as legs
from hio_validate.execute.journal import Event
from hio_validate.execute.leg_files import Record
from hio_validate.execute.pinned import differing
from hio_validate.execute.work import Work, from_text
from hio_validate.history import Folder
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.plan import Plan
from hio_validate.observe.capture import capture
from hio_validate.recording import capture_file, modeline
from hio_validate.repo import Repo, item_of, load
from hio_validate.rules import NEWEST
from hio_validate.source import digest_of, read
from hio_validate.source.dump import Row, dump

RECORDED = "recorded.json"
"""In the job's folder: digest of the run that this job wrote, which it may write again after it was resumed."""

STAGES = (
    "start-up", "page-in", "compilation", "template-and-tokenisation", "prefill", "save", "conversion", "restore",
    "decode", "tool-time", "warm-append", "whole-request",
)  # fmt: skip
"""Of a request and its leg (contract 6.1)."""

_MEASURED_STAGES = {
    "http": {"prefill": "prefill_tps", "decode": "decode_tps", "whole-request": "wall_s"},
    "llama-bench": {"prefill": "bench_prefill_tps", "decode": "bench_decode_tps"},
}


class NotRecorded(Exception):
    """A run that the repository does not take; says why. What was measured stays in the job's folder."""


def write(folder: Path) -> Path | None:
    """Write the run of the job in `folder` into its repository; where it stands. Raises NotRecorded and OSError."""
    work = from_text((folder / "work.json").read_text())
    repo = load(Folder(Path(work.root)))
    _refuse_other_bytes(work, repo)
    place = f"manifests/services/{work.service}/runs/{work.job}"
    files = _Assembly(work, folder, repo, place).files()
    target = Path(work.root) / place
    _refuse_strangers(target, folder)
    part = target.with_name(f".{work.job}.part")
    shutil.rmtree(part, ignore_errors=True)
    for name, content in files.items():
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        with (part / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    if target.exists():
        os.rename(target, folder / f"recorded-{len(list(folder.glob('recorded-*'))) + 1}")
    os.rename(part, target)
    (folder / RECORDED).write_text(json.dumps({"digest": digest_of(files["run.yaml"])}) + "\n")
    return target


def _refuse_strangers(target: Path, folder: Path) -> None:
    """A run is written once; only what this very job wrote before it was resumed may be written again."""
    if not target.exists():
        return
    own = json.loads((folder / RECORDED).read_text())["digest"] if (folder / RECORDED).exists() else None
    there = target / "run.yaml"
    if own is None or not there.exists() or digest_of(there.read_bytes()) != own:
        raise NotRecorded(
            f"{target} is there already and was not written by this job; what was measured stays in {folder}"
        )


def _refuse_other_bytes(work: Work, repo: Repo) -> None:
    said = differing(work, repo)
    if said:
        raise NotRecorded(
            f"{said}: restore it, then record again; what was measured stays in the job's folder"
        )


class _Assembly:
    """The files of one run, by their path in its folder."""

    def __init__(self, work: Work, folder: Path, repo: Repo, place: str) -> None:
        self.work, self.folder, self.repo, self.place = work, folder, repo, place
        plan = repo.find("plan/v1", work.plan.partition("@")[0], work.service)
        assert plan is not None
        self.plan: Plan = plan.model
        self.events = journal.read(folder)
        self.legs = _all_that_began(legs.records(folder), self.events)
        self.made: dict[str, bytes] = {}
        self.captures: dict[str, Capture] = {}

    def files(self) -> dict[str, bytes]:
        for record in self.legs:
            self._leg_files(record)
        self._event_times()
        data = self._run()
        self.made["run.yaml"] = dump(data, head=modeline("run", f"{self.place}/run.yaml"))
        return self.made

    def _leg_files(self, record: Record) -> None:
        here = self.folder / "legs" / str(record["leg"])
        for command in record["commands"]:
            for name in (command.get("stdout"), command.get("stderr")):
                if name:
                    self.made[_log_of(record, name)] = (here / name).read_bytes()
        if record["capture"] and record["contradicted"]:
            # As a document it would be an error of this repository for ever; the leg that it is of does not count.
            self.made[_log_of(record, "capture.txt")] = (here / legs.CAPTURE).read_bytes()
            record["capture"] = None
        elif record["capture"]:
            self._keep_capture(record["capture"], (here / legs.CAPTURE).read_bytes())

    def _keep_capture(self, name: str, content: bytes) -> None:
        file = f"captures/{name}.yaml"
        self.made[file] = content
        model = item_of(read(content, f"{self.place}/{file}")).model
        if model is not None:
            self.captures[name] = model

    def _event_times(self) -> None:
        lines = []
        for record in self.legs:
            file = self.folder / "legs" / str(record["leg"]) / legs.EVENTS
            for line in file.read_text().splitlines() if file.exists() else ():
                lines.append(json.dumps({"leg": record["leg"], **json.loads(line)}) + "\n")
        if lines:
            self.made["events.jsonl.gz"] = gzip.compress("".join(lines).encode(), mtime=0)

    def _run(self) -> dict[str, Any]:
        work = self.work
        rows = [row for record in self.legs for row in run_rows.of_leg(record)]
        columns = run_rows.columns_of(rows, work.method)
        self.made["rows.tsv"] = run_rows.table(rows, list(columns))
        ended = _newest(self.events, "ended")
        said = {
            "hio": "run/v1",
            "name": work.job,
            "service": work.service,
            "plan": work.plan,
            "campaign": Row(work.campaign) if work.campaign else None,
            "question": self.plan.question,
            "stage": self.plan.stage,
            "at": self.legs[0]["started"] if self.legs else self._at("started", "prepared"),
            "outcome": ended.get("outcome"),
            "why": ended.get("why") if ended.get("outcome") != "completed" else None,
            "ended": ended.get("at"),
            "resumed": [each.at for each in self.events if each.event == "resumed"],
            "scope": self._scope(),
            "arms": {name: self._arm(name) for name in work.arms},
            "fixtures": list(work.fixtures),
            "approvals": [each.entry for each in work.approvals],
            "preflight": self._preflight(),
            "legs": [self._leg(record) for record in self.legs],
            "raw": Row({"file": "rows.tsv", "sha256": _sha256(self.made["rows.tsv"]), "format": "tsv", "rows": len(rows),
                        "arm": "arm", "leg": "leg", "phase": "phase", "status": "status"}),
            "columns": columns,
            "events": self._hashed("events.jsonl.gz"),
            "quality": self._quality(),
            "samples": self._samples(),
            "stages": self._stages(),
            "commands": [each for record in self.legs for each in self._commands(record)],
            "restored": self._restored(),
            "logs": [self._hashed(name) for name in sorted(self.made) if name.startswith("logs/")],
            "unknown": self._unknown(),
            "judged_by": Row({"hio": __version__, "rules": NEWEST}),
        }  # fmt: skip
        return {key: value for key, value in said.items() if value not in (None, [], {})}

    def _at(self, *events: str) -> str | None:
        return next((each.at for each in self.events if each.event in events), None)

    def _scope(self) -> Row:
        seen = [self.captures[each["capture"]] for each in self.legs if each["capture"] in self.captures]
        hosts = {each.host.id for each in seen}
        models = {
            process.artifacts["model"].sha256
            for each in seen
            for process in each.processes.values()
            if "model" in process.artifacts
        }
        regime = f"{self.work.cache} cache, one request at a time, one client"
        fixture = self.plan.fixture
        said = {
            "host": hosts.pop() if len(hosts) == 1 else None,
            "model": models.pop() if len(models) == 1 else None,
            "fixture": fixture.rpartition("/")[2] if fixture else None,
            "regime": regime
            if self.work.method == "http"
            else "llama-bench, a process for each leg, no server",
        }
        return Row({key: value for key, value in said.items() if value not in (None, "unknown")})

    def _arm(self, name: str) -> dict[str, Any]:
        """Captures of the legs that count: a leg that drifted says nothing of its arm, nor does a llama-bench of its server."""
        arm = self.work.arms[name]
        is_the_server = self.work.method == "http"
        counted = [
            each
            for each in self.legs
            if is_the_server and each["arm"] == name and not each["invalid"] and each["capture"]
        ]
        said = {
            "stack": arm.stack,
            "set": dict(arm.set),
            "captures": [self._pin(each["capture"]) for each in counted],
        }
        return {key: value for key, value in said.items() if value}

    def _pin(self, capture_name: str) -> str:
        return f"{capture_name}@{digest_of(self.made[f'captures/{capture_name}.yaml'])}"

    def _leg(self, record: Record) -> dict[str, Any]:
        said = {key: record[key] for key in ("leg", "place", "arm", "started", "ended")}
        said["capture"] = self._pin(record["capture"]) if record["capture"] else None
        said |= {key: record[key] for key in ("invalid", "startup_s", "exit")}
        return {key: value for key, value in said.items() if value not in (None, [])}

    def _commands(self, record: Record) -> Iterator[dict[str, Any]]:
        for command in record["commands"]:
            kept = {stream: self._hashed(_log_of(record, command[stream])) for stream in ("stdout", "stderr")
                    if command.get(stream)}  # fmt: skip
            yield Row({"argv": command["argv"], "exit": command["exit"], **kept})

    def _hashed(self, file: str) -> Row | None:
        content = self.made.get(file)
        return None if content is None else Row({"file": file, "sha256": _sha256(content)})

    def _quality(self) -> Row | None:
        """The answers to the task set, of every leg that was asked, the invalid ones too."""
        if self.work.tasks is None:
            return None
        text = "".join(tasks.kept(self.folder / "legs" / str(record["leg"])) for record in self.legs)
        self.made[tasks.ROWS] = text.encode()
        return Row(
            {
                "file": tasks.ROWS,
                "sha256": _sha256(text.encode()),
                "rows": text.count("\n"),
                "tasks": self.work.tasks.pin,
            }
        )

    def _samples(self) -> Row | None:
        """All legs' samples in one table, the leg in front. Written by the watch of each leg."""
        lines: list[str] = []
        for record in self.legs:
            file = self.folder / "legs" / str(record["leg"]) / "samples.tsv"
            header, *rows = file.read_text().splitlines() if file.exists() else [""]
            lines += [f"leg\t{header}"] if header and not lines else []
            lines += [f"{record['leg']}\t{row}" for row in rows]
        if len(lines) < 2:
            return None
        self.made["samples.tsv"] = ("\n".join(lines) + "\n").encode()
        gaps = [record.get("longest_gap_s", 0.0) for record in self.legs]
        period = self.work.ceilings.sample_s
        kept = {"period_s": period, "count": len(lines) - 1, "longest_gap_s": max(gaps)}
        return Row({"file": "samples.tsv", "sha256": _sha256(self.made["samples.tsv"]), **kept})

    def _stages(self) -> dict[str, str]:
        measured = _MEASURED_STAGES[self.work.method]
        own = {"start-up": "startup_s of each leg"} if self.work.method == "http" else {}
        return {stage: own.get(stage) or measured.get(stage, "unknown") for stage in STAGES}

    def _preflight(self) -> dict[str, Any] | None:
        said = _json(self.folder / "preflight.json")
        live = _json(self.folder / "before.json")
        if live and said:
            name = self._observed("live", live["process"], None)
            said["live"] = self._pin(name)
        return {key: value for key, value in said.items() if value not in (None, [], {})} if said else None

    def _restored(self) -> dict[str, Any] | None:
        said = _json(self.folder / "restored.json")
        if not said:
            return None
        stack = said["stack"]
        process = said.get("process")
        pin = self._pin(self._observed("restored", process, stack.partition("@")[0])) if process else None
        found = {"stack": stack, "capture": pin, "checks": said["checks"], "proven": said["proven"]}
        return {key: value for key, value in found.items() if value is not None}

    def _observed(self, what: str, process: dict[str, Any], stack: str | None) -> str:
        """A capture of the service itself, beside those of the legs."""
        name = f"{self.work.job}-{what}"
        role = next(iter(self.work.arms.values())).role
        document = capture(
            name,
            {role: CapturedProcess.model_validate(process)},
            service=self.work.service,
            stack=stack,
            site=self.work.service.partition("/")[0],
        )
        self._keep_capture(name, capture_file(document, f"{self.place}/captures/{name}.yaml"))
        return name

    def _unknown(self) -> list[str]:
        found = ["page cache of the files before each leg", "temperature and frequency of the processors"]
        if "samples.tsv" not in self.made:
            found.append("load by others and memory during the legs")
        unobserved = [str(each["leg"]) for each in self.legs if not each["capture"]]
        if unobserved:
            found.append(f"what the process of leg {', '.join(unobserved)} was")
        return found


def _all_that_began(records: Sequence[Record], events: Sequence[Event]) -> list[Record]:
    """The legs by number, also those that ended before they had a record: they started nothing, and their number is taken."""
    known = {record["leg"] for record in records}
    why = {each.data["number"]: each.data.get("why") for each in events if each.event == "leg-ended"}
    without = [
        legs.unfinished(
            each.data["number"],
            each.data["place"],
            each.data["arm"],
            each.at,
            why.get(each.data["number"]) or legs.UNFINISHED,
        )
        for each in events
        if each.event == "leg-started" and each.data["number"] not in known
    ]
    return sorted([*records, *without], key=lambda record: int(record["leg"]))


def _log_of(record: Record, name: str) -> str:
    """Where a file of a leg stands in the run; the server's log is the log of its leg."""
    return f"logs/{record['leg']:02d}-{record['arm']}.{name.removeprefix('server.')}"


def _sha256(content: bytes) -> str:
    return digest_of(content).removeprefix("sha256:")


def _newest(events: Sequence[Event], name: str) -> Mapping[str, Any]:
    return next(({"at": each.at, **each.data} for each in reversed(events) if each.event == name), {})


def _json(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found
