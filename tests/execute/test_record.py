"""The run that comes out of a job's folder: what stands in it, and when the repository does not take it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Severity
from hio_validate.execute import record
from hio_validate.execute.leg_files import UNFINISHED
from hio_validate.execute.work import Work, as_text
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.execute.experiment import JOB, PLAN_FILE, ROOM, SERVICE, documents, plan, prepared, yaml

RUN = f"{ROOM}/runs/{JOB}"


def row(request: int, phase: str, **more: Any) -> dict[str, Any]:
    said = {"request": request, "phase": phase, "fixture": "tides", "started": "2026-11-29T12:00:01Z",
            "prompt_sha256": "a" * 64, "status": "ok"}  # fmt: skip
    return said | more


GOOD = {"expected": "-", "decode_tps": 40.123456789, "prefill_tps": 200.0, "ttft_ms": 12.5, "itl_ms": 24.0,
        "tpot_ms": 24.5, "wall_s": 0.25, "evaluated": 7, "cached": 0, "generated": 8, "content_sha256": "b" * 64}  # fmt: skip

SENT_NS, GAPS_MS = 1_000_000, (12.5, 24, 24, 24, 24, 24, 24, 27.5)
"""Arrivals of eight tokens that make the times of GOOD."""
ARRIVED = {"request": 1, "sent_ns": SENT_NS, "end_ns": 250_000_000,
           "pieces": [[SENT_NS + int(sum(GAPS_MS[: n + 1]) * 1e6), "content", 3] for n in range(len(GAPS_MS))]}  # fmt: skip


def leg(number: int, arm: str, rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    said = {"leg": number, "place": number, "arm": arm, "started": f"2026-11-29T12:0{number}:00.000Z",
            "ended": f"2026-11-29T12:0{number}:30.000Z", "invalid": [], "startup_s": 1.5, "exit": "ended by hio (0)",
            "capture": None, "contradicted": False, "rows": rows, "commands": [], "made_of": {}, "program": "/bin/true", "argv": ["/bin/true"],
            "longest_gap_s": 0.6}  # fmt: skip
    return said | more


def job(
    tmp_path: Path, *legs: dict[str, Any], outcome: str = "stopped", why: str = "somebody asked for its end"
) -> Path:
    """A job's folder as its legs, its watch and its journal leave it."""
    work = prepared(tmp_path / "repo")
    assert isinstance(work, Work), work
    folder = tmp_path / "job"
    for each in legs:
        here = folder / "legs" / str(each["leg"])
        here.mkdir(parents=True)
        (here / "leg.json").write_text(json.dumps(each))
        (here / "samples.tsv").write_text("at\tavailable\n2026-11-29T12:01:00Z\t5\n2026-11-29T12:01:01Z\t6\n")
        (here / "events.jsonl").write_text(json.dumps(ARRIVED) + "\n")
    folder.mkdir(exist_ok=True)
    (folder / "work.json").write_text(as_text(work))
    journal = [{"at": "2026-11-29T12:00:00.000Z", "event": "started"},
               {"at": "2026-11-29T12:09:00.000Z", "event": "ended", "outcome": outcome, "why": why}]  # fmt: skip
    (folder / "journal.jsonl").write_text("".join(json.dumps(each) + "\n" for each in journal) + '{"torn')
    return folder


def run_of(tmp_path: Path) -> Any:
    """The run in the repository, which the validator accepts."""
    repo = load(Folder(tmp_path / "repo"))
    errors = [f"{each.location}: {each.message}" for each in engine.run(repo).of(Severity.ERROR)]
    assert errors == []
    found = repo.find("run/v1", JOB, SERVICE)
    assert found is not None
    return found.model


def cells(tmp_path: Path) -> list[dict[str, str]]:
    lines = (tmp_path / "repo" / RUN / "rows.tsv").read_text().splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]


