"""hio quality: receipts out of result files, and one held against another; real files, real command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Severity
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.cli.console import Said, hio, one_sentence
from tests.importing.results.reading import SAMPLES

RESULTS = SAMPLES / "lm-eval/results.json"
ITEMS = SAMPLES / "lm-eval-samples/samples_gsm8k.jsonl"
OPS = SAMPLES / "test-backend-ops/text.txt"
STRICT = ("--task", "gsm8k", "--filter", "strict-match")
ROOM = "manifests/services/lab/tiny/receipts"


def gate(cwd: Path, one: Any, other: Any, *more: Any, floor: float = 0.5, margin: float = 0.3) -> Said:
    return hio(cwd, "quality", "gate", one, other, "--floor", str(floor), "--margin", str(margin), *more)


def other(tmp_path: Path, **changed: Any) -> Path:
    """The results with some of their keys replaced."""
    value = json.loads(RESULTS.read_text())
    for key, new in changed.items():
        value[key.replace("_of_", "-")] = new
    file = tmp_path / "other.json"
    file.write_text(json.dumps(value))
    return file


def samples(tmp_path: Path, right: int) -> Path:
    """The samples with so many right by the strict filter."""
    rows = [json.loads(line) for line in ITEMS.read_text().splitlines()]
    for row in rows:
        if row["filter"] == "strict-match":
            row["exact_match"] = float(row["doc_id"] < right)
    file = tmp_path / "other.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_two_files_meet_the_gate_or_do_not(tmp_path: Path) -> None:
    said = gate(tmp_path, RESULTS, RESULTS, *STRICT)
    assert said.code == 0 and "quality gate met" in said.out and "Newcombe" in said.out
    assert "asked 20 of 1319" in " ".join(said.out.split())
    assert all(len(line) <= 80 or "/" in line for line in said.out.splitlines())
    below = gate(tmp_path, RESULTS, RESULTS, *STRICT, floor=0.8)
    assert below.code == 1 and "the floor is 0.8" in " ".join(below.out.split())
    unshown = gate(tmp_path, RESULTS, RESULTS, *STRICT, margin=0.1)
    assert unshown.code == 1 and "or compare item by item: --baseline-samples" in " ".join(
        unshown.out.split()
    )


def test_items_make_the_comparison_paired_and_narrower(tmp_path: Path) -> None:
    words = (*STRICT, "--baseline-samples", ITEMS, "--candidate-samples", ITEMS, "--format", "json")
    shape = json.loads(gate(tmp_path, RESULTS, RESULTS, *words, margin=0.15).out)
    assert (shape["version"], shape["outcome"], shape["exit_code"]) == (1, "met", 0)
    assert shape["difference"]["method"].startswith("Tango")


def test_items_that_are_not_those_of_the_number_are_refused(tmp_path: Path) -> None:
    said = gate(tmp_path, RESULTS, RESULTS, *STRICT, "--candidate-samples", samples(tmp_path, 3))
    assert said.code == 1 and "0.7 by the results, 0.15 by the samples" in one_sentence(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lm_eval_version": "0.4.2"}, "the version of the harness differs"),
        ({"task_hashes": {"gsm8k": "b" * 64}}, "the dataset's bytes differs"),
        ({"task_hashes": {}}, "one side does not say the dataset's bytes"),
        ({"n_of_shot": {"gsm8k": 0}}, "the examples in front differs: 5 and 0"),
        (
            {"n_of_samples": {"gsm8k": {"original": 1319, "effective": 21}}},
            "how many items were asked differs",
        ),
        ({"fewshot_as_multiturn": True}, "fewshot_as_multiturn differs: False and True"),
        ({"versions": {"gsm8k": 2.0}}, "the version of the task differs"),
    ],
)
def test_what_is_not_the_same_is_not_compared(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    found = gate(tmp_path, RESULTS, other(tmp_path, **changed), *STRICT)
    assert found.code == 3
    assert said in " ".join(found.out.split())


def test_unknown_is_never_equal_unless_somebody_gives_a_word(tmp_path: Path) -> None:
    file = other(tmp_path, task_hashes={})
    found = gate(tmp_path, file, file, *STRICT)
    assert found.code == 3 and "unknown is never equal" in " ".join(found.out.split())
    given = gate(tmp_path, file, file, *STRICT, "--same", "dataset")
    assert given.code == 0 and "dataset was the same" in given.out


def test_a_file_with_several_numbers_asks_which_is_meant(tmp_path: Path) -> None:
    said = gate(tmp_path, RESULTS, RESULTS)
    assert said.code == 2
    assert "gsm8k strict-match exact_match, gsm8k flexible-extract" in one_sentence(said)


def test_a_number_that_is_no_share_needs_its_error(tmp_path: Path) -> None:
    said = gate(tmp_path, RESULTS, RESULTS, "--task", "wikitext", "--same", "dataset", floor=10)
    assert (
        said.code == 3 and "not measurable" in said.out and "no standard error" in " ".join(said.out.split())
    )


def test_receipts_are_written_once_and_the_validator_takes_them(tmp_path: Path) -> None:
    words = (
        "quality",
        "record",
        RESULTS,
        "--service",
        "lab/tiny",
        "--samples",
        ITEMS,
        *STRICT,
        "--repo",
        tmp_path,
        "--write",
    )
    said = hio(tmp_path, *words)
    assert said.code == 0 and said.out == f"wrote {ROOM}/gsm8k-strict-match-exact_match.yaml\n"
    assert (
        hio(tmp_path, "quality", "record", OPS, "--service", "lab/tiny", "--repo", tmp_path, "--write").code
        == 0
    )
    again = hio(tmp_path, *words)
    assert again.code == 1 and "exists and is never replaced" in one_sentence(again)
    repo = load(Folder(tmp_path))
    assert len(list(repo.of("receipt/v1"))) == 2
    report = engine.run(repo)
    assert [each.message for each in report.of(Severity.ERROR)] == []
    assert any(each.rule == "few-items" for each in report.diagnostics)
    (source,) = (tmp_path / ROOM).glob("results.json-*.receipt")
    assert source.read_bytes() == RESULTS.read_bytes()
    assert "question" not in "".join(path.read_text() for path in (tmp_path / ROOM).glob("*.jsonl"))
    by_name = "gsm8k-strict-match-exact_match"
    found = gate(tmp_path, by_name, by_name, "--repo", tmp_path, margin=0.15)
    assert found.code == 0 and "Tango" in found.out
    receipt = tmp_path / ROOM / f"{by_name}.yaml"
    honest = receipt.read_bytes()
    (value,) = [line for line in honest.splitlines() if line.startswith(b"value: ")]
    receipt.write_bytes(honest.replace(value, b"value: 0.99"))
    edited = gate(tmp_path, by_name, by_name, "--repo", tmp_path)
    assert edited.code == 1 and "says value 0.99, the file it was read from" in one_sentence(edited)
    receipt.write_bytes(honest)
    source.unlink()
    gone = gate(tmp_path, by_name, by_name, "--repo", tmp_path)
    assert gone.code == 3 and "is missing or has other bytes" in one_sentence(gone)
    source.write_bytes(RESULTS.read_bytes())
    wrong = gate(tmp_path, by_name, "test-backend-ops-Vulkan0", "--repo", tmp_path)
    assert wrong.code == 2 and "of kind operator-test" in one_sentence(wrong)


def test_an_operator_test_keeps_every_case_and_its_tolerance(tmp_path: Path) -> None:
    words = (
        "quality",
        "record",
        OPS,
        "--service",
        "lab/tiny",
        "--accumulation",
        "default",
        "--format",
        "json",
    )
    (made,) = json.loads(hio(tmp_path, *words, "--repo", tmp_path).out)["receipts"]
    assert (made["backend"], made["accumulation"], made["reference"]) == ("Vulkan0", "default", "CPU")
    assert made["operators"]["MUL_MAT"] == {
        "ok": 1,
        "failed": 1,
        "not_supported": 1,
        "worst_nmse": 0.000612,
        "tolerance": 0.0005,
    }
    assert made["operators"]["SOFT_MAX"]["tolerance"] == "unknown"
    assert made["cases"]["count"] == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("{}", 1, "expected results of lm-eval or test-backend-ops"),
        ("", 1, "expected results of lm-eval or test-backend-ops"),
        (RESULTS.read_text()[:700], 1, "results.json:"),
        (
            RESULTS.read_text().replace('"tiny"', '"sk-abcdefghijklmnopqrstuvwxyz0123456789abcd"', 1),
            1,
            "credential",
        ),
        (RESULTS.read_text().replace('"git_hash"', '"samples": {}, "git_hash"'), 1, "holds the samples"),
        ("Backend 1/1: X\n\n  ABS(type=f32): SUPPORTED\n", 3, "nothing was tested"),
    ],
)
def test_a_file_that_gives_no_receipt_is_one_sentence(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    found = hio(tmp_path, "quality", "record", file, "--service", "lab/tiny", "--repo", tmp_path)
    assert (found.code, said in one_sentence(found)) == (code, True), found.all


@pytest.mark.parametrize("term", ["--floor", "--margin", "--alpha"])
@pytest.mark.parametrize("value", ["nan", "inf", "-nan"])
def test_a_gate_asks_for_finite_numbers(tmp_path: Path, term: str, value: str) -> None:
    said = gate(tmp_path, RESULTS, RESULTS, term, value)
    assert said.code == 2 and "Error: Invalid value for '" + term in said.all


def test_a_number_that_is_none_is_not_measured(tmp_path: Path) -> None:
    file = tmp_path / "nan.json"
    file.write_text('{"results": {"gsm8k": {"acc,none": NaN}}}')
    for said in (
        gate(tmp_path, file, file),
        hio(tmp_path, "quality", "record", file, "--service", "lab/tiny"),
    ):
        assert said.code == 3 and "no number that can be one of its metric" in one_sentence(said)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert hio(
        tmp_path, "quality", "record", "none.json", "--service", "lab/tiny", "--repo", tmp_path
    ).code in (1, 3)
    found = gate(tmp_path, "none.json", "none.json", "--repo", tmp_path)
    assert found.code == 2 and "no file and no readable receipt is called none.json" in one_sentence(found)


@pytest.mark.parametrize("file", [RESULTS, OPS])
def test_import_says_that_receipts_are_made_of_such_files(tmp_path: Path, file: Path) -> None:
    said = hio(tmp_path, "import", file)
    assert said.code == 0
    assert f"hio quality record {file} --service SITE/NAME --write" in " ".join(said.out.split())
