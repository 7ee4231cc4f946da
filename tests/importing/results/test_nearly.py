"""Files of a benchmark in a form that hio does not import: each is named, with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.recognise import Configuration, recognised
from hio_validate.importing.results.nearly import refusal
from tests.importing.results.reading import source_of

PRINTED = """# at 2 requests a second

============ Serving Benchmark Result ============
Successful requests:                     96
Benchmark duration (s):                  24.25
Median TPOT (ms):                        -0.00
==================================================
"""
WRAPPED = '{"mode":"pp","tokens_per_sec":6.3,"raw":{"build_commit":"abc1234","n_prompt":1,"n_gen":0,"avg_ts":6.3}}\n'
STARTED = """ggml_cuda_init: found 1 ROCm devices:
  Device 0: Some Graphics, gfx1151 (0x1151), VMM: no, Wave Size: 32
Memory access fault by GPU node-1 (Agent handle: 0x27) on address 0x7f. Reason: Page not present.
"""
PROCESS = """main: build = 901 (d5512b7)
llama_print_timings:        load time =   435.83 ms
llama_print_timings: prompt eval time =   956.94 ms /     8 tokens (  119.62 ms per token,     8.36 tokens per second)
"""
BATCHED = """main: n_kv_max = 2048

|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|   128 |    128 |    8 |   2048 |    2.000 |   512.00 |    8.000 |   128.00 |   10.000 |   204.80 |
"""
SWEPT = "PP | TG | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s\n-- | -- | -- | -- | -- | -- | --\n512 | 128 | 0 | 8.000 | 64.00 | 40.000 | 3.20\n"
DASHBOARD = """[{"benchmark": {"name": "vLLM benchmark", "extra_info": {"args": {"model": "m"}}}, "model": {"name": "m"},
"metric": {"name": "median_ttft_ms", "benchmark_values": [12.5], "extra_info": {}}}]"""
SCRAPED = '# HELP vllm:num_requests_running Number of requests.\nvllm:num_requests_running{engine="0"} 2.0\n'
ENGINE = """(APIServer) ready
INFO 10-28 12:00:10 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 133.4 tokens/s
"""
DECODED = "[2026-01-01 10:00:00] Decode batch. #running-req: 1, #token: 90, token usage: 0.00, gen throughput (token/s): 31.2\n"
OLLAMA = '{"model": "m", "done": true, "eval_count": 237, "eval_duration": 4289432000}'
UNTIMED = '{"id": "1", "object": "chat.completion", "choices": [], "usage": {"completion_tokens": 3}}'
HALF_TIMED = (
    '{"choices": [], "timings": {"prompt_ms": 85.2, "predicted_ms": 1200.0, "predicted_per_second": 66.7}}'
)
UNCOUNTED = (
    '{"backend": "vllm", "model_id": "m", "num_prompts": 200, "mean_ttft_ms": 111.2, "mean_tpot_ms": 40.5}'
)
LOOKALIKE = """{"benchmarks": [{"config": {"concurrency": 1}, "requests": {"successful": []}, "metrics": {
 "inter_token_latency_ms": {"successful": {"mean": 4.7}},
 "request_latency_ms": {"successful": {"mean": 2592.4}}}}]}"""


@pytest.mark.parametrize(
    ("text", "line", "what", "help", "code"),
    [
        pytest.param(PRINTED, 3, "printed", "--save-result", 1, id="printed"),
        pytest.param(WRAPPED, 1, 'under "raw"', "jq -c", 1, id="wrapped"),
        pytest.param(STARTED, 1, "no result follows", "last lines", 3, id="started"),
        pytest.param(PROCESS, 2, "no log of a server", "llama-bench", 1, id="process"),
        pytest.param(BATCHED, 3, "llama-batched-bench", "llama-bench", 1, id="batched"),
        pytest.param(SWEPT, 1, "llama-sweep-bench", "llama-bench", 1, id="swept"),
        pytest.param(DASHBOARD, 1, "PyTorch's dashboard", "no .pytorch", 1, id="dashboard"),
        pytest.param(SCRAPED, 1, "vllm's /metrics", "--save-result", 1, id="scraped"),
        pytest.param(ENGINE, 2, "the log of a vLLM or SGLang server", "--save-result", 1, id="engine"),
        pytest.param(DECODED, 1, "the log of a vLLM or SGLang server", "--save-result", 1, id="decoded"),
        pytest.param(OLLAMA, 1, "an answer of Ollama", "llama-server", 1, id="ollama"),
        pytest.param(UNTIMED, 1, "without timings", "vllm bench serve", 3, id="untimed"),
        pytest.param(HALF_TIMED, 1, "how many tokens", "prompt_n", 1, id="half-timed"),
        pytest.param(UNCOUNTED, 1, "how many requests were completed", "duration", 1, id="uncounted"),
        pytest.param(LOOKALIKE, 2, "neither its version nor its type", "type_", 1, id="lookalike"),
    ],
)
def test_a_form_that_is_not_imported_is_named(
    tmp_path: Path, text: str, line: int, what: str, help: str, code: int
) -> None:
    for written in (text, text.replace("\n", "\r\n")):
        with pytest.raises(CannotImport) as told:
            recognised(source_of(tmp_path, written))
        assert what in told.value.message and help in str(told.value)
        assert (told.value.line, told.value.code) == (line, code)


def test_what_a_benchmark_printed_after_a_long_log_is_found_at_its_end(tmp_path: Path) -> None:
    log = "  7%|#######                  | 70/1000 [00:10<02:20,  6.6it/s]\n" * 3000
    with pytest.raises(CannotImport, match="printed"):
        recognised(source_of(tmp_path, log + PRINTED))


def test_a_page_with_tables_of_its_own_is_no_faulty_yaml(tmp_path: Path) -> None:
    page = "# Speeds: mine\nlayout: post\n\n| model | size | kt/s |\n| --- | ---: | ---: |\n| a | 3.56 GiB | 3.2 ± 0.1 |\n"
    with pytest.raises(CannotImport, match="tables in Markdown") as told:
        recognised(source_of(tmp_path, page))
    assert told.value.code == 3 and "expected results" in str(told.value)


def test_json_lines_of_another_tool_are_called_so(tmp_path: Path) -> None:
    with pytest.raises(CannotImport, match="JSON lines have the keys of no tool") as told:
        recognised(
            source_of(tmp_path, '{"kind": "prefill", "ttft": 0.28}\n{"kind": "decode", "ttft": 0.12}\n')
        )
    assert told.value.code == 3 and "expected results" in str(told.value)


def test_a_configuration_is_none_of_them(tmp_path: Path) -> None:
    unit = "[Unit]\nDescription=x\n\n[Service]\nExecStart=/usr/bin/llama-server -m /m.gguf --port 8080\n"
    source = source_of(tmp_path, unit)
    assert refusal(source) is None
    assert isinstance(recognised(source), Configuration)
