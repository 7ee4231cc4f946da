"""hio probe profile: from what perf printed to a valid, pinned document."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.observe.test_perf_report import WITH_SAMPLES
from tests.small_repo import ROOM, committed, sha, stack

WORDS = ("probe", "profile", "perf.txt", "--stack", "base", "--path", "decode-token")
AT = ("--at", "2026-11-30T09:00:00Z")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    found = committed(tmp_path / "repo")
    (found / "perf.txt").write_text(WITH_SAMPLES)
    return found


def test_it_tells_the_share_of_each_term_and_keeps_nothing(repo: Path) -> None:
    said = hio(repo, *WORDS, *AT)
    assert said.code == 0, said.all
    first = " ".join(said.out.partition("\nshares")[0].split())
    assert (
        first
        == "decode-token of lab/tiny, base: most of the time goes to weights (85.0 %), then no term (15.0 %)"
    )
    assert "samples    1000 (or nanoseconds" in said.out
    assert "weights  85.0 %" in said.out
    assert "waiting         9.9 %" in said.out
    assert "nothing was kept" in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_which_process_was_sampled_is_kept(repo: Path) -> None:
    router = '  router:\n    engine: llama-server\n    build: b1\n    argv:\n      - ["--port", "8081"]\n'
    (repo / ROOM / "stacks/base.yaml").write_text(stack("base", more=router))
    said = json.loads(hio(repo, *WORDS, *AT, "--process", "router", "--format", "json").out)
    assert said["profile"]["process"] == "router"
    assert "process" not in json.loads(hio(repo, *WORDS, *AT, "--format", "json").out)["profile"]


def test_what_is_written_pins_the_report_and_the_stack_and_is_valid(repo: Path) -> None:
    said = hio(repo, *WORDS, *AT, "--threads", "2", "--slowed", "3", "--write", "--format", "json")
    assert said.code == 0, said.all
    shape = json.loads(said.out)
    file, raw = shape["wrote"]
    assert file == f"{ROOM}/profiles/base-decode-token-2026-11-30.yaml"
    assert (repo / raw).read_text() == WITH_SAMPLES
    document = shape["profile"]
    assert document["raw"] == {"file": Path(raw).name, "sha256": sha(WITH_SAMPLES)}
    assert document["stack"] == f"base@sha256:{sha(stack('base'))}"
    assert document["tool"] == "perf 6.1.187, event cpu-clock: /usr/bin/perf record -e cpu-clock -p 42"
    assert (document["threads"], document["slowed_percent"], document["at"]) == (2, 3.0, AT[1])
    assert (shape["version"], shape["samples"], shape["share_percent"]["weights"]) == (1, 1000, 85.0)
    judged = hio(repo, "validate", file)
    assert judged.code == 0, judged.all
    again = hio(repo, *WORDS, *AT, "--write")
    assert again.code == 1
    assert "exists and stays as it is; give another --name" in one_sentence(again)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--stack", "none"), 2, "no readable stack is called none"),
        (("--fixture", "none"), 2, "no readable fixture is called none"),
        (("--process", "router"), 2, "base has no process router; it has server"),
        (("--at", "yesterday"), 2, "--at yesterday is no time: expected the form"),
        (("--name", "no name"), 2, "name"),
    ],
)
def test_what_does_not_fit_is_one_sentence(repo: Path, words: tuple[str, ...], code: int, told: str) -> None:
    said = hio(repo, *WORDS, *words)
    assert said.code == code
    assert told in one_sentence(said)


def test_perfs_own_data_says_how_to_print_it(repo: Path) -> None:
    (repo / "perf.txt").write_bytes(b"PERFILE2\0\0")
    said = hio(repo, *WORDS)
    assert said.code == 3
    assert "perf.txt is perf's own data: expected text; perf report --stdio -n -i" in one_sentence(said)


def test_a_report_that_is_none_names_the_file(repo: Path) -> None:
    (repo / "perf.txt").write_text("hello\n")
    said = hio(repo, *WORDS)
    assert said.code == 3
    assert one_sentence(said).startswith("hio: perf.txt: line 1 is neither")


def test_a_pipe_is_no_report_and_nobody_waits_for_it(repo: Path) -> None:
    os.mkfifo(repo / "pipe")
    said = hio(repo, *("pipe" if word == "perf.txt" else word for word in WORDS))
    assert said.code != 0
    assert "is no regular file: expected one that holds what perf report" in one_sentence(said)
