"""llama-bench: an arm in its words, and its answers as rows. The lab test runs the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.command import Command
from hio_validate.execute import bench
from hio_validate.execute.work import Work
from tests.execute.experiment import PLAN_FILE, SITE_FILE, documents, plan, prepared, site, yaml

HELP = "\n".join(
    f"  {flags} <n>   (default: 1)"
    for flags in (
        "-m, --model",
        "-t, --threads",
        "-b, --batch-size",
        "-p, --n-prompt",
        "-ngl, --n-gpu-layers",
    )
)
METHOD: dict[str, Any] = {
    "method": "llama-bench", "bench": {"prompt_tokens": 32, "generated_tokens": 8, "repetitions": 2},
    "fixture": None, "requests": None,
    "decide": {**plan()["decide"], "metric": "bench_decode_tps"},
}  # fmt: skip


def installed(tmp_path: Path) -> Path:
    """A server's program with a llama-bench beside it that knows some flags."""
    for name in ("llama-server", "llama-bench"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{HELP}\nEND\n")
        program.chmod(0o755)
    return tmp_path / "llama-server"


def planned(tmp_path: Path, **more: Any) -> Work | list[str]:
    """What comes of a plan that measures with llama-bench."""
    said = {key: value for key, value in plan(**METHOD, **more).items() if value is not None}
    files = {**documents(), PLAN_FILE: yaml(said), SITE_FILE: yaml(site(str(installed(tmp_path))))}
    return prepared(tmp_path / "repo", files)


def test_an_arm_is_said_in_the_words_of_llama_bench(tmp_path: Path) -> None:
    work = planned(tmp_path)
    assert isinstance(work, Work), work
    command = work.arms["two"].command
    assert command.program == str(tmp_path / "llama-bench")
    said = dict(zip(command.arguments[::2], command.arguments[1::2], strict=True))
    assert said == {"--model": "/bin/sh", "--threads": "2", "--batch-size": "2048", "-p": "32", "-n": "8",
                    "-r": "2", "-o": "jsonl"}  # fmt: skip
    assert (work.questions, work.bench["repetitions"]) == ((), 2)


def test_a_factor_that_it_cannot_be_told_refuses_the_plan(tmp_path: Path) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"server.ctx-size": 64}}}
    found = planned(tmp_path, arms=arms)
    assert isinstance(found, list)
    assert any("llama-bench cannot be told ctx-size: measure over http" in each for each in found)


def test_a_server_without_a_llama_bench_beside_it_is_refused(tmp_path: Path) -> None:
    said = {key: value for key, value in plan(**METHOD).items() if value is not None}
    found = prepared(tmp_path, {**documents(), PLAN_FILE: yaml(said)})
    assert isinstance(found, list)
    assert any("/bin/llama-bench is no executable file" in each for each in found)


def answer(prompt: int, generated: int, samples: list[float], **more: Any) -> str:
    said = {"n_prompt": prompt, "n_gen": generated, "samples_ts": samples, "n_threads": 1, "flash_attn": 0}
    return json.dumps(said | more) + "\n"


def test_each_repetition_is_one_row_of_both_tests() -> None:
    text = "load: something\n" + answer(32, 0, [200.0, 210.0]) + answer(0, 8, [30.0, 31.0])
    found = bench.rows(text, "2026-01-01T00:00:00Z")
    assert [(row["bench_prefill_tps"], row["bench_decode_tps"]) for row in found] == [
        (200.0, 30.0),
        (210.0, 31.0),
    ]
    assert [(row["request"], row["evaluated"], row["generated"]) for row in found] == [(1, 32, 8), (2, 32, 8)]
    assert "bench_prefill_tps" not in bench.rows(answer(0, 8, [30.0]), "x")[0]


@pytest.mark.parametrize("text", ['{"n_prompt": 3}\n', "{broken\n"])
def test_an_answer_without_samples_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"samples|Expecting"):
        bench.rows(text, "x")


def test_what_it_reports_is_compared_with_what_it_was_told() -> None:
    command = Command("llama-bench", ("--threads", "2", "--flash-attn", "off"), {})
    assert bench.contradictions(answer(0, 8, [1.0], n_threads=2), command) == []
    assert bench.contradictions(answer(0, 8, [1.0]) * 2, command) == [
        "llama-bench reports n_threads 1, but was told threads 2"
    ]
