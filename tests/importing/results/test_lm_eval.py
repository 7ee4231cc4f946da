"""The evaluation harness before and after v0.4: tasks, filters, errors against items, and receipts out of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.lm_eval_samples import scored
from hio_validate.importing.results.objects import Skipped
from hio_validate.importing.results.quality_receipt import About, receipts_of, rows_of
from hio_validate.importing.results.source import Source
from hio_validate.models import reader
from tests.importing.results.reading import SAMPLES, changed, ids, metric, names, records_of

HERE = SAMPLES / "lm-eval"
ABOUT = About("lab/tiny", None, {"file": "results.json", "sha256": "a" * 64, "format": "lm-eval"})
OLD = {
    "results": {"gsm8k": {"acc": 0.008339651250947688, "acc_stderr": 0.002504942226860508}},
    "versions": {"gsm8k": 0},
    "config": {"model": "hf-causal", "model_args": "pretrained=some/model,use_accelerate=True", "num_fewshot": 8,
               "limit": None, "bootstrap_iters": 100000},
}  # fmt: skip


def written(tmp_path: Path, value: Any) -> Path:
    file = tmp_path / "results.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_a_record_for_each_filter_with_all_that_is_told_of_it() -> None:
    strict, flexible, wiki = records_of(HERE / "results.json", "lm-eval")
    assert (strict.name, flexible.name, wiki.name) == (
        "gsm8k strict-match",
        "gsm8k flexible-extract",
        "wikitext",
    )
    found = metric(strict, "exact_match")
    assert (found.definition, found.statistic, found.value, found.n) == ("accuracy", "mean", 0.7, 20)
    assert metric(strict, "exact_match_stderr").definition == "standard-error"
    assert names(flexible) == {"exact_match"}  # N/A is no number
    assert (strict.workload["few_shot"], strict.workload["limit"], strict.workload["whole"]) == (
        5,
        20.0,
        1319,
    )
    assert strict.workload["seed"] == "random 0, numpy 1234, torch 1234, fewshot 1234"
    assert (strict.subject["harness_version"], strict.at) == ("0.4.9 0123abc", "2025-09-16T05:20:00Z")
    assert metric(wiki, "word_perplexity").definition == "unknown"
    assert "which bytes the dataset has" in wiki.unknown
    assert not any(ids(each) for each in (strict, flexible, wiki))


def test_the_old_form_says_neither_items_nor_version(tmp_path: Path) -> None:
    (record,) = records_of(written(tmp_path, OLD), "lm-eval")
    assert (record.workload["filter"], record.workload["limit"], record.subject["harness_version"]) == (
        "none",
        "none",
        "unknown",
    )
    assert metric(record, "acc").n is None
    assert record.findings[0].message.endswith("is that of 1319 items")
    (receipt,) = receipts_of(record, ABOUT)
    assert (receipt["n"], receipt["seed"], receipt["dataset"]["sha256"], receipt["task_version"]) == (
        "unknown",
    ) * 3 + ("0",)


def test_a_group_has_the_items_of_its_tasks(tmp_path: Path) -> None:
    def group(value: Any) -> Any:
        value["results"]["math"] = {"alias": "math", "exact_match,strict-match": 0.5}
        value["group_subtasks"] = {"math": ["part", "gsm8k", "gsm8k"], "part": ["wikitext"]}
        return value

    record = next(
        each
        for each in records_of(changed("lm-eval/results.json", tmp_path, group), "lm-eval")
        if each.name.startswith("math")
    )
    assert (record.workload["items"], record.workload["whole"], record.workload["group"]) == (40, 1381, True)


def test_an_error_larger_than_its_items_allow_is_told(tmp_path: Path) -> None:
    def other(value: Any) -> Any:
        value["n-samples"]["gsm8k"]["effective"] = 200
        return value

    found = records_of(changed("lm-eval/results.json", tmp_path, other), "lm-eval")[0]
    assert ids(found) == ["error-contradicts-items"]
    assert f"at most {math.sqrt(0.21 / 199):.4g}, not 0.1051" in found.findings[0].message


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (1.5, set()),
        (-0.1, set()),
        ("N/A", set()),
        ("0,5", set()),
        (None, set()),
        (True, set()),
        (0, {"exact_match"}),
    ],
)
def test_what_is_no_share_is_no_metric(tmp_path: Path, value: Any, left: set[str]) -> None:
    def other(found: Any) -> Any:
        found["results"] = {"gsm8k": {"alias": "gsm8k", "exact_match,none": value}}
        return found

    (record,) = records_of(changed("lm-eval/results.json", tmp_path, other), "lm-eval")
    assert names(record) == left
    assert ("impossible-value" in ids(record)) is isinstance(value, float)
    assert ("no-number" in ids(record)) is (value is True or value == "0,5")


def test_infinity_is_a_finding(tmp_path: Path) -> None:
    text = (HERE / "results.json").read_text().replace("9.5,", "Infinity,")
    wiki = records_of(written(tmp_path, text), "lm-eval")[2]
    assert ids(wiki) == ["impossible-value"] and names(wiki) == set()


def test_log_lines_between_are_refused_or_told(tmp_path: Path) -> None:
    text = "2026-01-01 INFO saving\n" + (HERE / "results.json").read_text()
    file = written(tmp_path, text)
    with pytest.raises(CannotImport, match="the line is no data"):
        records_of(file, "lm-eval")


def test_a_cut_file_is_one_sentence_with_its_line(tmp_path: Path) -> None:
    text = (HERE / "results.json").read_text()
    with pytest.raises(CannotImport, match=r"results.json:\d+: "):
        records_of(written(tmp_path, text[: len(text) // 2]), "lm-eval")


def test_receipts_are_documents_that_the_validator_takes() -> None:
    made = [
        each for record in records_of(HERE / "results.json", "lm-eval") for each in receipts_of(record, ABOUT)
    ]
    assert [each["name"] for each in made] == [
        "gsm8k-strict-match-exact_match", "gsm8k-flexible-extract-exact_match", "wikitext-word_perplexity",
    ]  # fmt: skip
    for each in made:
        reader("receipt/v1").validate_python(each)
    assert [each["better"] for each in made] == ["higher", "higher", "lower"]
    assert (made[0]["n"], made[0]["limit"], made[0]["stderr"]) == (20, 20.0, 0.10513149660756936)
    assert made[0]["dataset"] == {"name": "gsm8k/main", "sha256": "a" * 64}
    assert made[0]["conditions"] == {"fewshot_as_multiturn": False}


def test_items_have_their_mean_and_no_texts() -> None:
    strict, flexible = records_of(SAMPLES / "lm-eval-samples/samples_gsm8k.jsonl", "lm-eval-samples")
    assert (metric(strict, "exact_match").value, metric(strict, "exact_match").n) == (0.7, 20)
    assert metric(flexible, "exact_match").value == 0.75
    source = Source(SAMPLES / "lm-eval-samples/samples_gsm8k.jsonl")
    rows = rows_of(list(scored(source, Skipped(source))), "strict-match", "exact_match")
    assert sum(each["score"] for each in rows) == 14
    assert all(set(each) == {"item", "score"} and len(each["item"]) == 64 for each in rows)


GROUP: dict[str, Any] = {
    "results": {
        "both": {"alias": "both", "acc,none": 0.5, "acc_stderr,none": 0.115, "sample_len": 400,
                 "sample_count": {"acc,none": 300}},
        "one": {"alias": " - one", "acc,none": 0.5, "acc_stderr,none": 0.05, "sample_len": 101},
    },
    "groups": {"both": {"alias": "both", "acc,none": 0.5}},
    "group_subtasks": {"both": ["one", "two"]},
    "config": {"model": "hf", "model_args": {"peft": None}},
    "lm_eval_version": "0.4.13",
    "model_name": "k3j2h1x9",
}  # fmt: skip


def test_the_error_of_a_group_is_not_held_against_its_items(tmp_path: Path) -> None:
    group, one = records_of(written(tmp_path, GROUP), "lm-eval")
    assert not ids(group) and group.workload["group"] is True and metric(group, "acc").n == 300
    assert group.workload["items"] == 400 and metric(one, "acc").n == 101 and not ids(one)
    alone = {**GROUP, "groups": {}, "group_subtasks": {}}
    assert ids(records_of(written(tmp_path, alone), "lm-eval")[0]) == ["error-contradicts-items"]


def test_a_name_given_at_random_is_no_name_of_a_model(tmp_path: Path) -> None:
    assert "model" not in records_of(written(tmp_path, GROUP), "lm-eval")[0].subject
    named = {**GROUP, "config": {"model": "hf", "model_args": {"pretrained": "org/k3j2h1x9"}}}
    assert records_of(written(tmp_path, named), "lm-eval")[0].subject["model"] == "k3j2h1x9"