def test_rows_samples_and_events_of_all_legs_stand_in_one_file_each(tmp_path: Path) -> None:
    folder = job(
        tmp_path, leg(1, "one", [row(1, "measured", **GOOD)]), leg(2, "two", [row(1, "measured", **GOOD)])
    )
    assert record.write(folder) == tmp_path / "repo" / RUN
    run = run_of(tmp_path)
    assert (run.outcome, run.why, run.ended) == (
        "stopped",
        "somebody asked for its end",
        "2026-11-29T12:09:00.000Z",
    )
    assert [each["arm"] for each in cells(tmp_path)] == ["one", "two"]
    assert cells(tmp_path)[0]["decode_tps"] == "40.123457"
    assert (run.raw.leg, run.raw.phase, run.raw.status) == ("leg", "phase", "status")
    assert "drafted" not in run.columns
    assert (run.samples.count, run.samples.longest_gap_s, run.samples.period_s) == (4, 0.6, 0.5)
    samples = (tmp_path / "repo" / RUN / "samples.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in samples] == ["leg", "1", "1", "2", "2"]
    events = gzip.decompress((tmp_path / "repo" / RUN / "events.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line)["leg"] for line in events] == [1, 2]
    assert run.stages["page-in"] == "unknown"
    assert set(run.stages) == set(record.STAGES)


def test_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    def files() -> dict[str, bytes]:
        here = tmp_path / "repo" / RUN
        return {
            path.relative_to(here).as_posix(): path.read_bytes() for path in here.rglob("*") if path.is_file()
        }

    folder = job(tmp_path, leg(1, "one", [row(1, "measured", **GOOD)]))
    record.write(folder)
    first = files()
    record.write(folder)
    assert files() == first


def test_an_invalid_leg_stays_with_its_reasons(tmp_path: Path) -> None:
    folder = job(tmp_path, leg(1, "one", [], invalid=["drifted: server.threads is 3, expected 1"]), outcome="failed",
                 why="it drifted")  # fmt: skip
    record.write(folder)
    run = run_of(tmp_path)
    assert run.legs[0].invalid == ["drifted: server.threads is 3, expected 1"]
    assert (run.outcome, run.why, run.raw.rows) == ("failed", "it drifted", 0)
    assert {"decode_tps", "wall_s"} <= run.columns.keys()


def test_a_capture_that_contradicts_itself_is_kept_and_is_no_document(tmp_path: Path) -> None:
    said = "drifted: server.flash-attn is off by the log, but on by argv"
    folder = job(tmp_path, leg(1, "one", [], invalid=[said], capture=f"{JOB}-01", contradicted=True))
    (folder / "legs/1/capture.yaml").write_text("hio: capture/v1\n")
    record.write(folder)
    run = run_of(tmp_path)
    assert (run.legs[0].capture, run.legs[0].invalid) == (None, [said])
    assert [each.file for each in run.logs] == ["logs/01-one.capture.txt"]
    assert "what the process of leg 1 was" in run.unknown


def test_a_leg_whose_supervisor_died_keeps_answers_and_log(tmp_path: Path) -> None:
    folder = job(
        tmp_path, leg(1, "one", [], invalid=[UNFINISHED]), outcome="failed", why="the supervisor died"
    )
    answered = json.dumps(row(1, "measured", **GOOD))
    (folder / "legs/1/requests.jsonl").write_text(answered + "\n" + answered[:20])
    (folder / "legs/1/server.log").write_text("loaded\n")
    record.write(folder)
    run = run_of(tmp_path)
    assert (run.raw.rows, run.legs[0].invalid) == (1, [UNFINISHED])
    assert (run.commands[0].argv, run.commands[0].exit) == (["/bin/true"], "not known")
    assert gzip.decompress((tmp_path / "repo" / RUN / run.logs[0].file).read_bytes()) == b"loaded\n"


def test_a_job_without_any_leg_is_a_run_that_measured_nothing(tmp_path: Path) -> None:
    record.write(job(tmp_path, outcome="aborted", why="the approval expired"))
    run = run_of(tmp_path)
    assert (run.raw.rows, run.legs, run.at) == (0, [], "2026-11-29T12:00:00.000Z")


def test_a_failed_request_has_empty_metrics(tmp_path: Path) -> None:
    failed = row(2, "measured", status="HTTP 503: busy\tnow")
    record.write(
        job(tmp_path, leg(1, "one", [row(1, "measured", **GOOD), failed], invalid=["request 2 failed"]))
    )
    last = cells(tmp_path)[1]
    assert last["status"] == "HTTP 503: busy now"
    assert [last[name] for name in ("decode_tps", "wall_s", "evaluated")] == ["", "", ""]


def test_changed_documents_are_not_pinned(tmp_path: Path) -> None:
    folder = job(tmp_path, leg(1, "one", []))
    (tmp_path / "repo" / PLAN_FILE).write_text(yaml(plan(question="another?")))
    with pytest.raises(
        record.NotRecorded, match="the plan threads has other bytes than those that were used"
    ):
        record.write(folder)
    assert not (tmp_path / "repo" / RUN).exists()
    (tmp_path / "repo" / PLAN_FILE).write_text(documents()[PLAN_FILE])
    record.write(folder)
    assert run_of(tmp_path)


def test_a_run_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    folder = job(tmp_path, leg(1, "one", []))
    there = tmp_path / "repo" / RUN / "run.yaml"
    there.parent.mkdir(parents=True)
    there.write_text("hio: run/v1\n")
    with pytest.raises(record.NotRecorded, match="is there already"):
        record.write(folder)
    assert there.read_text() == "hio: run/v1\n"
    assert [each.name for each in there.parent.parent.iterdir()] == [JOB]


def test_a_resumed_job_writes_its_own_run_again_and_keeps_the_first(tmp_path: Path) -> None:
    folder = job(tmp_path, leg(1, "one", []), outcome="aborted", why="the host slept")
    record.write(folder)
    more = [{"at": "2026-11-29T13:00:00.000Z", "event": "resumed"},
            {"at": "2026-11-29T13:09:00.000Z", "event": "ended", "outcome": "failed", "why": "it broke"}]  # fmt: skip
    with (folder / "journal.jsonl").open("a") as file:
        file.write("\n" + "".join(json.dumps(each) + "\n" for each in more))
    record.write(folder)
    run = run_of(tmp_path)
    assert (run.outcome, run.resumed) == ("failed", ["2026-11-29T13:00:00.000Z"])
    assert "aborted" in (folder / "recorded-1/run.yaml").read_text()


def test_preflight_and_restoration_stand_in_the_run(tmp_path: Path) -> None:
    folder = job(tmp_path, leg(1, "one", []))
    (folder / "preflight.json").write_text(json.dumps({"at": "2026-11-29T11:59:00Z", "last": ["r0: failed"]}))
    work = json.loads((folder / "work.json").read_text())
    restored = {
        "stack": work["arms"]["one"]["stack"],
        "checks": {"health": "passed"},
        "proven": True,
        "process": None,
    }
    (folder / "restored.json").write_text(json.dumps(restored))
    record.write(folder)
    run = run_of(tmp_path)
    assert run.preflight.last == ["r0: failed"]
    assert (run.restored.proven, run.restored.checks) == (True, {"health": "passed"})


def test_a_leg_that_died_before_it_had_a_record_keeps_its_number(tmp_path: Path) -> None:
    folder = job(
        tmp_path, leg(1, "one", []), leg(4, "two", [], place=2), outcome="aborted", why="it was killed"
    )
    begun = [{"at": f"2026-11-29T12:0{number}:00.000Z", "event": "leg-started", "number": number, "place": 2, "arm": "two"}
             for number in (2, 3, 4)]  # fmt: skip
    told = {
        "at": "2026-11-29T12:03:00.000Z",
        "event": "leg-ended",
        "number": 3,
        "record": None,
        "why": "too hot",
    }
    with (folder / "journal.jsonl").open("a") as file:
        file.write("\n" + "".join(json.dumps(each) + "\n" for each in [*begun, told]))
    record.write(folder)
    legs = run_of(tmp_path).legs
    assert [(each.leg, each.place) for each in legs] == [(1, 1), (2, 2), (3, 2), (4, 2)]
    assert [each.invalid for each in legs] == [[], [UNFINISHED], ["too hot"], []]
