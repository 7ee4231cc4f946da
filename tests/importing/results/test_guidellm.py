"""GuideLLM's reports in every generation and in every form that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import as_row
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.guidellm_config import asked_of
from tests.importing.results.reading import SAMPLES, generation, ids, names, number, records_of

HERE = SAMPLES / "guidellm"
FILES = sorted(path.name for path in HERE.iterdir())


def changed(tmp_path: Path, change: Any) -> Path:
    report = json.loads((HERE / "report-0.5.json").read_text())
    change(report["benchmarks"][0])
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    return file


@pytest.mark.parametrize("name", FILES)
def test_every_form_says_the_same_three_requests(name: str) -> None:
    record = records_of(HERE / name, "guidellm")[0]
    assert (record.requests.completed, record.requests.asked) == (3, 4)
    latency = number(record, "request_latency")
    assert (latency.value, latency.unit, latency.definition) == (pytest.approx(2.0), "s", "latency-request")
    first = "time_to_first_token_ms" if "time_to_first_token_ms" in names(record) else "time_to_first_token"
    assert (number(record, first).value, number(record, first).unit) == (pytest.approx(700 / 3), "ms")
    assert record.subject["model"] == "acme/small-1b"
    assert record.tier is Tier.DRAFT
    assert generation(HERE / name) == {"0.1": "0.1", "0.2": "0.2", "0.5": "0.5.3"}[name[7:10]]


@pytest.mark.parametrize("name", FILES)
def test_no_text_and_no_secret_of_a_request_is_kept(name: str) -> None:
    kept = json.dumps([as_row(record) for record in records_of(HERE / name, "guidellm")])
    for secret in ("treasure", "old oak", "sk-do-not-keep", "s3cret", "user:pw"):
        assert secret not in kept


def test_time_per_output_token_counts_the_first_one_since_0_3_and_not_before(tmp_path: Path) -> None:
    old, new = (records_of(HERE / name, "guidellm")[0] for name in ("report-0.2.json", "report-0.5.json"))
    assert number(old, "time_per_output_token_ms").definition == "tpot-decode-n-weighted"
    assert number(new, "time_per_output_token_ms").definition == "tpot-whole-weighted"
    for record in (old, new):
        assert number(record, "inter_token_latency_ms").definition == "itl-request-weighted"
        assert number(record, "inter_token_latency_ms").n == 3


@pytest.mark.parametrize(
    ("lengths", "definition"),
    [
        ({"min": 21, "max": 21}, "itl-request-mean"),
        ({"min": 11, "max": 41}, "itl-request-weighted"),
        ({"min": None, "max": None}, "itl-request-weighted"),
        ({}, "itl-request-weighted"),
    ],
)
def test_a_weight_by_tokens_is_a_way_of_counting_unless_all_answers_are_known_to_be_equally_long(
    tmp_path: Path, lengths: dict[str, Any], definition: str
) -> None:
    def change(benchmark: Any) -> None:
        benchmark["metrics"]["output_token_count"]["successful"] = lengths

    record, _ = records_of(changed(tmp_path, change), "guidellm")
    assert number(record, "inter_token_latency_ms").definition == definition
    whole = number(record, "time_per_output_token_ms").definition
    assert whole == ("tpot-whole" if definition == "itl-request-mean" else "tpot-whole-weighted")


def test_the_rows_of_0_1_are_summed_up_a_request_at_a_time() -> None:
    (record,) = records_of(HERE / "report-0.1.json", "guidellm")
    assert number(record, "inter_token_latency").value == pytest.approx((100 + 100 + 50) / 3)
    assert record.requests.failed == 1


def test_a_benchmark_in_which_all_failed_measured_nothing() -> None:
    _, failed = records_of(HERE / "report-0.5.json", "guidellm")
    assert failed.requests == (9, 0, 9, 0)
    assert not failed.metrics and ids(failed) == ["zero-completed"]
    assert failed.tier is Tier.NEEDS_CONTEXT


@pytest.mark.parametrize(
    ("path", "value", "id", "lost"),
    [
        (("request_latency", "mean"), 99.0, "impossible-value", "request_latency"),
        (("request_latency", "mean"), 1.9, "summary-contradicts-rows", "request_latency"),
        (("request_latency", "median"), 9.0, "impossible-value", "request_latency"),
        (("time_to_first_token_ms", "min"), -1, "impossible-value", None),
        (("time_to_first_token_ms", "mean"), "fast", "no-number", None),
        (("time_to_first_token_ms", "mean"), 10**200, "no-number", None),
        (("output_tokens_per_second", "mean"), 900.0, "rate-contradicts-counts", "output_tokens_per_second"),
        (("output_token_count", "count"), 7, "counts-contradict", None),
    ],
)  # fmt: skip
def test_what_cannot_be_so_is_told_and_is_no_metric(
    tmp_path: Path, path: tuple[str, str], value: Any, id: str, lost: str | None
) -> None:
    def change(benchmark: Any) -> None:
        benchmark["metrics"][path[0]]["successful"][path[1]] = value

    record, _ = records_of(changed(tmp_path, change), "guidellm")
    assert id in ids(record)
    assert value not in [each.value for each in record.metrics]
    assert lost is None or lost not in names(record)
    assert "duration" in names(record)


def test_null_is_absent_and_an_empty_distribution_no_zero(tmp_path: Path) -> None:
    def change(benchmark: Any) -> None:
        benchmark["metrics"]["request_latency"]["successful"]["mean"] = None
        empty = {
            "mean": 0.0,
            "median": 0.0,
            "min": 0.0,
            "max": 0.0,
            "std_dev": 0.0,
            "count": 0,
            "percentiles": {},
        }
        benchmark["metrics"]["time_to_first_token_ms"]["successful"] = empty

    record, _ = records_of(changed(tmp_path, change), "guidellm")
    assert {each.statistic for each in record.metrics if each.name == "request_latency"} >= {"median", "p99"}
    assert not [
        each for each in record.metrics if each.name == "request_latency" and each.statistic == "mean"
    ]
    assert "time_to_first_token_ms" not in names(record)


def test_counts_that_do_not_add_up(tmp_path: Path) -> None:
    def change(benchmark: Any) -> None:
        benchmark["metrics"]["request_totals"]["total"] = 40

    record, _ = records_of(changed(tmp_path, change), "guidellm")
    assert "counts-contradict" in ids(record)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"metadata": {"guidellm_version": "0.5"}, "benchmarks": []}', "holds no benchmark"),
        ('{"metadata": {"guidellm_version": "0.5"}}', "expected a GuideLLM report"),
        ('{"metadata": {"guidellm_version": "0.5"}, "benchmarks": [3]}', "benchmark 1 is no object"),
        ('{"metadata": {"guidellm_version": "0.5"}, "benchmarks": [{"metr', "no JSON from here on"),
        (
            '{"metadata": {"guidellm_version": "0.5"}, "benchmarks": [' + "1" * 400 + "]}",
            "a number is too long",
        ),
        ("guidellm_version: 1\nbenchmarks: {", "report.any:3"),
        ("guidellm_version: 1\nbenchmarks: 3\n", "expected a GuideLLM report"),
    ],
)
def test_what_gives_nothing_is_told_in_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "report.any"
    file.write_text(content)
    with pytest.raises(CannotImport, match=said):
        records_of(file, "guidellm")


@pytest.mark.parametrize("name", FILES)
def test_a_report_cut_anywhere_is_told_or_read_never_worse(tmp_path: Path, name: str) -> None:
    raw = (HERE / name).read_bytes()
    for part in range(1, 20):
        file = tmp_path / name
        file.write_bytes(raw[: len(raw) * part // 20])
        try:
            records_of(file, "guidellm")
        except CannotImport as error:
            assert "\n" not in str(error)
        except AssertionError:
            assert part < 4, "the head alone tells what it is"


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        (
            "prompt_tokens=64,output_tokens=24",
            {"prompt_tokens": 64, "output_tokens": 24, "dataset": "synthetic"},
        ),
        ('{"prompt_tokens": 64}', {"prompt_tokens": 64, "dataset": "synthetic"}),
        ([{"kind": "synthetic_text", "output_tokens": 8}], {"output_tokens": 8, "dataset": "synthetic"}),
        (["openai/gsm8k"], {"dataset": "openai/gsm8k"}),
        (["one", "two"], {}),
        ("prompt_tokens=" + "1" * 5000, {"dataset": "prompt_tokens=" + "1" * 186}),
        ('{"prompt_tokens": ' + "[" * 3000, {}),
        (None, {}),
    ],
)
def test_what_was_asked_for_as_the_versions_write_it(data: object, asked: dict[str, object]) -> None:
    assert asked_of(data) == asked


def _told(benchmark: Any, name: str, least: float, most: float, mean: float) -> None:
    benchmark["metrics"][name]["successful"].update(min=least, max=most, mean=mean)
    benchmark["requests"] = {}


def test_a_time_that_some_requests_do_not_have_is_no_mean_of_all(tmp_path: Path) -> None:
    (same,) = records_of(
        changed(tmp_path, lambda one: _told(one, "request_latency", 1.25, 2.5, 2.0)), "guidellm"
    )[:1]
    assert {"request_latency", "time_to_first_token_ms"} <= names(same) and "absent-as-zero" not in ids(same)
    record = records_of(
        changed(tmp_path, lambda one: _told(one, "time_to_first_token_ms", 0.0, 400.0, 180.0)), "guidellm"
    )[0]
    assert "time_to_first_token_ms" not in names(record) and "absent-as-zero" in ids(record)
    assert "request_latency" in names(record)


def test_prompt_tokens_that_no_answer_told_are_not_0(tmp_path: Path) -> None:
    def untold(benchmark: Any) -> None:
        _told(benchmark, "prompt_token_count", 0.0, 0.0, 0.0)

    record = records_of(changed(tmp_path, untold), "guidellm")[0]
    assert "prompt_token_count" not in names(record) and "zero-throughout" in ids(record)
    assert record.workload.get("prompt_tokens") != 0


def test_a_rate_of_fewer_events_than_there_were_is_no_throughput(tmp_path: Path) -> None:
    def rate(value: float) -> Any:
        return lambda one: one["metrics"]["requests_per_second"]["successful"].update(mean=value)

    whole = records_of(changed(tmp_path, rate(0.77)), "guidellm")[0]
    assert number(whole, "requests_per_second").definition == "throughput-requests"
    part = records_of(changed(tmp_path, rate(0.6)), "guidellm")[0]
    assert number(part, "requests_per_second").definition == "unknown"
    assert any(each.startswith("requests_per_second: of which events") for each in part.unknown)


@pytest.mark.parametrize("name", ["report-0.2.csv", "report-0.5.csv"])
def test_a_head_that_comes_again_is_no_benchmark(tmp_path: Path, name: str) -> None:
    once = (HERE / name).read_text()
    (tmp_path / "report.csv").write_text(once + once)
    records, alone = records_of(tmp_path / "report.csv", "guidellm"), records_of(HERE / name, "guidellm")
    assert len(records) == 2 * len(alone)
    assert [each.metrics for each in records] == [each.metrics for each in alone] * 2


@pytest.mark.parametrize(
    ("upto", "why"),
    [
        ("  duration: ", "it has no type_"),
        ("  requests:", "it has no type_"),
        ("  start_time: 1", "has no end"),
    ],
)
def test_yaml_that_was_cut_is_refused_where_it_would_be_read(tmp_path: Path, upto: str, why: str) -> None:
    whole = (HERE / "report-0.5.yaml").read_text()
    at = whole.rindex(f"\n{upto}") + 1
    end = at + len(upto) if why == "has no end" else whole.index("\n", at) + 1
    (tmp_path / "report.yaml").write_text(whole[:end])
    with pytest.raises(CannotImport, match=why) as told:
        records_of(tmp_path / "report.yaml", "guidellm")
    assert told.value.line == len(whole[:end].splitlines())
    ended = whole[: whole.rindex("\nmetadata:") + 1]
    (tmp_path / "report.yaml").write_text(ended)
    assert len(records_of(tmp_path / "report.yaml", "guidellm")) == 2
