"""Published and recorded results of llama.cpp are read. `HIO_CASES` names the folder with results/, llama-server/, logs/."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.evidence.observed import Observation, faults_of
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source

CASES = Path(os.environ.get("HIO_CASES", "nowhere"))
pytestmark = pytest.mark.skipif(
    not (CASES / "results").is_dir(), reason="HIO_CASES names no folder with results"
)


def records(file: str, format: str, skip: bool = False) -> list[Observation]:
    source = Source(CASES / file, skip_log_lines=skip)
    importer = importer_of(source)
    assert importer is not None and importer.format == format
    found = list(importer.read(source))
    assert len({each.name for each in found}) == len(found)
    assert not [fault for each in found for metric in each.metrics for fault in faults_of(metric)]
    return found


def kinds(found: list[Observation]) -> list[tuple[str, int]]:
    return [(finding.id, finding.line) for each in found for finding in each.findings]


@pytest.mark.parametrize(("form", "count"), [("jsonl", 12), ("csv", 2), ("sql", 2), ("md", 2)])
def test_a_build_that_does_not_know_itself_is_not_build_0(form: str, count: int) -> None:
    found = records(f"results/llama-bench_b11434.{form}", "llama-bench")
    assert len(found) == count
    for each in found:
        assert "build" not in each.subject and "which source was built" in each.unknown
        assert each.tier is Tier.DRAFT and each.subject["model_type"] == "gemma3 270M Q4_K - Medium"


def test_samples_are_kept_and_a_spread_that_wrapped_is_not() -> None:
    found = records("results/llama-bench_b11434.jsonl", "llama-bench")
    assert found[0].metrics[0].samples == (401.902, 416.2, 358.899)
    assert found[0].metrics[2].samples == (318485388, 307544409, 356646572)
    # Its integers hold no square of half a minute in nanoseconds.
    assert kinds(found) == [("std-contradicts-samples", 9), ("std-contradicts-samples", 12)]
    assert [each.name for each in found[6:9]] == [
        "pp128 n_threads=2",
        "pp512 n_threads=2",
        "tg32 n_threads=2",
    ]


def test_lines_of_the_log_are_refused_or_told() -> None:
    file = "results/llama-bench_stderr-mixed-in.jsonl"
    with pytest.raises(CannotImport, match=r"jsonl:1: the line is no data.*--skip-log-lines"):
        records(file, "llama-bench")
    found = records(file, "llama-bench", skip=True)
    assert [each.name for each in found] == ["pp128", "pp512"]
    assert kinds(found) == [("skipped-lines", 1)] and "3 lines" in found[1].findings[0].message


def test_failed_rows_of_a_hand_made_table_are_no_zeros() -> None:
    found = records("results/rcarmo_spacemit-model-sweep-2026-06-10.csv", "rate-table")
    failed = [each for each in found if each.requests.failed]
    assert kinds(failed) == [("failed-row", line) for line in (3, 5, 7, 10)]
    assert len(found) == 4 + 2 * 8 and not any(each.metrics for each in failed)
    assert all(metric.value > 0 for each in found for metric in each.metrics if metric.statistic == "mean")


def test_drafted_and_accepted_are_exact_and_one_token_is_no_prefill() -> None:
    (found,) = records("results/llama.cpp_PR12603_timings_with_draft.json", "llama-server-response")
    told = {each.name: each for each in found.metrics}
    assert (told["draft_n_accepted"].value, told["draft_n_accepted"].n) == (65 / 347, 347)
    assert told["predicted_per_second"].definition == "decode-rate-n"
    assert "prompt_per_second" not in told and ("no-prefill", 1) in kinds([found])


def test_the_cache_answered_the_second_time() -> None:
    (cold,) = records("llama-server/b11434/completion-cold.json", "llama-server-response")
    (again,) = records("llama-server/b11434/completion-same-prompt-again.json", "llama-server-response")
    assert cold.findings == [] and kinds([again]) == [("cache-answered", 1)]
    assert (cold.workload["cached_tokens"], again.workload["cached_tokens"]) == (0, 8)
    assert cold.workload["prompt_tokens"] == again.workload["prompt_tokens"] == 13
    # This build counts 47 of 48 tokens over the decode time.
    assert {each.definition for each in cold.metrics} >= {"decode-rate-n-1", "prefill-rate-evaluated"}
    assert "a man named John" not in repr(cold)


@pytest.mark.parametrize(("file", "names"), [
    ("props.json", ["props"]), ("slots.json", ["slot-0", "slot-1"]), ("models.json", ["model-1"]),
])  # fmt: skip
def test_what_a_server_says_of_itself_is_identity(file: str, names: list[str]) -> None:
    found = records(f"llama-server/b11434/{file}", "llama-server-facts")
    assert [each.name for each in found] == names
    for each in found:
        assert (
            each.metrics == [] and each.tier is Tier.NEEDS_CONTEXT and each.findings[0].id == "identity-only"
        )
        assert any("K/V types, flash attention" in unknown for unknown in each.unknown)


def test_counters_are_no_rates() -> None:
    (found,) = records("llama-server/b11434/metrics.txt", "llama-server-metrics")
    assert {each.definition for each in found.metrics} == {"unknown"}
    assert found.workload["tokens_predicted_total"] == 96 and found.tier is Tier.NEEDS_CONTEXT


@pytest.mark.parametrize("build", ["b11434", "b10867"])
def test_help_names_what_learns_it(build: str) -> None:
    with pytest.raises(CannotImport, match="hio engine learn"):
        records(f"llama-server/{build}/help.txt", "llama-server-facts")


def test_a_log_says_the_same_as_the_answers_to_its_requests() -> None:
    found = records("llama-server/b11434/server.log", "llama-server-log")
    for each, file in zip(found, ("cold", "same-prompt-again"), strict=True):
        (answer,) = records(f"llama-server/b11434/completion-{file}.json", "llama-server-response")
        told = {metric.name: metric.value for metric in answer.metrics}
        assert {metric.name for metric in each.metrics} == told.keys()
        for metric in each.metrics:
            assert metric.value == pytest.approx(told[metric.name], abs=0.0051)  # a log has two decimals
        assert each.workload["cached_tokens"] == answer.workload["cached_tokens"]
        assert (each.subject["cache_type_k"], each.subject["flash_attn"]) == ("q8_0", "enabled")


def test_logs_without_requests() -> None:
    (vulkan,) = records("logs/llama-server_b115xx_vulkan-2slots_gemma4.log", "llama-server-log")
    assert "disabled.cache_reuse" in vulkan.subject and ("disabled-feature", 0) in kinds([vulkan])
    assert any("where tensors lie" in each for each in vulkan.unknown)
    assert not any(name.startswith("buffer.") for name in vulkan.subject)
    (shared,) = records("logs/llama_cpp_23652_unified-kv-4-slots.excerpt.log", "llama-server-log")
    assert (shared.subject["n_slots"], shared.subject["n_ctx_slot"]) == (4, 1024)
    assert any("share one pool" in each for each in shared.unknown)
    (partial,) = records("logs/llama_cpp_PR12449_cuda-offload_b2025-03.excerpt.log", "llama-server-log")
    assert partial.subject["buffer.CUDA_Host.compute_mib"] == 23.0
    assert partial.subject["buffer.CUDA0.compute_mib"] == 508.03
