"""Rows against receipts: what the client writes is accepted, whatever else stands there is told or refused, never a crash."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from re import sub
from shutil import copytree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.arrivals import UnreadableReceipts, client_metrics, json_lines, of_event
from hio_validate.evidence.outcome import Outcome, Tier
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.small_repo import sha

OWN = Path(__file__).parents[2]

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
TIMES = st.lists(st.integers(1, 10**12), max_size=6).map(sorted)


@given(TIMES, st.integers(0, 10**9), st.integers(1, 10**13), st.integers(0, 10**6))
def test_a_kept_event_gives_again_what_the_client_said(
    at: list[int], sent: int, end: int, generated: int
) -> None:
    event = {"sent_ns": sent, "end_ns": end, "pieces": [[time, "content", 1] for time in at]}
    kept = json.loads(json.dumps(event))
    assert of_event(kept, generated) == client_metrics(sent, at, end, generated)


@given(st.dictionaries(st.sampled_from(["sent_ns", "end_ns", "pieces", "leg"]), JSON), st.integers(0, 9))
def test_an_event_that_is_none_is_refused_by_name(event: dict[str, Any], generated: int) -> None:
    with suppress(LookupError, TypeError, ValueError, ArithmeticError):
        assert "wall_s" in of_event(event, generated)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_receipts_are_refused(content: bytes) -> None:
    with pytest.raises(UnreadableReceipts):
        list(json_lines(content))
    with pytest.raises(UnreadableReceipts):
        list(json_lines(gzip.compress(b'{"a": 1}\n' + content)[:-1]))


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=4))
def test_lines_come_back_as_they_were(lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert list(json_lines(gzip.compress(text.encode()))) == lines


def test_the_verdict_of_a_run_whose_rows_were_written_by_hand_is_a_draft(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for room in ("matrix", "ledger", "manifests"):
        copytree(OWN / room, root / room)
    run = root / "manifests/services/lab/gemma-270m/runs/2026-11-30-threads"
    assert _verdict(root).tier is Tier.VERDICT
    text = (run / "rows.tsv").read_text()
    faster = sub("(?m)^2\t.*measured.*\tok\t.*$", lambda line: line[0].replace("\t0\t128", "\t0\t127"), text)
    assert faster != text
    (run / "rows.tsv").write_text(faster)
    document = (run / "run.yaml").read_text()
    (run / "run.yaml").write_text(document.replace(sha(text), sha(faster)))
    found = _verdict(root)
    assert found.tier is Tier.DRAFT
    reason = next(each for each in found.reasons if each.reason == "rows-contradict-receipts")
    assert "line 9 of the rows: tpot_ms is 16.126578" in reason.sentence


def _verdict(root: Path) -> Outcome:
    view = View(load(Folder(root)))
    run = view.repo.find("run/v1", "2026-11-30-threads", "lab/gemma-270m")
    assert run is not None
    return view.verdict(run)
