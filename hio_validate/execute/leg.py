"""One leg: an arm's process started, checked, measured and ended (contract 5.5-5.7, 6.1-6.6).

Invariants: nothing is asked before the process is proven to be what the arm says; what went wrong is a reason in
the leg's record, and the record is on disk from the first moment, so that a leg that dies is kept, too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hio_validate.command import Command
from hio_validate.execute import bench, expected, ready, tasks
from hio_validate.execute.client import KEY_VARIABLE, OK, Errand
from hio_validate.execute.journal import now
from hio_validate.execute.leg_files import (
    ANSWERS,
    BENCH,
    CAPTURE,
    EVENTS,
    LOG,
    OF_TASKS,
    RECORD,
    Record,
    kept,
    records,
    rows_of,
    unfinished,
)
from hio_validate.execute.secrets import Unresolvable, key_of, revealed
from hio_validate.execute.watch import Abort, Child, Watch
from hio_validate.execute.work import ArmWork, Question, Work
from hio_validate.history import Folder
from hio_validate.models.capture import Capture
from hio_validate.observe.asked import Asked
from hio_validate.observe.capture import capture
from hio_validate.observe.hashing import sha256_of
from hio_validate.observe.recognise import recognised_process
from hio_validate.observe.refusal import Unobservable
from hio_validate.recording import capture_file
from hio_validate.repo import load
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.request import dialect_of


def run(work: Work, place: int, number: int, watch: Watch, folder: Path) -> Record:
    """Run the leg at a place (from 1) of the plan's order, as leg `number` of the job in `folder`; its record, which is JSON.

    Files stand in `legs/<number>/`; a leg that raises has its record there. Raises Abort.
    """
    leg = _Leg(work, place, number, watch, folder)
    try:
        leg.measure()
    except (Unobservable, Unresolvable, expected.Repinned) as error:
        leg.invalid.append(leg.because(str(error)))
        raise Abort("failed", leg.invalid[-1]) from None
    except Abort as abort:
        leg.invalid.append(leg.because(abort.why) if abort.outcome == "failed" else abort.why)
        raise Abort(abort.outcome, leg.invalid[-1], abort.resumable) from None
    except BaseException as error:
        leg.invalid.append(f"hio itself failed ({type(error).__name__}: {error})")
        raise
    finally:
        leg.close()
    return leg.record


@dataclass
class _Kept:
    """A server that stays between legs of its arm (plan: restart never)."""

    arm: str
    child: Child
    log: Path


_KEPT: dict[Path, _Kept] = {}
"""Job's folder -> its server; there is one supervisor a process, so one entry at most."""


