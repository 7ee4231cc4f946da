"""hio baseline: what is recorded and refused, and what a later measurement is beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.source import read
from tests.cli.console import Said, hio, one_sentence
from tests.cli.test_cli_compare import observation
from tests.cli.test_cli_compare import record as a_record
from tests.evidence.experiment import whole
from tests.small_repo import SERVICE, write

SAID = ("--graph-mode", "off", "--devices", "0", "--delivery", "native")
NOW = SAID


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return whole(tmp_path).root


def record(root: Path, *words: str, said: tuple[str, ...] = SAID, tolerance: str = "2") -> Said:
    return hio(root, "baseline", "record", "nightly", "threads:base", *said, "--tolerance", tolerance, *words)


def written(root: Path, name: str = "nightly") -> dict[str, Any]:
    file = next((root / "ledger").rglob(f"{name}.yaml"))
    data: dict[str, Any] = read(file.read_bytes(), file.name).data
    return data


def test_every_number_comes_from_the_raw_rows(repo: Path) -> None:
    assert record(repo, "--floor", "ttft_ms=3").code == 0
    entry = written(repo)
    decode, ttft = entry["dimensions"]
    assert decode == {
        "metric": "decode_tps", "definition": "decode-rate-n", "statistic": "median", "better": "higher",
        "value": 50.1, "unit": "token/s", "n": 4, "tolerance_percent": 2.0,
    }  # fmt: skip
    assert (ttft["better"], ttft["floor"]) == ("lower", 3.0)
    assert entry["conditions"] == {
        "arm": "base", "shapes": {"dataset": "tides", "prompt_tokens": 5, "generated_tokens": 8}, "concurrency": 1,
        "cache": "cold", "graph_mode": "off", "devices": 0, "source": "b1", "delivery": "native", "method": "http",
        "trials": 4,
    }  # fmt: skip
    assert set(entry["pins"]) == {"stack", "run", "capture"}
    found = json.loads(hio(repo, "validate", "--format", "json").out)["diagnostics"]
    assert not [each for each in found if "nightly" in json.dumps(each)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"said": ()}, "give --graph-mode off|on, --devices N, --delivery native|image"),
        ({"said": ("--graph-mode", "none", *SAID[2:])}, "graph mode 'none' only holds a place"),
        ({"said": (*SAID, "--source", "b2")}, "source was b1 by threads:base itself, not b2"),
        ({"said": (*SAID, "--concurrency", "2")}, "concurrency was 1 by threads:base itself, not 2"),
        (
            {"said": (*SAID, "--shape", "prompt_tokens=6")},
            "prompt tokens was 5 by threads:base itself, not 6",
        ),
        ({"said": (*SAID, "--shape", "prompt_tokens")}, "--shape is KEY=VALUE"),
        ({"tolerance": "decode_tps=2"}, "say how much ttft_ms may change"),
        ({"tolerance": "speed=2"}, "threads:base has no metric speed; it has decode_tps, ttft_ms"),
        ({"tolerance": "much"}, "expected PERCENT or METRIC=PERCENT with a number of 0 or more, got much"),
        ({"tolerance": "-1"}, "expected PERCENT or METRIC=PERCENT"),
        ({"tolerance": "nan"}, "expected PERCENT or METRIC=PERCENT"),
    ],
)
def test_what_is_missing_or_contradicts_is_refused(repo: Path, words: dict[str, Any], sentence: str) -> None:
    said = record(repo, **words)
    assert said.code == 2 and sentence in one_sentence(said), said.err
    assert not list((repo / "ledger").rglob("nightly.yaml"))


def test_an_arm_with_a_change_is_no_stack(repo: Path) -> None:
    said = hio(repo, "baseline", "record", "nightly", "threads:two", *SAID, "--tolerance", "2")
    assert said.code == 2 and "threads:two is base with server.threads changed" in one_sentence(said)


def test_a_name_is_given_once_and_the_refusal_says_what_changed(repo: Path) -> None:
    assert record(repo).code == 0
    before = next((repo / "ledger").rglob("nightly.yaml")).read_bytes()
    same = record(repo)
    assert same.code == 1 and one_sentence(same).endswith("stays as it is, and says the same")
    other = record(repo, said=("--graph-mode", "full", "--devices", "0", "--delivery", "image"))
    assert other.code == 1
    assert one_sentence(other).endswith(
        "changed: graph mode off -> full; delivery native -> image; a new name is needed"
    )
    assert next((repo / "ledger").rglob("nightly.yaml")).read_bytes() == before


def test_better_worse_and_within_are_words_beside_both_values(repo: Path) -> None:
    record(repo, "--floor", "ttft_ms=5")
    said = hio(repo, "baseline", "diff", "nightly", "threads:two", *NOW)
    assert said.code == 0 and max(map(len, said.out.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[1] == "1 better, 1 within"
    assert "decode_tps median 50.1 (n 4) 60.25 token/s (n 4) +20.26 % better (±2 %)" in lines
    assert "within (±2 %, floor 5 ms)" in " ".join(said.out.split())


def test_the_arm_of_an_equal_stack_is_within(repo: Path) -> None:
    record(repo, "--metric", "decode_tps")
    said = hio(repo, "baseline", "diff", "nightly", "aa:again", *NOW, "--exit-code")
    assert said.code == 0 and "1 within" in said.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--graph-mode", "off", "--devices", "0"), "delivery: native in nightly, unknown in threads:two"),
        (("--delivery", "image"), "delivery: native in nightly, image in threads:two"),
    ],
)
def test_another_or_an_unknown_condition_asks_for_a_new_baseline(
    repo: Path, words: tuple[str, ...], sentence: str
) -> None:
    record(repo)
    said = hio(repo, "baseline", "diff", "nightly", "threads:two", *words)
    assert said.code == 3
    assert "2 not comparable" in said.out and "a new baseline id is needed" in said.out
    assert said.out.count("as told above") == 1 and "next: hio baseline record NAME" in said.out
    assert sentence in " ".join(said.out.split()) and "%" not in said.out


def test_graphs_and_devices_are_told(repo: Path) -> None:
    record(repo)
    said = hio(repo, "baseline", "diff", "nightly", "threads:two", "--delivery", "native", "--devices", "1")
    assert said.code == 0
    assert "note: graph mode: off in nightly, unknown in threads:two" in said.out
    assert "note: devices: 0 in nightly, 1 in threads:two" in said.out


def test_an_observation_is_a_baseline_and_another_workload_is_not_compared(repo: Path) -> None:
    write(repo, observation("bench", a_record("c4", 100.0), a_record("c8", 120.0, concurrency=8)))
    write(repo, observation("later", a_record("c4", 90.0)))
    facts = (*SAID, "--cache", "cold", "--source", "b1")
    said = hio(repo, "baseline", "record", "load", "bench#c4", *facts, "--tolerance", "2", "--stack", "base")
    assert said.code == 0, said.err
    assert written(repo, "load")["conditions"]["method"] == "vllm-bench"
    worse = hio(repo, "baseline", "diff", "load", "later", *facts, "--exit-code")
    assert worse.code == 1 and "2 worse" in worse.out
    other = json.loads(hio(repo, "baseline", "diff", "load", "bench#c8", *facts, "--format", "json").out)
    assert (other["version"], other["exit_code"]) == (1, 3)
    assert other["changed"] == ["concurrency: 4 in load, 8 in bench#c8"]
    assert {each["word"] for each in other["dimensions"]} == {"not comparable"}


def test_a_file_is_held_against_a_baseline_and_never_recorded(repo: Path) -> None:
    write(repo, observation("bench", a_record("c4", 100.0)))
    table = "# 512 prompt tokens, 64 generated\nconfig\tprefill_ms\tprefill_tok_s\non\t2048\t250.0\n"
    (repo / "table.tsv").write_text(table)
    facts = (*SAID, "--cache", "cold", "--source", "b1")
    assert (
        hio(repo, "baseline", "record", "load", "bench", *facts, "--tolerance", "2", "--stack", "base").code
        == 0
    )
    shape = json.loads(hio(repo, "baseline", "diff", "load", "table.tsv", *facts, "--format", "json").out)
    assert "method: vllm-bench in load, matched-table in table.tsv" in shape["changed"]
    said = hio(
        repo, "baseline", "record", "other", "table.tsv", *facts, "--tolerance", "2", "--concurrency", "4"
    )
    assert said.code == 2 and "table.tsv is a file, which nobody pins" in one_sentence(said)


def test_a_plain_baseline_has_no_numbers(repo: Path) -> None:
    said = hio(repo, "baseline", "diff", "b0", "threads:two")
    assert said.code == 2 and "b0 says only which stack it is" in one_sentence(said)
    said = hio(repo, "baseline", "diff", "b9", "threads:two", "--service", SERVICE)
    assert said.code == 2 and one_sentence(said) == f"hio: no readable baseline is called b9 in {SERVICE}"


def test_rows_that_changed_prove_nothing(repo: Path) -> None:
    record(repo)
    rows = next(repo.rglob("threads/rows.*"))
    rows.write_bytes(rows.read_bytes().replace(b"5", b"6"))
    said = hio(repo, "baseline", "diff", "nightly", "aa:again", *NOW)
    assert said.code == 3 and "what nightly pins is missing, or not what it pins" in one_sentence(said)


def test_a_baseline_is_appended_by_hand_as_before(repo: Path) -> None:
    said = hio(repo, "ledger", "append", "baseline", "--service", SERVICE, "--stack", "base", "--id", "again")
    assert said.code == 0, said.err
