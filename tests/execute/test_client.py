"""The client against servers that answer as servers do when something is wrong; the bytes are theirs, the sockets real."""

from __future__ import annotations

import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.execute.client import prompt_sha256
from hio_validate.execute.stream import Events, MalformedStream
from hio_validate.execute.work import Question
from tests.execute.answering import END, HEAD, answering, asked, chunk, event
from tests.small_repo import sha

TIMINGS = {"cache_n": 0, "prompt_n": 3, "prompt_ms": 30.0, "prompt_per_second": 100.0,
           "predicted_n": 2, "predicted_ms": 40.0, "predicted_per_second": 50.0}  # fmt: skip
QUESTION = Question(
    "measured", "tides", "/completion", {"prompt": "[abc] Why?", "n_predict": 2}, nonce="[abc] "
)


def final(**more: Any) -> bytes:
    return event(content="", stop=True, stop_type="limit", timings={**TIMINGS, **more})


GOOD = (
    HEAD
    + chunk(event(content="Mo", stop=False))
    + chunk(event(content="on", stop=False))
    + chunk(final())
    + END
)


def test_a_good_answer_has_metrics_counts_and_arrival_times(tmp_path: Path) -> None:
    question = Question(
        "check",
        "tides",
        "/completion",
        QUESTION.body,
        contains=("MOON",),
        content_sha256=sha("Moon"),
        nonce="[abc] ",
    )
    with answering([GOOD]) as port:
        code, (record,), (times,) = asked(port, tmp_path, [question])
    assert code == 0
    assert (record["status"], record["expected"], record["finish"]) == ("ok", "pass", "limit")
    assert (record["evaluated"], record["cached"], record["generated"]) == (3, 0, 2)
    assert (record["decode_tps"], record["prefill_tps"]) == (50.0, 100.0)
    assert (record["content_sha256"], record["prompt_sha256"]) == (sha("Moon"), sha("Why?"))
    assert "drafted" not in record
    order = [
        times["connected_ns"],
        times["sent_ns"],
        times["headers_ns"],
        times["pieces"][0][0],
        times["end_ns"],
    ]
    assert order == sorted(order)
    assert [piece[1:] for piece in times["pieces"]] == [["content", 2], ["content", 2]]
    assert record["ttft_ms"] == (times["pieces"][0][0] - times["sent_ns"]) / 1e6
    assert record["wall_s"] == times["end_ns"] / 1e9


def test_drafted_and_accepted_tokens_are_counted_where_the_server_does(tmp_path: Path) -> None:
    with answering([HEAD + chunk(final(draft_n=7, draft_n_accepted=5)) + END]) as port:
        _, (record,), _ = asked(port, tmp_path, [QUESTION])
    assert (record["drafted"], record["accepted"]) == (7, 5)


def test_reasoning_and_tool_calls_are_pieces_and_only_the_answer_is_judged(tmp_path: Path) -> None:
    chat = Question(
        "check",
        "tides",
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "Why?"}]},
        contains=("why",),
    )
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}, {"reasoning_content": "why"},
                                    {"tool_calls": [{"index": 0}]}, {"content": "moon"}]  # fmt: skip
    stream = [event(choices=[{"delta": each, "finish_reason": None}]) for each in deltas]
    stream += [event(choices=[{"delta": {}, "finish_reason": "length"}]), event(choices=[], timings=TIMINGS)]
    with answering([HEAD + b"".join(map(chunk, [*stream, b"data: [DONE]\n\n"])) + END]) as port:
        _, (record,), (times,) = asked(port, tmp_path, [chat])
    assert [piece[1] for piece in times["pieces"]] == ["reasoning", "tool", "content"]
    assert (record["status"], record["expected"], record["finish"]) == ("ok", "fail", "length")