class _Leg:
    def __init__(self, work: Work, place: int, number: int, watch: Watch, folder: Path) -> None:
        self.work, self.place, self.number, self.watch, self.folder = work, place, number, watch, folder
        self.name = work.order[place - 1]
        self.arm: ArmWork = work.arms[self.name]
        self.here = folder / "legs" / str(number)
        self.here.mkdir(parents=True, exist_ok=True)
        self.log = self.here / LOG
        self.log_from = 0
        self.invalid: list[str] = []
        self.server: Child | None = None
        self.began = time.monotonic()
        self.record: Record = {
            **unfinished(number, place, self.name, now()),
            "made_of": {},
            "program": self.arm.command.program,
            "argv": self.arm.command.argv,
        }
        self._save()

    # -- measuring ----------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Start, check, ask; what is wrong with a process ends the leg before the first request. Raises Abort."""
        repo = load(_Manifests(Path(self.work.root)))
        settings = Settings(repo)
        stack = expected.pinned_stack(self.arm, repo, self.work.service)
        if self.is_bench:
            self._bench(settings)
            return
        server = self._started_server()
        self._await_ready(server)
        seen = self._captured(server, settings, self.work.port)
        ready.refuse_wrong_model(
            seen.processes[self.arm.role], expected.asked(stack, settings), self.arm.role
        )
        self.invalid += expected.drift(seen, stack, self.arm, settings)
        contradicted = list(expected.contradicted(seen, self.arm, settings))
        self.record["contradicted"] = bool(contradicted)
        self.invalid += contradicted
        self.invalid += expected.changed_bytes(self.record, self._earlier())
        if not self.invalid:
            self._ask(server)
            self._ask_tasks(server)
            ready.alone(server, self.work.port)

    def _started_server(self) -> Child:
        kept = _KEPT.pop(self.folder, None)
        if kept and kept.arm == self.name:
            return self._kept_server(kept)
        if kept:
            self.watch.end(kept.child)
        ready.refuse_occupied(self.work.port)
        self.record["started"], self.began = now(), time.monotonic()
        self.server = self.watch.start(
            "server", revealed(self.arm.command, self.work.secrets), self.log, self.log
        )
        return self.server

    def _kept_server(self, kept: _Kept) -> Child:
        """The server of the leg before; one that ended meanwhile is not quietly replaced. Raises Abort."""
        self.server, self.log = kept.child, kept.log
        self.log_from = kept.log.stat().st_size
        if kept.child.has_ended:
            raise Abort(
                "failed",
                f"the server that stays between legs {self.watch.told(kept.child)} before leg {self.number} began; "
                f"its log ends: {_last_words(kept.log)}",
            )
        return kept.child

    def _await_ready(self, server: Child) -> None:
        self.watch.until(
            partial(ready.is_ready, server, self.work.port),
            self.work.ceilings.start_s,
            f"the server of leg {self.number} ({self.name}) was ready",
            needs=(server,),
        )
        if not self.log_from:
            self.record["startup_s"] = round(time.monotonic() - self.began, 3)

    def _captured(self, process: Child, settings: Settings, port: int | None) -> Capture:
        """What the process is, kept beside the leg. Raises Unobservable."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if port else None
        seen = recognised_process(
            process.pid, settings, family=self.arm.family if port else None, port=port, log=text,
            progress=lambda *_: self.watch.tick(),
        )  # fmt: skip
        name = f"{self.work.job}-{self.number:02d}"
        document = capture(
            name,
            {self.arm.role: seen.process},
            service=self.work.service,
            stack=None if self.arm.set or not port else self.arm.stack.partition("@")[0],
            site=self.work.service.partition("/")[0],
        )
        file = f"manifests/services/{self.work.service}/runs/{self.work.job}/captures/{name}.yaml"
        (self.here / CAPTURE).write_bytes(capture_file(document, file))
        self.record |= {"capture": name, "made_of": expected.identity(seen.process)}
        return document

    def _ask(self, server: Child) -> None:
        """Let the client ask everything, and judge what it brings back. Raises Abort."""
        answers = self.here / ANSWERS
        try:
            self._send(server, self.work.questions, "every request was answered")
        finally:
            self.record["rows"] = list(rows_of(answers))
        self.invalid += _faults(self.record["rows"], self.work)

    def _ask_tasks(self, server: Child) -> None:
        """Ask the planned task set, after all that is measured; a wrong answer is no fault of the leg. Raises Abort."""
        if self.work.tasks is None or self.invalid or not tasks.is_asked(self.work, self.place):
            return
        what = f"the {len(self.work.tasks.questions)} items of the task set were answered"
        try:
            self._send(server, self.work.tasks.questions, what, OF_TASKS)
        finally:
            said = list(rows_of(self.here / f"{OF_TASKS}{ANSWERS}"))
            rows = list(tasks.rows(self.work.tasks, said, self.number, self.name))
            tasks.keep(rows, self.here)
            self.record["quality"] = tasks.counts(rows)

    def _send(self, server: Child, asked: tuple[Question, ...], what: str, prefix: str = "") -> None:
        """One client with its questions, as long as the leg may still last. Raises Abort."""
        events, answers, complaints, errand = (
            self.here / f"{prefix}{name}" for name in (EVENTS, ANSWERS, "client.log", "errand.json")
        )
        left = max(1.0, self.work.ceilings.leg_s - (time.monotonic() - self.began))
        host = "127.0.0.1" if self.work.host in ("0.0.0.0", "::") else self.work.host
        means_none = dialect_of(self.arm.family).means_none(self.arm.command.arguments)
        sent = Errand(host, self.work.port, str(events), left, asked, means_none)
        errand.write_text(sent.as_text())
        key = key_of(self.arm.command, self.work.secrets)
        more = {KEY_VARIABLE: key} if key else None
        client = self.watch.start("client", _client(errand), answers, complaints, more)
        try:
            code = self.watch.exit_of(client, left, what, needs=(server,))
        finally:
            self.watch.end(client)
        argv = ["python", "-m", "hio_validate.execute.client", errand.name]
        answered = None if prefix else kept(answers, self.here)  # the answers to tasks are rows of the run
        self._note_command(argv, str(code), stdout=answered, stderr=kept(complaints, self.here))
        if code not in (0, 1):
            self.invalid.append(f"the client ended with {code}: {_last_words(complaints)}")

    def _bench(self, settings: Settings) -> None:
        """One process of llama-bench is one leg. Raises Abort."""
        command = self.arm.command
        self._hash_ahead([command.program, *bench.files_of(command)])
        out = self.here / BENCH
        self.record["started"], self.began = now(), time.monotonic()
        self.server = process = self.watch.start(
            "llama-bench", revealed(command, self.work.secrets), out, self.log
        )
        self.watch.until(
            lambda: bench.has_mapped(process.pid, command) or process.has_ended,
            self.work.ceilings.start_s,
            "llama-bench had loaded its model",
        )
        self._observe_bench(process, settings)
        left = max(1.0, self.work.ceilings.leg_s - (time.monotonic() - self.began))
        code = self.watch.exit_of(process, left, "llama-bench had measured everything")
        if code:
            self.invalid.append(f"llama-bench ended with {code}: {_last_words(self.log)}")
        self._read_bench(out.read_text(errors="replace"))

    def _observe_bench(self, process: Child, settings: Settings) -> None:
        """Take its capture while it measures; one that is over too soon is unobserved and does not count."""
        try:
            seen = self._captured(process, settings, None)
        except Unobservable as error:
            self.invalid.append(f"llama-bench was not observed, ask it for more: {error}")
            return
        self.invalid += expected.arguments(seen.processes[self.arm.role], self.arm)
        self.invalid += expected.changed_bytes(self.record, self._earlier())

    def _read_bench(self, answer: str) -> None:
        try:
            self.record["rows"] = bench.rows(answer, self.record["started"])
            self.invalid += bench.contradictions(answer, self.arm.command)
        except (ValueError, KeyError, TypeError) as error:
            self.invalid.append(f"the answer of llama-bench cannot be read: {error}")
        if not self.record["rows"] and not self.invalid:
            self.invalid.append("llama-bench measured nothing")

    def _hash_ahead(self, files: list[str]) -> None:
        """Hash what will be mapped before anything is measured; the capture then finds it in the cache."""
        asked = Asked()
        for each in files:
            with open(each, "rb") as file:
                sha256_of(file, cache=asked.hashes, progress=lambda *_: self.watch.tick())
        asked.hashes.save()

    def _earlier(self) -> list[Record]:
        return [found for found in records(self.folder) if found["leg"] < self.number]

    def because(self, why: str) -> str:
        """Why the leg failed; a process that died by itself is why, whatever was noticed first.

        A server has no reason to end, whatever its code; a benchmark that ended with 0 has done its work.
        """
        died = self.server and self.watch.died(self.server)
        if not self.server or not died or died in why or (self.is_bench and self.server.code == 0):
            return why
        return f"{'' if self.is_bench else 'the '}{self.server.role} {died}: {why}"

    @property
    def is_bench(self) -> bool:
        return self.work.method == "llama-bench"

    # -- the end ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the process unless it stays for the next leg, and write the record for good."""
        self.record["ended"] = now()
        try:
            if self.server is not None and not self._keeps(self.server):
                self.record["exit"] = self.watch.end(self.server)
        finally:
            self._keep_output()
            self.invalid += [each for each in self.watch.invalid if each not in self.invalid]
            self.record |= {"invalid": self.invalid, "longest_gap_s": round(self.watch.longest_gap_s, 3)}
            self._save()

    def _keeps(self, server: Child) -> bool:
        next_arm = self.work.order[self.place] if self.place < len(self.work.order) else None
        stays = (
            self.work.restart == "never" and next_arm == self.name and not self.invalid
            and not server.has_ended and not self.is_bench
        )  # fmt: skip
        if stays:
            _KEPT[self.folder] = _Kept(self.name, server, self.log)
            self.record["exit"] = "serves the next leg"
        return stays

    def _keep_output(self) -> None:
        """Keep what the measured process wrote, compressed."""
        if self.server is None:
            return
        log = kept(self.log, self.here, self.log_from)
        out = kept(self.here / BENCH, self.here) if self.is_bench else log
        exit_ = str(self.record["exit"] or "not known")
        self._note_command(self.arm.command.argv, exit_, stdout=out, stderr=log)

    def _note_command(self, argv: list[str], exit_: str, **output: str | None) -> None:
        self.record["commands"].append({"argv": argv, "exit": exit_, **output})

    def _save(self) -> None:
        part = self.here / f"{RECORD}.part"
        with part.open("w") as file:
            file.write(json.dumps(self.record, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.here / RECORD)


class _Manifests(Folder):
    """The documents that say what is measured; nobody reads runs and ledgers between two legs."""

    def paths(self) -> list[str]:
        unread = ("/runs/", "/captures/", "/plans/")
        return [
            path
            for path in super().paths()
            if path.startswith("manifests/") and not any(room in path for room in unread)
        ]


def _client(errand: Path) -> Command:
    """The client with this very package, whatever folder it is started in."""
    package = str(Path(__file__).parents[2])
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": package,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return Command(sys.executable, ("-m", "hio_validate.execute.client", str(errand)), environment)


def _last_words(log: Path) -> str:
    """The last line of a log, without what would break a line."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return " ".join(next((each for each in reversed(lines) if each.strip()), "it said nothing").split())


def _faults(rows: list[Record], work: Work) -> Iterator[str]:
    """Why requests make a leg not count (contract 6.2)."""
    for row in rows:
        which = f"request {row['request']} ({row['phase']})"
        if row["status"] != OK:
            yield f"{which} failed: {row['status']}"
        elif work.cache == "cold" and row.get("cached"):
            yield f"{which} took {row['cached']} prompt tokens from a cache, and the plan says cold"
        elif work.cache == "warm" and row["phase"] == "measured" and row.get("cached") == 0:
            yield f"{which} took no prompt token from a cache, and the plan says warm"
    if len(rows) < len(work.questions) and all(row["status"] == OK for row in rows):
        yield f"{len(rows)} of {len(work.questions)} requests were answered"
