"""The OpenAI dialect of a real server: its usage counts what its timings count, and the client reads both alike."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute.counted import counts
from hio_validate.execute.stream import Events
from hio_validate.execute.work import Question
from hio_validate.settings.request import CHAT, COMPLETIONS, DIALECTS, LLAMA
from tests.execute.answering import asked
from tests.lab.serving import LAB, serving
from tests.lab.trial import free_port

pytestmark = pytest.mark.lab

TOKENS = 6
SAID = {
    COMPLETIONS: {"prompt": "The capital of France is"},
    CHAT: {"messages": [{"role": "user", "content": "What is the capital of France?"}]},
}


def _question(family: str, endpoint: str) -> Question:
    words = DIALECTS[family]
    body: dict[str, Any] = {**SAID[endpoint], **words.greedy, "seed": 1, "ignore_eos": True}
    body |= {**words.budget(endpoint, TOKENS), **words.streamed(endpoint, warm=False, salt="1")}
    return Question("measured", "capital", endpoint, body)


@pytest.mark.parametrize("build", ["llama-10001", "llama-11434"])
def test_a_real_server_counts_alike_in_usage_and_in_timings(build: str, tmp_path: Path) -> None:
    program, model = LAB / build / "bin/llama-server", LAB / "model/gemma-3-270m-q4-k-m.gguf"
    if not (program.exists() and model.exists()):
        pytest.skip(f"no engine under {LAB}")
    port = free_port()
    argv = [str(program), "-m", str(model), "--port", str(port), "-c", "512", "-t", "1"]
    with serving(argv, port, tmp_path / "server.log"):
        for endpoint in SAID:
            for family in (LLAMA, "vllm"):  # it does not read what only vLLM does, and streams the same way
                question = _question(family, endpoint)
                code, (record,), _ = asked(port, tmp_path, [question])
                assert (code, record["status"], record["generated"]) == (0, "ok", TOKENS), record
                assert record["finish"] == "length"
                timings, usage = _last(port, question)
                by_usage = counts({}, usage, none_is_left_out=True)
                by_timings = counts(timings, usage)
                assert by_usage["generated"] == by_timings["generated"] == TOKENS
                whole = by_timings["evaluated"] + by_timings["cached"]
                assert by_usage["evaluated"] + by_usage["cached"] == whole


def _last(port: int, question: Question) -> tuple[dict[str, Any], dict[str, Any]]:
    """The last timings and usage of an answer, as the server wrote them."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{question.endpoint}", json.dumps(dict(question.body)).encode(), {"Content-Type": "application/json"},
    )  # fmt: skip
    timings: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    with urllib.request.urlopen(request, timeout=120) as answer:
        for event in Events().feed(answer.read()):
            timings = (event.data or {}).get("timings") or timings
            usage = (event.data or {}).get("usage") or usage
    return timings, usage
