"""Long files of the formats that are read line by line, one row at a time, of any length."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"


def llama_bench(number: int) -> str:
    """A row of llama-bench; each of its tests is another one."""
    nanoseconds = 1_000_000_000 + number
    rate = 1e9 * (number + 1) / nanoseconds
    return json.dumps(
        {
            "build_commit": "abc1234", "build_number": 5000, "cpu_info": "a CPU", "gpu_info": "", "backends": "CPU",
            "model_filename": "/models/tiny.gguf", "model_type": "tiny 1B Q4_0", "model_size": 1000,
            "model_n_params": 2000, "n_batch": 2048, "n_ubatch": 512, "n_threads": 4, "cpu_mask": "0x0",
            "type_k": "f16", "type_v": "f16", "n_gpu_layers": 99, "split_mode": "layer", "flash_attn": False,
            "n_prompt": number + 1, "n_gen": 0, "n_depth": 0, "test_time": "2026-11-30T08:00:00Z",
            "avg_ns": nanoseconds, "stddev_ns": 0, "avg_ts": rate, "stddev_ts": 0.0,
            "samples_ns": [nanoseconds] * 5, "samples_ts": [rate] * 5,
        }
    )  # fmt: skip


def _sample(file: str) -> Callable[[int], str]:
    """The rows of a sample, again and again."""
    rows = [line for line in (SAMPLES / file).read_text(encoding="utf-8").splitlines() if line.strip()]
    return lambda number: rows[number % len(rows)]


def _one_line(file: str) -> Callable[[int], str]:
    row = json.dumps(json.loads((SAMPLES / file).read_text(encoding="utf-8")))
    return lambda number: row


ROWS: dict[str, Callable[[int], str]] = {
    "llama-bench": llama_bench,
    "vllm-bench": _one_line("vllm-bench/drafted.json"),
    "sglang-bench": _sample("sglang-bench/runs.jsonl"),
    "llama-server-response": _sample("llama-server-response/drafted.jsonl"),
    "llama-server-log": _sample("llama-server-log/two-requests.log"),
    "lm-eval-samples": _sample("lm-eval-samples/samples_gsm8k.jsonl"),
    "aiperf-records": _sample("aiperf-records/profile_export.jsonl"),
}
"""Format -> its row by number."""


def write(file: Path, format: str, size: int) -> int:
    """A file of at least so many bytes; how many rows it has."""
    row, number, done = ROWS[format], 0, 0
    with file.open("w", encoding="utf-8") as out:
        while done < size:
            done += out.write(row(number) + "\n")
            number += 1
    return number
