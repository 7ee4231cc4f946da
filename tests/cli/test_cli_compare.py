"""hio compare as a person calls it: what the words mean, the page of 80 columns, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import Measured, Observation, as_row
from tests.cli.console import hio, one_sentence
from tests.evidence.experiment import whole
from tests.small_repo import FILES, ROOM, SERVICE, sha, write

ASKED: dict[str, Any] = {"prompt_tokens": 512, "generated_tokens": 64, "concurrency": 4}


def observation(name: str, *records: Observation) -> dict[str, str]:
    """The files of an observation of the repository."""
    rows = "".join(json.dumps(as_row(record)) + "\n" for record in records)
    return {
        f"{ROOM}/observations/{name}/source.json": "{}",
        f"{ROOM}/observations/{name}/records.jsonl": rows,
        f"{ROOM}/observations/{name}/observation.yaml": (
            f"hio: observation/v1\nname: {name}\nservice: {SERVICE}\n"
            f'source: {{file: source.json, sha256: "{sha("{}")}", format: vllm-bench, bytes: 2}}\n'
            f'records: {{file: records.jsonl, sha256: "{sha(rows)}", count: {len(records)}}}\n'
        ),
    }


def record(name: str, rate: float, **more: Any) -> Observation:
    """One benchmark with a rate and a latency."""
    return Observation(
        name, workload={**ASKED, **more},
        metrics=[
            Measured("output_throughput", "throughput-output", "value", rate, "token/s"),
            Measured("mean_ttft_ms", "ttft-client", "mean", 1e4 / rate, "ms", 20),
        ],
    )  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = FILES | observation("old", record("c4", 100.0)) | observation("new", record("c4", 80.0))
    files |= observation("sweep", *(record(f"c{n}", 50.0 * n, concurrency=n) for n in (2, 4, 8)))
    return write(tmp_path, files)


def test_both_values_the_change_and_its_direction(repo: Path) -> None:
    said = hio(repo, "compare", "old", "new")
    assert said.code == 0 and max(map(len, said.out.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[:2] == ["A old DRAFT", "asked: prompt tokens 512, generated tokens 64, concurrency 4"]
    assert "output_throughput 100 token/s 80 token/s -20.00 % worse" in lines
    assert "mean_ttft_ms 100 ms (n 20) 125 ms (n 20) +25.00 % worse" in lines
    assert lines[-2].startswith("DRAFT: one observation each") and "noise" not in said.out
    assert hio(repo, "compare", "old", "new", "--exit-code").code == 1
    assert hio(repo, "compare", "new", "old", "--exit-code").code == 0


def test_a_record_among_several_is_named(repo: Path) -> None:
    said = hio(repo, "compare", "old", "sweep")
    assert said.code == 2
    assert one_sentence(said).endswith("sweep has 3 records; say which one, e.g. sweep#c2; it has c2, c4, c8")
    assert "+100.00 % better" in hio(repo, "compare", "old", "sweep#c4").out
    assert "has no record c5; it has c2, c4, c8" in one_sentence(hio(repo, "compare", "old", "sweep#c5"))


def test_a_record_of_a_file_and_a_number_sign_in_its_name(tmp_path: Path) -> None:
    head = "# 1000 prompt tokens, 21 generated\nconfig\tprefill_ms\tprefill_tok_s\n"
    (tmp_path / "a#1.tsv").write_text(f"{head}on\t4000.00\t250.00\non\t2000.00\t500.00\n")
    said = hio(tmp_path, "compare", "a#1.tsv#on", "a#1.tsv#on #2", "--same", "concurrency")
    assert said.code == 0, said.err
    assert "-50.00 % better" in said.out and "+100.00 % better" in said.out
    assert "concurrency was the same by your word (--same)." in said.out


def test_nothing_comparable_is_exit_3_with_its_reason(repo: Path) -> None:
    said = hio(repo, "compare", "old", "sweep#c8")
    assert said.code == 3
    assert "2 not comparable: nothing is compared" in said.out
    assert "concurrency: 4 in A, 8 in B" in said.out and "%" not in said.out


def test_arms_of_a_run_are_computed_from_its_rows(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    said = hio(root, "compare", "threads:base", "threads:two")
    assert said.code == 0 and max(map(len, said.out.splitlines())) <= 80
    assert "+20.26 % better" in said.out
    assert "decode_tps median: A 50 50.5 49.6 50.2; B" not in said.out, "units stand with the values"
    mean = json.loads(
        hio(root, "compare", "threads:base", "threads:two", "--statistic", "mean", "--format", "json").out
    )
    decode = next(each for each in mean["metrics"] if each["sides"][0]["name"] == "decode_tps")
    assert decode["sides"][0]["value"] == pytest.approx((50.0 + 50.5 + 49.6 + 50.2) / 4)
    assert (mean["version"], mean["tier"], decode["word"]) == (1, "VERDICT", "better")


def test_an_arm_and_an_observation_are_two_workloads(tmp_path: Path) -> None:
    root = write(whole(tmp_path).root, observation("old", record("c4", 100.0)))
    said = hio(root, "compare", "threads:base", "old", "--format", "json")
    assert said.code == 3
    assert "concurrency: 1 in A, 4 in B" in json.loads(said.out)["workload"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("old", "olds"), 2, "nothing readable is called olds: looked for a file and for an observation"),
        (("r1:one", "r1:three"), 2, "r1 has no arm three; it has one, two"),
        (("r2:one", "r1:one"), 2, "nothing readable is called r2: RUN:ARM is an arm of a run"),
        ((".", "old"), 3, "it is a folder"),
        (("x.txt", "old"), 3, "it is no result file that hio knows"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    repo: Path, words: tuple[str, str], code: int, sentence: str
) -> None:
    (repo / "x.txt").write_text("a shopping list\n")
    said = hio(repo, "compare", *words)
    assert (said.code, sentence in one_sentence(said)) == (code, True), said.err


def test_records_with_other_bytes_than_pinned_are_not_compared(repo: Path) -> None:
    rows = repo / f"{ROOM}/observations/old/records.jsonl"
    rows.write_text(rows.read_text().replace("100.0", "900.0"))
    said = hio(repo, "compare", "old", "new")
    assert said.code == 3 and "has other bytes than old pins" in one_sentence(said)


def test_rows_with_other_bytes_than_pinned_are_not_compared(repo: Path) -> None:
    (repo / f"{ROOM}/runs/r1/rows.tsv").write_text("arm\tspeed\none\t99\n")
    said = hio(repo, "compare", "r1:one", "r1:two")
    assert said.code == 3 and "the raw rows of r1 are missing, or not what it says" in one_sentence(said)
