"""vLLM's serving benchmark in every generation: units, definitions, lists against statistics, what cannot be so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.averages import mean
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results import objects as objects_module
from hio_validate.importing.results import source as source_module
from hio_validate.importing.results.record_numbers import agrees, of_ordered
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.vllm_bench import VLLM_BENCH
from tests.importing.results.reading import SAMPLES, changed, ids, metric, names, records_of

HERE = SAMPLES / "vllm-bench"


def one(file: Path) -> Any:
    (record,) = records_of(file, "vllm-bench")
    return record


def test_a_detailed_file_agrees_with_its_own_lists() -> None:
    record = one(HERE / "detailed.json")
    assert record.tier is Tier.DRAFT and not ids(record)
    assert record.requests._asdict() == {"asked": 4, "completed": 3, "failed": 1, "cancelled": None}
    assert record.workload["prompt_tokens"] == 14 and record.workload["generated_tokens"] == 5
    assert record.workload["request_rate"] == "inf" and record.subject["tp"] == "2"
    first = metric(record, "mean_ttft_ms")
    assert (first.definition, first.unit, first.n) == ("ttft-client", "ms", 3)
    assert first.samples == (125.0, 250.0, 187.5)
    assert metric(record, "p99_itl_ms").n == 12 and metric(record, "p99_itl_ms").definition == "itl-per-gap"
    assert (
        metric(record, "mean_tpot_ms").definition == "itl-request-mean"
        and metric(record, "mean_tpot_ms").n == 3
    )


def test_what_the_requests_said_is_kept_nowhere() -> None:
    assert "PRIVATE" not in repr(one(HERE / "detailed.json"))


@pytest.mark.parametrize(
    ("key", "value", "finding", "gone"),
    [
        ("mean_ttft_ms", 200.0, "statistic-contradicts-samples", {"mean_ttft_ms"}),
        ("std_itl_ms", 9.0, "statistic-contradicts-samples", {"std_itl_ms"}),
        ("p90_tpot_ms", 15.5, "statistic-contradicts-samples", {"p90_tpot_ms"}),
        ("output_throughput", 60.0, "rate-contradicts-counts", {"output_throughput"}),
        ("request_throughput", 12.0, "rate-contradicts-counts", {"request_throughput"}),
        ("total_token_throughput", 16.8, "rate-contradicts-counts", {"total_token_throughput"}),
        ("request_goodput", 1.3, "rate-contradicts-counts", {"request_goodput"}),
        ("mean_itl_ms", -1.0, "impossible-value", {"mean_itl_ms"}),
        ("mean_itl_ms", "fast", "no-number", {"mean_itl_ms"}),
        ("median_ttft_ms", 9000.0, "statistics-out-of-order", {"median_ttft_ms", "p90_ttft_ms"}),
    ],
)
def test_a_number_that_cannot_be_so_is_a_finding_and_no_metric(
    tmp_path: Path, key: str, value: Any, finding: str, gone: set[str]
) -> None:
    good = names(one(HERE / "detailed.json"))
    record = one(changed("vllm-bench/detailed.json", tmp_path, {key: value}))
    assert finding in ids(record)
    assert good - names(record) == gone - {"request_goodput"}


@pytest.mark.parametrize("change", [{"completed": 2}, {"errors": ["", "", "", "failed"]}])
def test_lists_that_count_otherwise_are_told(tmp_path: Path, change: dict[str, Any]) -> None:
    record = one(changed("vllm-bench/detailed.json", tmp_path, change))
    assert {"lists-contradict-counts", "rate-contradicts-counts"} & set(ids(record))


def test_more_completed_than_asked_is_told(tmp_path: Path) -> None:
    record = one(changed("vllm-bench/detailed.json", tmp_path, {"num_prompts": 2}))
    assert ids(record) == ["completed-exceeds-asked"]


def test_the_first_token_is_not_later_than_the_end(tmp_path: Path) -> None:
    later = {"mean_ttft_ms": 900.0, "mean_e2el_ms": 800.0}
    record = one(changed("vllm-bench/pooling.json", tmp_path, later))
    assert ids(record) == ["first-token-after-end"] and not names(record) & later.keys()


def test_zero_completed_requests_are_no_evidence() -> None:
    record = one(HERE / "all-failed.json")
    assert ids(record) == ["zero-completed"] and not record.metrics
    assert record.tier is Tier.NEEDS_CONTEXT and record.requests.failed == 4


def test_null_and_nan_are_absent(tmp_path: Path) -> None:
    file = changed("vllm-bench/detailed.json", tmp_path, {"mean_ttft_ms": None, "max_concurrency": None})
    file.write_text(file.read_text().replace('"p90_ttft_ms": 237.5', '"p90_ttft_ms": NaN'))
    record = one(file)
    assert not {"mean_ttft_ms", "p90_ttft_ms"} & names(record) and not ids(record)
    assert record.name == "all-at-once" and "concurrency" not in record.workload


def test_statistics_of_nothing_observed_are_absent(tmp_path: Path) -> None:
    def without_stream(values: dict[str, Any]) -> dict[str, Any]:
        return {
            key: 0.0 if key.endswith("_ttft_ms") else value for key, value in values.items() if key != "ttfts"
        }

    record = one(changed("vllm-bench/detailed.json", tmp_path, without_stream))
    assert not [name for name in names(record) if "ttft" in name]
    assert any(text.startswith("ttft: every statistic is 0") for text in record.unknown)


@pytest.mark.parametrize(
    ("backend", "endpoint", "definition"),
    [
        ("openai", "openai", "ttft-client"),
        ("openai-chat", "openai-chat", "ttft-event"),
        ("openai-chat", None, "unknown"),
    ],
)
def test_the_first_token_of_a_chat_is_counted_otherwise(
    tmp_path: Path, backend: str, endpoint: str | None, definition: str
) -> None:
    def asked(values: dict[str, Any]) -> dict[str, Any]:
        values |= {"backend": backend, "endpoint_type": endpoint}
        return {key: value for key, value in values.items() if value is not None}

    record = one(changed("vllm-bench/detailed.json", tmp_path, asked))
    assert metric(record, "median_ttft_ms").definition == definition


def test_the_generation_of_2023_has_other_names() -> None:
    record = one(HERE / "of-2023.json")
    assert metric(record, "request_inthroughput").definition == "throughput-requests"
    assert metric(record, "input_throughput").definition == "throughput-input"
    assert (
        metric(record, "mean_tpot_ms").definition == "tpot-whole"
    )  # latency / tokens, until it left the first one out
    assert record.subject["version"] == "0.2.3" and not record.foreign


@pytest.mark.parametrize("key", ["request_goodput", "request_goodput:"])
def test_goodput_with_and_without_its_colon(tmp_path: Path, key: str) -> None:
    record = one(changed("vllm-bench/all-failed.json", tmp_path, {"completed": 3, "duration": 2.0, key: 1.0}))
    assert metric(record, key).definition == "goodput-requests" and metric(record, key).unit == "request/s"


def test_drafting_is_percent_and_makes_gaps_no_tokens(tmp_path: Path) -> None:
    record = one(HERE / "drafted.json")
    share = metric(record, "spec_decode_acceptance_rate")
    assert (share.value, share.unit, share.definition) == (62.5, "%", "draft-acceptance")
    assert metric(record, "spec_decode_acceptance_length").value == 2.25
    assert any(text.startswith("tokens in a piece") for text in record.unknown)
    record = one(changed("vllm-bench/drafted.json", tmp_path, {"spec_decode_acceptance_rate": 0.625}))
    assert ids(record) == ["rate-contradicts-counts"]


def test_pieces_of_several_tokens_are_seen_in_the_lists(tmp_path: Path) -> None:
    def bundled(values: dict[str, Any]) -> dict[str, Any]:
        values["itls"] = [each[:1] for each in values["itls"]]
        return {key: value for key, value in values.items() if not key.endswith("_itl_ms")} | {
            "mean_itl_ms": 14.0
        }

    record = one(changed("vllm-bench/detailed.json", tmp_path, bundled))
    assert "tokens in a piece: 15 tokens came in 6 pieces, so that a gap is not a token" in record.unknown


def test_pooling_counts_prompts_alone() -> None:
    record = one(HERE / "pooling.json")
    assert metric(record, "total_token_throughput").definition == "throughput-input"


def test_appended_runs_are_records_with_their_lines() -> None:
    records = records_of(HERE / "appended.json", "vllm-bench")
    assert [(each.name, each.line) for each in records] == [
        ("concurrency-2", 1), ("rate-10", 2), ("concurrency-2-2", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("file", ["sweep.json", "summary.csv"])
def test_a_sweep_gives_the_same_records_as_list_and_as_table(file: str) -> None:
    records = records_of(HERE / file, "vllm-bench")
    assert [each.name for each in records] == ["concurrency-2", "rate-10"]
    alone = records_of(HERE / "appended.json", "vllm-bench")
    assert [each.metrics for each in records] == [each.metrics for each in alone[:2]]


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda text: text[: len(text) // 2], r"changed.json:\d+: no JSON from here on"),
        (lambda text: "INFO 01-02 starting\n" + text, "changed.json:1: the line is no data: 'INFO"),
        (
            lambda text: text.replace("\n{", "\nINFO done\n{", 1),
            "changed.json:2: the line is no data: 'INFO done'",
        ),
        (lambda text: text + "\n[1]", "changed.json:4: the line is no data"),
    ],
)
def test_what_is_no_row_is_refused_with_its_line(tmp_path: Path, break_it: Any, said: str) -> None:
    file = tmp_path / "changed.json"
    file.write_text(break_it((HERE / "appended.json").read_text()))
    source = Source(file)
    assert VLLM_BENCH.recognises(source)
    with pytest.raises(CannotImport, match=said):
        list(VLLM_BENCH.read(source))


def test_a_secret_in_the_metadata_is_not_kept(tmp_path: Path) -> None:
    record = one(changed("vllm-bench/detailed.json", tmp_path, {"api_key": "hunter2", "gpu": "A", "note": 1}))
    assert record.foreign == {"gpu": "A", "note": 1}


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40), st.integers(0, 6))
def test_a_rounded_statistic_agrees_with_its_samples(samples: list[float], digits: int) -> None:
    for statistic in ("mean", "median", "std", "p99"):
        computed = of_ordered(statistic, sorted(samples), mean(samples))
        assert computed is not None and agrees(round(computed, digits), computed)
        assert not agrees(computed * 1.01 + 1, computed)


def test_many_objects_on_one_line_are_read(tmp_path: Path) -> None:
    rows = (HERE / "appended.json").read_text().split("\n")
    file = tmp_path / "concatenated.json"
    file.write_text("".join(rows) + "\n" + json.dumps(json.loads(rows[0]), indent=2))
    assert len(records_of(file, "vllm-bench")) == 4


@pytest.mark.parametrize("sample", ["appended.json", "sweep.json", "detailed.json", "summary.csv"])
def test_log_lines_are_skipped_and_told_where_that_was_asked_for(tmp_path: Path, sample: str) -> None:
    text, file = (HERE / sample).read_text(), tmp_path / sample
    log = "" if sample == "summary.csv" else "[2026-01-02 03:04:05] INFO starting\nloading\n"
    file.write_text(f"{log}{text.rstrip()}\nbye\n")
    with pytest.raises(CannotImport, match="the line is no data"):
        list(VLLM_BENCH.read(Source(file)))
    records = list(VLLM_BENCH.read(Source(file, skip_log_lines=True)))
    assert [each.metrics for each in records] == [
        each.metrics for each in records_of(HERE / sample, "vllm-bench")
    ]
    (finding,) = [each for each in records[-1].findings if each.id != "few-samples"]
    assert finding.id == "skipped-lines" and finding.line == (1 if log else 4)


def test_a_cut_object_is_no_log_line(tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    file.write_text((HERE / "appended.json").read_text()[:-9])
    with pytest.raises(CannotImport, match=r"cut\.json:3: no JSON from here on"):
        list(VLLM_BENCH.read(Source(file, skip_log_lines=True)))


@pytest.mark.parametrize(("completed", "few"), [(19, True), (20, False)])
def test_few_requests_are_told(tmp_path: Path, completed: int, few: bool) -> None:
    counts = {"completed": completed, "num_prompts": 20, "request_throughput": completed / 2.0}
    record = one(changed("vllm-bench/pooling.json", tmp_path, counts))
    assert [each.id for each in record.findings] == ["few-samples"] * few


def test_a_request_whose_first_token_comes_after_its_end(tmp_path: Path) -> None:
    def late(values: dict[str, Any]) -> dict[str, Any]:
        values["latencies"][1] = values["ttfts"][1] / 2
        return {key: value for key, value in values.items() if not key.endswith(("_e2el_ms", "_tpot_ms"))}

    record = one(changed("vllm-bench/detailed.json", tmp_path, late))
    assert ids(record) == ["first-token-after-end"]
    assert not [name for name in names(record) if "ttft" in name]


def test_more_accepted_than_drafted_is_told(tmp_path: Path) -> None:
    counts = {
        "spec_decode_acceptance_rate": 125.0,
        "spec_decode_accepted_tokens": 10,
        "spec_decode_acceptance_length": 3.5,
    }
    record = one(changed("vllm-bench/drafted.json", tmp_path, counts))
    assert ids(record) == ["impossible-value"] and "spec_decode_acceptance_rate" not in names(record)


def test_the_warm_up_of_a_sweep_counts_nowhere(tmp_path: Path) -> None:
    record = one(changed("vllm-bench/drafted.json", tmp_path, {"run_number": -1}))
    assert ids(record) == ["warm-up"] and not record.metrics


def test_a_point_of_a_sweep_that_failed_measured_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run=0.failure.json"
    file.write_text(
        json.dumps(
            {"run_number": 0, "error_type": "RuntimeError", "error": "x", "serve_overrides": {}}, indent=2
        )
    )
    with pytest.raises(CannotImport, match=r"failed \(RuntimeError\): nothing was measured") as told:
        list(VLLM_BENCH.read(Source(file)))
    assert told.value.code == 3


def test_a_line_too_long_for_a_line_is_read_as_a_whole_up_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = changed("vllm-bench/detailed.json", tmp_path, {})
    monkeypatch.setattr(source_module, "LONGEST", 1000)
    assert names(one(file)) == names(one(HERE / "detailed.json"))
    for module in (source_module, objects_module):
        monkeypatch.setattr(module, "WHOLE", 1500)
    with pytest.raises(CannotImport, match=r"changed\.json:1: the line is longer"):
        list(VLLM_BENCH.read(Source(file)))


def test_steps_of_a_diffusion_model_are_no_drafts(tmp_path: Path) -> None:
    drafted = "vllm-bench/drafted.json"
    speech = one(changed(drafted, tmp_path, {"rtfx": 0.0}))
    assert "spec_decode_acceptance_rate" in names(speech) and "rtfx" not in speech.foreign
    told = {"diffusion_denoising_steps": 40, "rtfx": 3.5, "probe_completed": 7}
    record = one(changed(drafted, tmp_path, told))
    assert not {"spec_decode_acceptance_rate", "spec_decode_acceptance_length"} & set(names(record))
    assert any("diffusion" in each for each in record.unknown)
    assert record.foreign["diffusion_denoising_steps"] == 40 and record.foreign["rtfx"] == 3.5
    assert record.workload["probe_requests"] == 7