HALF = event(content="é", stop=False)
BROKEN = {
    "half an event": (HEAD + chunk(HALF[:-4]) + END, "ended early"),
    "no final event": (HEAD + chunk(HALF) + END, "ended early"),
    "half an event after the final one": (HEAD + chunk(final() + b"data: {") + END, "ended early"),
    "nothing at all": (HEAD + END, "ended early"),
    "closed inside a chunk": (HEAD + b"ff\r\ndata: {", "reset"),
    "closed before an answer": (b"", "reset"),
    "no HTTP": (b"hello\r\n\r\n", "reset"),
    "busy": (b"HTTP/1.1 503 Busy\r\nContent-Length: 7\r\n\r\nloading", "HTTP 503: loading"),
    "error event": (HEAD + chunk(event(error={"code": 500, "message": "no slot"})) + END, "error event: "),
    "error line": (HEAD + chunk(b'error: {"code": 500}\n\n') + END, "error event: "),
    "no JSON": (HEAD + chunk(b"data: {oops}\n\n") + END, "malformed stream"),
    "a list": (HEAD + chunk(b"data: [1]\n\n") + END, "malformed stream"),
    "no event stream": (HEAD + chunk(b"<html>\n\n") + END, "malformed stream"),
    "bad bytes": (HEAD + chunk(b"data: \xff\xfe\n\n") + END, "malformed stream"),
    "another shape": (HEAD + chunk(event(choices=["x"])) + END, "malformed stream"),
    "no counts": (HEAD + chunk(event(stop=True)) + END, "no counts"),
    "counts of text": (HEAD + chunk(final(prompt_n="3")) + END, "malformed stream"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_failed_request_has_a_status_and_no_metric(what: str, tmp_path: Path) -> None:
    answer, status = BROKEN[what]
    with answering([answer]) as port:
        code, records, _ = asked(port, tmp_path, [QUESTION, QUESTION])
    assert code == 1
    (record,) = records
    assert record["status"].startswith(status)
    assert record.keys() == {"request", "phase", "fixture", "started", "prompt_sha256", "status"}


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        code, (record,), _ = asked(taken.getsockname()[1], tmp_path, [QUESTION])
    assert (code, record["status"].split(":")[0]) == (1, "refused")


def test_a_reset_after_the_first_piece(tmp_path: Path) -> None:
    with answering([HEAD + chunk(HALF)], reset=True) as port:
        _, (record,), (times,) = asked(port, tmp_path, [QUESTION])
    assert record["status"].startswith("reset")
    assert len(times["pieces"]) <= 1


def test_a_server_that_falls_silent(tmp_path: Path) -> None:
    with answering([HEAD + chunk(HALF)], hold=True) as port:
        code, (record,), (times,) = asked(port, tmp_path, [QUESTION], silence_s=5.0)
    assert (code, record["status"]) == (1, "silent: no byte for 5 s")
    assert len(times["pieces"]) == 1


def test_a_rate_is_computed_from_its_counts_whichever_way_the_build_counts(tmp_path: Path) -> None:
    raw = final().replace(b'"predicted_per_second": 50.0', b'"predicted_per_second": 25.0')
    assert raw != final(), "a build that divides n - 1 tokens by the same time"
    with answering([HEAD + chunk(raw) + END]) as port:
        _, (record,), _ = asked(port, tmp_path, [QUESTION])
    assert record["decode_tps"] == 50.0


@pytest.mark.parametrize("took", [b"0.0", b"1e999", b"-1.0", b"null"])
def test_a_time_that_cannot_be_gives_no_rate(tmp_path: Path, took: bytes) -> None:
    raw = final().replace(b'"predicted_ms": 40.0', b'"predicted_ms": ' + took)
    with answering([HEAD + chunk(raw) + END]) as port:
        _, (record,), _ = asked(port, tmp_path, [QUESTION])
    assert record["status"] == "ok"
    assert "decode_tps" not in record


def test_the_hash_of_a_conversation_leaves_the_nonce_out() -> None:
    def hashed(nonce: str, text: str) -> str:
        body = {
            "messages": [{"role": "user", "content": nonce + text}, {"role": "assistant", "content": "a"}]
        }
        return prompt_sha256(Question("measured", "f", "/v1/chat/completions", body, nonce=nonce))

    assert hashed("", "hi") == hashed("[1] ", "hi") != hashed("", "ho")


STREAM = (
    b": comment\r\n\r\n"
    + event(content="Ebbe, flut, é, 月, 🌊")
    + b"event: x\ndata: {\ndata: }\n\n"
    + b"data: [DONE]\n\n"
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_do_not_depend_on_where_the_bytes_were_cut(cuts: list[int]) -> None:
    whole = list(Events().feed(STREAM))
    edges = [0, *sorted(cuts), len(STREAM)]
    events = Events()
    pieces = [STREAM[begin:end] for begin, end in pairwise(edges)]
    assert [each for piece in pieces for each in events.feed(piece)] == whole
    assert events.is_between_events
    assert [each.data for each in whole] == [{"content": "Ebbe, flut, é, 月, 🌊"}, {}, None]


@given(st.binary(max_size=300))
def test_any_bytes_are_events_or_refused(raw: bytes) -> None:
    try:
        found = list(Events().feed(raw))
    except MalformedStream:
        return
    assert all(each.data is None or isinstance(each.data, dict) for each in found)
