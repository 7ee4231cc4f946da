"""Each probe against a real small server: it passes where the server is sound, and fails for exactly its own defect."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.probes import PROBES, Judged, judged
from hio_validate.execute.qualify.run import NotTheStack, Probed, probed
from hio_validate.execute.verify import verify
from hio_validate.models.qualification import Claim
from tests.execute.experiment import SERVICE, yaml
from tests.execute.place import ENGINE, Place, place, running
from tests.small_repo import sha


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """A place whose program is on record."""
    at = place(tmp_path)
    with running(at.command(), at.port) as pid:
        at.record(pid)
    return at


def qualified(at: Place, defects: str = "", parallel: str = "2") -> Probed:
    """What the probes find at a server with some defects."""
    command = at.command(LLAMA_LIKE=defects) if defects else at.command()
    words = [*command.arguments]
    words[words.index("--parallel") + 1] = parallel
    with running(replace(command, arguments=tuple(words)), at.port) as pid:
        found = verify(at.repo, SERVICE, at.stack(), pid, port=at.port, command=command)
        process = found.process
        assert process is not None
        checks = [each for each in found.checks if each.verdict == "equal"]  # what the probes are told of it
        return probed(replace(found, checks=tuple(checks)), "127.0.0.1", at.port)


def test_a_sound_server_passes_all_of_them_and_its_rows_hold_no_text(here: Place) -> None:
    found = qualified(here)
    assert {name: each.verdict for name, each in found.probes.items()} == dict.fromkeys(PROBES, "passed")
    assert found.claim == Claim(context_per_slot=256, slots=2)
    assert found.probes["slots"].found["at-once"] is True
    assert "and then" not in json.dumps(list(found.rows))
    hashes = {"prompt_sha256", "answer_sha256"}
    words = {"probe", "request", "status", "seen_by", "check", "verdict"}
    texts = {key for row in found.rows for key, value in row.items() if isinstance(value, str)}
    assert texts == hashes | words


def test_one_slot_is_asked_in_turn(here: Place) -> None:
    found = qualified(here, parallel="1")
    assert found.probes["slots"] == Judged("passed", None, found.probes["slots"].found)
    assert found.probes["slots"].found["at-once"] is False


@pytest.mark.parametrize(
    ("defect", "probe", "says"),
    [
        ("burst", "streaming", "something buffers"),
        ("forgets", "append-reuse", "0 of "),
        ("deaf", "disconnect", "busy"),
        ("mixes", "slots", "another conversation"),
        ("small", "populated-context", "HTTP 400"),
        ("cuts", "populated-context", " of 244 "),
    ],
)
def test_each_defect_fails_its_probe(here: Place, defect: str, probe: str, says: str) -> None:
    found = qualified(here, defect)
    assert found.probes[probe].verdict == "failed"
    assert says in str(found.probes[probe].because)
    others = {"forgets": {"slots"}, "burst": {"slots"}, "mixes": {"append-reuse", "populated-context"}}.get(
        defect, set()
    )
    failed = {name for name, each in found.probes.items() if each.verdict == "failed"}
    assert failed - others == {probe}
    assert found.failed and not found.passed


def test_a_server_that_tells_nothing_leaves_open_what_it_does(here: Place) -> None:
    found = qualified(here, "silent")
    open_ = {name for name, each in found.probes.items() if each.verdict == "not-observable"}
    assert open_ == {"disconnect", "populated-context"}
    assert not found.failed and not found.passed


def test_a_server_of_another_dialect_is_not_blamed(here: Place) -> None:
    found = qualified(here, "dumb")
    assert {each.verdict for name, each in found.probes.items() if name != "identity"} == {"not-observable"}


def test_nothing_is_asked_of_a_process_that_is_not_proven(here: Place) -> None:
    (here.root / ENGINE).write_text(
        yaml({"hio": "engine/v1", "name": "b1", "family": "llama-server",
              "identity": {"kind": "native", "executable": sha("another")}})
    )  # fmt: skip
    with running(here.command(), here.port) as pid:
        found = verify(here.repo, SERVICE, here.stack(), pid, port=here.port, command=here.command())
        with pytest.raises(NotTheStack, match="executable"):
            probed(found, "127.0.0.1", here.port)


ANSWER = {"status": "ok", "sent_ms": 0.0, "first_ms": 1.0, "end_ms": 100.0, "evaluated": 100, "cached": 0,
          "generated": 4, "foreign_words": 0}  # fmt: skip


def _row(probe: str, request: str, **more: Any) -> dict[str, Any]:
    return {"probe": probe, "request": request, **ANSWER, **more}


def _streamed(count: int, every_ms: float, begin: float = 0.0) -> dict[str, Any]:
    return {"arrivals_ms": [begin + n * every_ms for n in range(count)]}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([_row("streaming", "only", **_streamed(20, 5.0))], "passed"),
        ([_row("streaming", "only", **_streamed(20, 2.4, 50.0))], "failed"),
        ([_row("streaming", "only", **_streamed(20, 0.1, 98.0))], "failed"),
        ([_row("streaming", "only", **_streamed(7, 14.0))], "not-observable"),
        ([_row("streaming", "only", arrivals_ms="none")], "not-observable"),
        ([_row("streaming", "only", status="HTTP 500")], "failed"),
        ([], "not-observable"),
        ([_row("append-reuse", "first"), _row("append-reuse", "second", cached=84)], "passed"),
        ([_row("append-reuse", "first"), _row("append-reuse", "second", cached=83)], "failed"),
        ([_row("append-reuse", "first"), _row("append-reuse", "second", cached=None)], "not-observable"),
        ([_row("append-reuse", "first")], "not-observable"),
        ([_row("disconnect", "left", asked_tokens=400, freed_ms=100.0, **_streamed(6, 10.0))], "passed"),
        ([_row("disconnect", "left", asked_tokens=400, freed_ms=3001.0, **_streamed(6, 10.0))], "failed"),
        ([_row("disconnect", "left", asked_tokens=400, freed_ms=1990.0, **_streamed(6, 10.0))], "failed"),
        ([_row("disconnect", "left", asked_tokens=400, waited_ms=8000.0, **_streamed(6, 10.0))], "failed"),
        ([_row("disconnect", "left", asked_tokens=100, freed_ms=1.0, **_streamed(6, 10.0))], "not-observable"),
        ([_row("slots", "a"), _row("slots", "b"), _row("slots", "a-again", cached=90)], "passed"),
        ([_row("slots", "a"), _row("slots", "b", cached=9), _row("slots", "a-again", cached=90)], "failed"),
        ([_row("slots", "a"), _row("slots", "b"), _row("slots", "a-again", cached=90, foreign_words=1)], "failed"),
        ([_row("slots", "a"), _row("slots", "b"), _row("slots", "a-again", cached=10)], "failed"),
        ([_row("slots", "a"), _row("slots", "b", first_ms=101.0, end_ms=150.0), _row("slots", "a-again", cached=90)],
         "failed"),
        ([_row("slots", "a"), _row("slots", "b")], "not-observable"),
        ([_row("populated-context", "full", evaluated=250, prompt_tokens=250)], "passed"),
        ([_row("populated-context", "full", evaluated=200, prompt_tokens=250)], "failed"),
        ([_row("populated-context", "full", evaluated=200, prompt_tokens=200)], "not-observable"),
        ([_row("populated-context", "full", status="no byte", silent=True)], "not-observable"),
        ([{"probe": "populated-context", "unasked": "why"}], "not-observable"),
        ([{"probe": "identity", "check": "argv", "verdict": "equal"}], "passed"),
        ([{"probe": "identity", "check": "argv", "verdict": "differs"}], "failed"),
        ([{"probe": "identity", "check": "argv", "verdict": "not observable"}], "not-observable"),
        ([{"probe": "identity", "check": "library a", "verdict": "not observable", "unrecorded": True}], "passed"),
        ([{"probe": "identity"}], "not-observable"),
    ],
)  # fmt: skip
def test_rows_are_judged_by_their_numbers(rows: list[dict[str, Any]], verdict: str) -> None:
    probe = rows[0]["probe"] if rows else "streaming"
    found = judged(probe, rows, Claim(context_per_slot=256, slots=2))
    assert found.verdict == verdict
    assert (found.because is None) == (verdict == "passed")


def test_no_context_that_is_known_is_no_claim_that_passes() -> None:
    rows = [_row("populated-context", "full", evaluated=250, prompt_tokens=250)]
    assert judged("populated-context", rows, Claim()).verdict == "not-observable"


JUNK: tuple[object, ...] = (None, "x", [1, "y"], True, -1.5)
USED = {
    "identity": ("verdict",),
    "streaming": ("status", "arrivals_ms", "sent_ms", "end_ms"),
    "append-reuse": ("status", "evaluated", "cached"),
    "disconnect": ("arrivals_ms", "freed_ms", "asked_tokens"),
    "slots": ("status", "evaluated", "cached", "first_ms", "end_ms"),
    "populated-context": ("status", "evaluated", "cached"),
}


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("junk", range(len(JUNK)))
def test_rows_of_any_shape_are_judged_and_never_passed(probe: str, junk: int) -> None:
    more = {"check": "argv", "verdict": "equal", "asked_tokens": 400, "freed_ms": 100.0, **_streamed(20, 4.9)}
    good = {
        "append-reuse": [_row(probe, "first"), _row(probe, "second", cached=90)],
        "slots": [_row(probe, "a"), _row(probe, "b"), _row(probe, "a-again", cached=90)],
        "populated-context": [_row(probe, "full", evaluated=250)],
    }.get(probe, [_row(probe, "only")])
    good = [{**more, **row} for row in good]
    claim = Claim(context_per_slot=256, slots=2)
    assert judged(probe, good, claim).verdict == "passed"
    for key in USED[probe]:
        wrong = [{**row, key: JUNK[junk]} for row in good]
        assert judged(probe, wrong, claim).verdict != "passed", key
