"""Answers of llama-server: counts and rates as each version means them, and what is no speed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.observed import Measured, Observation
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.llama_server_responses import LLAMA_SERVER
from hio_validate.importing.results.llama_server_timings import record_of
from tests.importing.results.reading import findings, read, source_of


def timings(prompt: int = 100, predicted: int = 48, less: int = 0, **more: Any) -> dict[str, Any]:
    """As the server writes them; `less` tokens are left out of the numbers of the decode."""
    prompt_ms, predicted_ms = 250.125, 1324.261
    made: dict[str, Any] = {
        "prompt_n": prompt, "prompt_ms": prompt_ms,
        "prompt_per_token_ms": prompt_ms / prompt if prompt else None, "prompt_per_second": 1e3 * prompt / prompt_ms,
        "predicted_n": predicted, "predicted_ms": predicted_ms,
        "predicted_per_token_ms": predicted_ms / max(predicted - less, 1),
        "predicted_per_second": 1e3 * (predicted - less) / predicted_ms,
    }  # fmt: skip
    return made | more


def native(**more: Any) -> dict[str, Any]:
    return {
        "index": 0, "content": "a secret answer", "id_slot": 0, "stop": True, "model": "tiny.gguf",
        "tokens_predicted": 48, "tokens_evaluated": 100, "prompt": "a secret question", "stop_type": "limit",
        "generation_settings": {"seed": 7, "temperature": 0.0, "samplers": ["top_k", "temperature"]},
        "timings": timings(),
    } | more  # fmt: skip


def chat(**more: Any) -> dict[str, Any]:
    return {
        "choices": [{"finish_reason": "stop", "message": {"content": "a secret answer"}}],
        "model": "tiny", "system_fingerprint": "b4567-abc1234", "object": "chat.completion",
        "usage": {"completion_tokens": 48, "prompt_tokens": 110}, "timings": timings(cache_n=10),
    } | more  # fmt: skip


def answers(folder: Path, text: str, skip: bool = False) -> list[Observation]:
    return read(source_of(folder, text, skip), "llama-server-response")


def refused(folder: Path, text: str) -> str:
    with pytest.raises(CannotImport) as caught:
        answers(folder, text)
    return str(caught.value)


def named(record: Observation) -> dict[str, Measured]:
    return {each.name: each for each in record.metrics}


def test_an_answer_is_one_request(tmp_path: Path) -> None:
    (record,) = answers(tmp_path, json.dumps(native()))
    assert record.workload["prompt_tokens"] == 100 and record.workload["generated_tokens"] == 48
    assert record.workload["samplers"] == "top_k temperature" and record.workload["temperature"] == 0.0
    rate = named(record)["predicted_per_second"]
    assert (rate.definition, rate.unit, rate.n, rate.statistic) == ("decode-rate-n", "token/s", 1, "value")
    assert named(record)["prompt_per_second"].definition == "prefill-rate-evaluated"
    assert record.subject == {"engine": "llama.cpp", "model": "tiny.gguf"}
    assert record.tier is Tier.DRAFT and record.findings == []
    assert "secret" not in repr(record)


def test_an_answer_of_the_chat_endpoint(tmp_path: Path) -> None:
    (record,) = answers(tmp_path, json.dumps(chat(), indent=2))
    assert record.subject["build"] == "b4567-abc1234"
    assert (record.workload["prompt_tokens"], record.workload["cached_tokens"]) == (110, 10)
    assert record.workload["finish_reason"] == "stop"
    assert findings([record]) == [("cache-answered", 1)]
    assert LLAMA_SERVER.generation(source_of(tmp_path, json.dumps(chat()))) == "b4567-abc1234"
    (unknown,) = answers(tmp_path, json.dumps(chat(system_fingerprint="b0-unknown")))
    assert "build" not in unknown.subject


@pytest.mark.parametrize(("less", "definition"), [(0, "n"), (1, "n-1")])
def test_whether_the_first_token_counts_is_recomputed(tmp_path: Path, less: int, definition: str) -> None:
    (record,) = answers(tmp_path, json.dumps(timings(less=less)))
    assert named(record)["predicted_per_second"].definition == f"decode-rate-{definition}"
    assert named(record)["predicted_per_token_ms"].definition == f"decode-time-{definition}"
    rates = [each for each in record.metrics if each.definition == "decode-rate-n"]
    assert [each.value for each in rates] == [pytest.approx(1e3 * 48 / 1324.261)]
    assert [each.derived for each in rates] == [less == 1]
    assert record.findings == []


@given(st.integers(2, 100_000), st.floats(0.5, 1e7), st.sampled_from([0, 1]), st.booleans())
def test_right_rates_are_never_contradicted(count: int, time: float, less: int, rounded: bool) -> None:
    told = {
        "prompt_n": 0, "predicted_n": count, "predicted_ms": time,
        "predicted_per_second": 1e3 * (count - less) / time, "predicted_per_token_ms": time / (count - less),
    }  # fmt: skip
    if rounded:
        told = {key: round(value, 2) if isinstance(value, float) else value for key, value in told.items()}
    record = record_of("x", 1, told)
    assert record.findings == [] and 3 <= len(record.metrics) <= 4
    if not rounded and count < 1000:
        assert named(record)["predicted_per_second"].definition == f"decode-rate-n{'-1' * less}"


def test_one_evaluated_token_is_no_prefill(tmp_path: Path) -> None:
    (record,) = answers(tmp_path, json.dumps(timings(prompt=1, draft_n=347, draft_n_accepted=65)))
    assert {"prompt_per_second", "prompt_ms"} & named(record).keys() == set()
    assert {kind for kind, _ in findings([record])} == {"no-prefill"}
    accepted = named(record)["draft_n_accepted"]
    assert (accepted.value, accepted.n, accepted.definition) == (65 / 347, 347, "draft-acceptance")
    assert (record.workload["accepted_tokens"], record.workload["drafted_tokens"]) == (65, 347)
    assert "prompt_tokens" not in record.workload
    assert record.unknown == ("how many prompt tokens a cache held",)


def test_one_generated_token_is_no_decode(tmp_path: Path) -> None:
    (record,) = answers(tmp_path, json.dumps(timings(predicted=1)))
    assert {"predicted_per_second", "predicted_per_token_ms"} & named(record).keys() == set()
    assert named(record)["prompt_per_second"].value == pytest.approx(399.8, abs=0.1)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"predicted_per_second": 99.0}, "rate-contradicts-counts"),
        ({"prompt_per_token_ms": 99.0}, "rate-contradicts-counts"),
        ({"predicted_ms": 0}, "impossible-value"),
        ({"draft_n": 5, "draft_n_accepted": 6}, "impossible-value"),
        ({"predicted_n": -1}, "impossible-value"),
        ({"predicted_n": 48.5}, "impossible-value"),
        ({"prompt_ms": "fast"}, "impossible-value"),
        ({"prompt_ms": float("nan")}, "impossible-value"),
    ],
)
def test_what_cannot_be_so(tmp_path: Path, change: dict[str, Any], kind: str) -> None:
    lines = [json.dumps(timings()), json.dumps(timings() | change)]
    good, bad = answers(tmp_path, "\n".join(lines))
    assert good.findings == []
    assert findings([bad]) == [(kind, 2)]
    assert change.keys() & named(bad).keys() == set()
    assert not bad.metrics or kind != "impossible-value"


def test_counts_of_the_answer_and_of_its_timings(tmp_path: Path) -> None:
    lines = [json.dumps(native()), json.dumps(native(tokens_predicted=47))]
    records = answers(tmp_path, "\n".join(lines))
    assert findings(records) == [("counts-contradict", 2)]
    assert "says 47 generated tokens, its timings 48" in records[1].findings[0].message


def test_lines_and_lists_and_failures(tmp_path: Path) -> None:
    error = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    text = "\n".join(json.dumps(each) for each in (error, native(), chat()))
    records = answers(tmp_path, text)
    assert [each.name for each in records] == ["request-1", "request-2", "request-3"]
    assert (records[0].requests.failed, records[0].metrics) == (1, [])
    assert findings(records[:1]) == [("failed-request", 1)]
    assert [each.line for each in records] == [1, 2, 3]
    assert len(answers(tmp_path, json.dumps([native(), timings()]))) == 2
    assert "given:2: it has no timings" in refused(tmp_path, text.split("\n")[1] + '\n{"a": 1}')


def test_what_is_no_data_between_answers(tmp_path: Path) -> None:
    text = "\n".join([json.dumps(native()), "curl: (52) Empty reply from server", json.dumps(native())])
    assert "given:2: the line is no data" in refused(tmp_path, text)
    records = answers(tmp_path, text, skip=True)
    assert findings(records) == [("skipped-lines", 2)]
    assert "given:2: no JSON from here on" in refused(tmp_path, text.split("\n")[0] + "\n" + text[:90])


def event(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def delta(text: str | None, **more: Any) -> dict[str, Any]:
    choice = {"delta": {"content": text}, "finish_reason": None}
    return {
        "choices": [choice],
        "object": "chat.completion.chunk",
        "system_fingerprint": "b4567-abc1234",
    } | more


def test_the_last_event_of_a_stream(tmp_path: Path) -> None:
    first = event(
        {"content": " a", "stop": False, "id_slot": 0, "tokens_predicted": 1, "tokens_evaluated": 100}
    )
    one = first + event({"content": " b", "stop": False, "timings": timings(predicted=2)}) + event(native())
    last = [{"delta": {}, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 100, "completion_tokens": 48}
    two = event(delta("a")) + event(delta(None, choices=last, timings=timings(predicted=3)))
    two += event(delta(None, choices=[], usage=usage, timings=timings())) + "data: [DONE]\n\n"
    records = answers(tmp_path, one + two)
    assert [each.workload["generated_tokens"] for each in records] == [48, 48]
    assert [each.line for each in records] == [5, 11]
    assert findings(records) == []
    alone = answers(tmp_path, event(native()))
    assert alone[0].metrics == records[0].metrics


def test_a_stream_that_does_not_end(tmp_path: Path) -> None:
    first = event({"content": " a", "stop": False, "id_slot": 0, "tokens_predicted": 1, "timings": timings()})
    assert "given:3: the stream does not end" in refused(tmp_path, event(native()) + first)
    assert "given:3: no JSON from here on" in refused(tmp_path, (event(native()) + event(native()))[:-40])


def test_a_stream_that_failed(tmp_path: Path) -> None:
    text = (
        event(native())
        + 'error: {"code": 500, "message": "compute error", "type": "server_error"}\n\ndata: 5\n\ndata: [DONE]\n'
    )
    records = answers(tmp_path, text)
    assert [each.requests.failed for each in records] == [None, 1, None]
    assert findings(records) == [("failed-request", 3), ("no-timings", 5)]
    assert records[2].requests.completed is None and records[2].metrics == []


def test_answers_of_others_are_not_taken(tmp_path: Path) -> None:
    for text in ('{"id": "cmpl-1", "object": "text_completion", "usage": {}}', '{"prompts": 5}', "", "[]"):
        assert not LLAMA_SERVER.recognises(source_of(tmp_path, text))
