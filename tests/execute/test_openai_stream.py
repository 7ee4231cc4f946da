"""Streams of vLLM and SGLang as their sources write them, over real sockets: tokens are counted by the server or not at all.

Sources: vLLM vllm/entrypoints/openai/{completion,chat_completion}/serving.py (completion_stream_generator: chunks with
exclude_unset, a last one with `choices: []` and `usage`, then [DONE]; after an error, too); SGLang
python/sglang/srt/entrypoints/openai/serving_completions.py (whole chunks with null fields; usage with exclude_none).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.execute.counted import Miscounted, Uncounted, counts
from hio_validate.execute.work import Question
from tests.execute.answering import END, HEAD, answering, asked, chunk, event
from tests.small_repo import sha

COMPLETION = Question("measured", "tides", "/v1/completions", {"prompt": "Why?", "max_tokens": 3})
CHAT = Question(
    "measured", "tides", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Why?"}]}
)
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"

OF = {"id": "cmpl-1", "object": "text_completion", "created": 1780000000, "model": "tiny"}
CACHED = {"prompt_tokens_details": {"cached_tokens": 4}}


def vllm(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish, "stop_reason": None}
    return event(**OF, choices=[choice])


def sglang(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish, "matched_stop": None}
    return event(**OF, choices=[choice], usage=None)


def usage(**more: Any) -> bytes:
    counted = {"prompt_tokens": 7, "total_tokens": 10, "completion_tokens": 3, **more}
    return event(**OF, choices=[], usage=counted)


def answer(*events: bytes) -> bytes:
    return HEAD + b"".join(map(chunk, events)) + END


STREAMS = {
    "vllm": (vllm("Mo"), vllm("on "), vllm("up", "length")),
    "sglang": (sglang("Mo"), sglang("on "), sglang("up", "length")),
}


@pytest.mark.parametrize("engine", STREAMS)
def test_what_the_server_counted_is_known_and_what_it_did_not_is_not(engine: str, tmp_path: Path) -> None:
    with answering([answer(KEEP_ALIVE, *STREAMS[engine], usage(), DONE)]) as port:
        code, (record,), (times,) = asked(port, tmp_path, [COMPLETION])
    assert (code, record["status"], record["finish"]) == (0, "ok", "length")
    assert (record["generated"], record["content_sha256"]) == (3, sha("Moon up"))
    unknown = {"cached", "evaluated", "drafted", "accepted", "decode_tps", "prefill_tps", "prompt_ms"}
    assert not unknown & record.keys(), "absent is not zero"
    first, last = times["pieces"][0][0], times["pieces"][-1][0]
    assert record["tpot_ms"] == (last - first) / 1e6 / 2


def test_cached_tokens_that_are_counted_are_taken_out_of_the_evaluated_ones(tmp_path: Path) -> None:
    with answering([answer(*STREAMS["vllm"], usage(**CACHED), DONE)]) as port:
        _, (record,), _ = asked(port, tmp_path, [COMPLETION])
    assert (record["cached"], record["evaluated"]) == (4, 3)


def test_a_server_that_leaves_a_count_of_none_out_is_believed_only_where_its_settings_say_so(
    tmp_path: Path,
) -> None:
    stream = answer(*STREAMS["sglang"], usage(), DONE)
    with answering([stream, stream]) as port:
        _, (unsure,), _ = asked(port, tmp_path, [COMPLETION])
        _, (sure,), _ = asked(port, tmp_path, [COMPLETION], none_is_left_out=True)
    assert "cached" not in unsure and "evaluated" not in unsure
    assert (sure["cached"], sure["evaluated"]) == (0, 7)


def test_speculation_is_counted_where_usage_tells_it(tmp_path: Path) -> None:
    details = {"accepted_prediction_tokens": 5, "rejected_prediction_tokens": 2}
    with answering([answer(sglang("Moon"), usage(completion_tokens_details=details), DONE)]) as port:
        _, (record,), _ = asked(port, tmp_path, [COMPLETION])
    assert (record["drafted"], record["accepted"]) == (7, 5)


def test_a_conversation_begins_with_a_role_and_may_think_first(tmp_path: Path) -> None:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"reasoning": "why"}, {"content": "up"}, {"content": ""}]  # fmt: skip
    chunks = [event(**OF, choices=[{"index": 0, "delta": each, "finish_reason": None}]) for each in deltas]
    with answering([answer(*chunks, usage(), DONE)]) as port:
        _, (record,), (times,) = asked(port, tmp_path, [CHAT])
    assert [piece[1] for piece in times["pieces"]] == ["reasoning", "content"]
    assert record["status"] == "ok"


def test_usage_with_every_chunk_counts_as_it_stands_in_the_last_one(tmp_path: Path) -> None:
    early = event(**OF, choices=[{"index": 0, "text": "Moon", "finish_reason": None}],
                  usage={"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8})  # fmt: skip
    with answering([answer(early, usage(), DONE)]) as port:
        _, (record,), _ = asked(port, tmp_path, [COMPLETION])
    assert record["generated"] == 3


ERROR = event(
    error={"message": "CUDA out of memory", "type": "InternalServerError", "param": None, "code": 500}
)
BROKEN = {
    "an error in the middle": ((vllm("Mo"), ERROR, DONE), 'error event: {"message": "CUDA out of memory"'),
    "no usage": ((*STREAMS["vllm"], DONE), "no counts: "),
    "usage without a count": ((*STREAMS["vllm"], event(**OF, choices=[], usage={}), DONE), "no counts: "),
    "counts of text": ((vllm("Mo"), usage(completion_tokens="3"), DONE), "malformed stream: completion_tokens is '3'"),
    "more cached than there is": ((vllm("Mo"), usage(prompt_tokens_details={"cached_tokens": 8}), DONE), "malformed stream: 8 tokens"),
    "no end": ((*STREAMS["vllm"], usage()), "ended early"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_failed_request_says_what_failed_and_has_no_number(what: str, tmp_path: Path) -> None:
    events, status = BROKEN[what]
    with answering([answer(*events)]) as port:
        code, (record,), _ = asked(port, tmp_path, [COMPLETION])
    assert code == 1
    assert record["status"].startswith(status)
    assert record.keys() == {"request", "phase", "fixture", "started", "prompt_sha256", "status"}


TOKENS = st.integers(0, 10_000)


@given(prompt=TOKENS, cached=TOKENS, generated=TOKENS)
def test_evaluated_and_cached_tokens_are_the_prompt(prompt: int, cached: int, generated: int) -> None:
    said = {"prompt_tokens": prompt, "completion_tokens": generated, "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
    if cached > prompt:
        with pytest.raises(Miscounted):
            counts({}, said)
        return
    found = counts({}, said)
    assert found["evaluated"] + found["cached"] == prompt
    assert found["generated"] == generated


@pytest.mark.parametrize("name", ["predicted_n", "prompt_n"])
def test_timings_without_their_counts_are_no_counts(name: str) -> None:
    timings = {"prompt_n": 3, "predicted_n": 2, name: None}
    assert counts(timings, {"prompt_tokens": 9, "completion_tokens": 8})["generated"] == 8
    with pytest.raises(Uncounted, match="no counts"):
        counts(timings, {})


def test_timings_count_where_an_answer_has_both() -> None:
    timings = {"prompt_n": 3, "predicted_n": 2, "prompt_ms": 30.0, "predicted_ms": 40.0}
    found = counts(timings, {"prompt_tokens": 9, "completion_tokens": 9})
    assert (found["evaluated"], found["generated"], found["decode_tps"]) == (3, 2, 50.0)
    assert "cached" not in found, "a build that does not say it did not say none"


def test_nothing_is_counted_from_nothing() -> None:
    with pytest.raises(Uncounted):
        counts({}, {})
