"""Logs of llama-server of every generation: its requests, and the start they ran under."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.importing.cannot import CannotImport
from tests.importing.results.reading import findings, read, source_of

START = (
    "0.00.001.000 I srv  llama_server: initializing ...\n"
    "0.00.002.000 I cmn  common_param: common_params_print_info: build 4567 (abc1234) with GNU 12 for Linux\n"
    "0.00.003.000 I srv    load_model: loading model '/models/tiny.gguf'\n"
    "0.00.004.000 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 1024, kv_unified = 'false'\n"
    "0.00.005.000 I srv  llama_server: listening on http://127.0.0.1:8080\n"
)


def request(task: int, cached: int = 0, draft: str = "", at: str = "0.01.000.000 I ") -> str:
    """48 tokens in 1324.26 ms, of which the rate leaves the first out."""
    slot = f"{at}slot print_timing: id  1 | task {task} | "
    return (
        f"{at}slot   operator(): id  1 | task {task} | new prompt, n_ctx_slot = 1024, n_keep = 0, task.n_tokens = 13\n"
        f"{at}slot   operator(): id  1 | task {task} | cached n_tokens = {cached}, memory_seq_rm [0, end)\n"
        f"{slot}prompt eval time =      80.00 ms / {13 - cached:5d} tokens ({80 / (13 - cached):8.2f} ms per token, "
        f"{1e3 * (13 - cached) / 80:8.2f} tokens per second)\n"
        f"{slot}       eval time =    1324.26 ms /    48 tokens (   28.18 ms per token,    35.49 tokens per second)\n"
        f"{slot}      total time =    1404.26 ms /    61 tokens\n" + (f"{slot}{draft}\n" if draft else "")
    )


def log(folder: Path, text: str | bytes) -> list[Observation]:
    return read(source_of(folder, text), "llama-server-log")


def told(record: Observation) -> dict[str, float]:
    return {each.name: each.value for each in record.metrics}


def test_requests_and_their_start(tmp_path: Path) -> None:
    accepted = "draft acceptance = 0.84783 (   39 accepted /    46 generated), mean len =  2.70"
    first, second = log(tmp_path, START + request(0) + request(50, cached=8, draft=accepted))
    assert first.subject["model"] == "/models/tiny.gguf" and first.subject["build"] == "b4567-abc1234"
    assert first.subject["n_slots"] == 2
    assert first.workload == {
        "evaluated_tokens": 13, "cached_tokens": 0, "generated_tokens": 48, "prompt_tokens": 13,
    }  # fmt: skip
    assert told(first)["prompt_per_second"] == 162.5 and first.line == 8
    assert {each.definition for each in first.metrics} >= {"decode-rate-n-1", "decode-time-n-1"}
    assert findings([first, second]) == [("cache-answered", second.line)]
    assert second.workload["cached_tokens"] == 8
    assert told(second)["draft_n_accepted"] == 39 / 46 and told(second)["mean len"] == 2.70


OLD = {
    "2023": "print_timings: prompt eval time =     500.00 ms /    10 tokens (   50.00 ms per token,    20.00 tokens per second)\n"
    "print_timings:        eval time =    1000.00 ms /    20 runs   (   50.00 ms per token,    20.00 tokens per second)\n"
    "print_timings:       total time =    1500.00 ms\n",
    "2024": "INFO [           print_timings] prompt eval time     =     500.00 ms /    10 tokens (   50.00 ms per token,"
    '    20.00 tokens per second) | tid="1" timestamp=1 id_slot=0 id_task=7 t_prompt_processing=500\n'
    "INFO [           print_timings] generation eval time =    1000.00 ms /    20 runs   (   50.00 ms per token,"
    '    20.00 tokens per second) | tid="1" timestamp=1 id_slot=0 id_task=7 n_decoded=20\n',
    "2024-json": '{"tid":"1","timestamp":1,"level":"INFO","function":"print_timings","line":1,"msg":"prompt eval time     =     '
    '500.00 ms /    10 tokens (   50.00 ms per token,    20.00 tokens per second)","id_slot":0,"id_task":7}\n'
    '{"tid":"1","timestamp":1,"level":"INFO","function":"print_timings","line":2,"msg":"generation eval time =    '
    '1000.00 ms /    20 runs   (   50.00 ms per token,    20.00 tokens per second)","id_slot":0,"id_task":7}\n',
    "2025": "slot print_timing: id  0 | task 7 | \n"
    "prompt eval time =     500.00 ms /    10 tokens (   50.00 ms per token,    20.00 tokens per second)\n"
    "       eval time =    1000.00 ms /    20 tokens (   50.00 ms per token,    20.00 tokens per second)\n"
    "      total time =    1500.00 ms /    30 tokens\n"
    "slot print_timing: id  0 | task 7 | \ndraft acceptance rate = 0.50000 (    5 accepted /    10 generated)\n",
}


@pytest.mark.parametrize("generation", OLD)
def test_generations(tmp_path: Path, generation: str) -> None:
    first, second = log(tmp_path, OLD[generation] * 2)
    assert findings([first, second]) == []
    assert told(first)["prompt_per_second"] == told(first)["predicted_per_second"] == 20.0
    assert {each.definition for each in first.metrics} >= {"decode-rate-n", "prefill-rate-evaluated"}
    assert "prompt_tokens" not in first.workload and first.unknown == ("how many prompt tokens a cache held",)
    assert told(second).get("draft_n_accepted") == (0.5 if generation == "2025" else None)


def test_an_earlier_start_has_other_settings(tmp_path: Path) -> None:
    other = START.replace("n_slots = 2", "n_slots = 4").replace("tiny", "other")
    first, second = log(tmp_path, START + request(0) + other + request(0))
    assert first.subject == {"engine": "llama.cpp"} and findings([first]) == [("earlier-start", 8)]
    assert second.subject["n_slots"] == 4 and second.findings == []


def test_rates_that_their_counts_contradict(tmp_path: Path) -> None:
    text = START + request(0) + request(1).replace("35.49", "53.49")
    records = log(tmp_path, text)
    assert findings(records) == [("rate-contradicts-counts", 13)]
    assert "predicted_per_second" not in told(records[1]) and "prompt_per_second" in told(records[1])


def test_what_nan_is(tmp_path: Path) -> None:
    line = "print_timings: prompt eval time =       0.00 ms /     0 tokens (    -nan ms per token,      nan tokens per second)\n"
    (record,) = log(tmp_path, line + OLD["2023"].split("\n")[1] + "\n")
    assert told(record) == {"predicted_per_token_ms": 50.0, "predicted_per_second": 20.0, "predicted_n": 20}
    assert {kind for kind, _ in findings([record])} == {"no-prefill"}


def test_a_log_without_requests_is_identity(tmp_path: Path) -> None:
    (record,) = log(tmp_path, START)
    assert record.metrics == [] and record.subject["n_ctx_slot"] == 1024
    assert [kind for kind, _ in findings([record])] == ["identity-only"]
    assert record.unknown == ("where tensors lie: the log shows no buffer sizes at its verbosity",)
    slots = "".join(f"slot   load_model: id  {n} | task -1 | new slot, n_ctx = 1024\n" for n in range(4))
    (record,) = log(tmp_path, slots)
    assert any("share one pool" in each for each in record.unknown)


def test_timings_of_a_process_are_not_a_request(tmp_path: Path) -> None:
    text = (
        START
        + "llama_perf_context_print:        eval time =    1000.00 ms /    19 runs   (   52.63 ms per token,    19.00 tokens per second)\n"
    )
    (record,) = log(tmp_path, text)
    assert findings([record]) == [("identity-only", 0), ("process-sums", 6)]


def test_a_log_that_is_cut_off_in_a_request(tmp_path: Path) -> None:
    text = START + request(0)
    cut = text[: text.index(" ms per token,    35.49")]
    with pytest.raises(CannotImport, match="given:9: the last line is cut off"):
        log(tmp_path, cut)
    assert len(log(tmp_path, cut[: cut.rindex("\n")])) == 1


def test_halves_of_characters_are_read_over(tmp_path: Path) -> None:
    text = (
        START.encode()
        + b"0.01.000.000 D slot process_toke: id  0 | task 0 | token '\xe4\xbd'\n"
        + request(0).encode()
    )
    assert len(log(tmp_path, text)) == 1


def test_a_prompt_that_looks_like_timings_is_none(tmp_path: Path) -> None:
    line = "prompt eval time =     500.00 ms /    10 tokens (   50.00 ms per token,    20.00 tokens per second)\n"
    text = START + "0.01.000.000 D srv  log_server_r: request: explain this:\n" + line + request(0)
    assert [each.line for each in log(tmp_path, text)] == [10]


def test_a_task_is_found_where_only_its_head_names_it(tmp_path: Path) -> None:
    prompt = (
        "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 512, n_keep = 0, n_prompt_tokens = 30\n"
    )
    (record,) = log(tmp_path, prompt + OLD["2025"])
    assert record.foreign["task"] == 7 and record.workload["cached_tokens"] == 20
    assert [each.derived for each in record.metrics if each.name == "cache_n"] == [True]


def test_what_the_server_switched_off_is_told_once(tmp_path: Path) -> None:
    notice = "0.00.003.500 W srv    load_model: cache_reuse is not supported by this context, it will be disabled\n"
    start = START.replace("0.00.004", notice + "0.00.004")
    assert findings(log(tmp_path, start + request(0) + request(1))) == [("disabled-feature", 9)]
    (record,) = log(tmp_path, start)
    assert findings([record]) == [("identity-only", 0), ("disabled-feature", 0)]


@pytest.mark.parametrize(
    "keeper",
    ["Jun 01 10:00:00 host llama-server[123]: ", "2025-06-01T10:00:00.123456Z ", "llama-1  | ",
     "2025-06-01T10:00:00+0200 host bash[7]: "],
)  # fmt: skip
def test_a_log_that_somebody_keeps(tmp_path: Path, keeper: str) -> None:
    text = START + request(0) + START.replace("n_slots = 2", "n_slots = 4") + request(1, cached=8)
    kept = "".join(f"{keeper}{line}\n" for line in text.splitlines())
    assert log(tmp_path, kept) == log(tmp_path, text)


@pytest.mark.parametrize(
    ("line", "gone", "counted"),
    [
        ("       eval time", {"predicted_n", "predicted_per_second"}, "generated_tokens"),
        ("prompt eval time", {"prompt_ms", "prompt_per_second"}, "evaluated_tokens"),
    ],
    ids=["decode", "prefill"],
)
def test_a_half_whose_line_is_missing_is_not_0_tokens(
    tmp_path: Path, line: str, gone: set[str], counted: str
) -> None:
    (whole,) = log(tmp_path, START + request(0))
    assert gone <= told(whole).keys() and whole.requests.completed == 1
    lines = (START + request(0)).splitlines(keepends=True)
    (half,) = log(tmp_path, "".join(each for each in lines if f"| {line}" not in each))
    assert not gone & told(half).keys() and counted not in half.workload
    assert 0 not in [value for name, value in told(half).items() if name != "cache_n"]
    assert any("the log has no line of it" in each for each in half.unknown)
    assert half.requests.completed == (None if counted == "generated_tokens" else 1)
