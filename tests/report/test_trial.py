"""The page before a trial: everything that happens to the host, within 80 columns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute.approvals import ASK
from hio_validate.execute.work import Service, Work
from hio_validate.report.refusals import refusals
from hio_validate.report.trial import as_shape, as_text
from tests.execute.experiment import SERVICE, prepared

BEFORE = {"at": "2026-11-29T12:00:00Z", "last": ["r0: failed: it broke"], "active": [], "pending": ["j7: unsafe"],
          "host": {"memory-available": 4 << 30, "load-1": 0.5}}  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Work:
    found = prepared(tmp_path)
    assert isinstance(found, Work), found
    return replace(found, root="/repo")


def page(work: Work, then: str = "restore-parent", width: int = 80) -> str:
    return " ".join(as_text(work, "is it faster?", then, BEFORE, width).split())


def test_it_says_what_starts_how_often_and_when_it_ends(work: Work) -> None:
    told = page(work)
    for part in (
        "4 legs, one after the other: one, two, two, one.",
        "two, twice: the stack base with server.threads = 2: /bin/true --model /bin/sh",
        "on 127.0.0.1:8089",
        "1 warm-up request, 2 measured requests: 12 in all",
        "After 15 min at the latest",
        "more than 4 GiB of memory",
        "load-test: yes, valid until 2099-01-01T00:00:00Z",
        "manifests/services/here/tiny/runs/threads-1/ in /repo",
        "r0: failed: it broke",
        "j7: unsafe",
        "memory available 4 GiB, load 1 0.5",
        "nothing is stopped",
    ):
        assert part in told


def test_it_says_what_is_stopped_and_how_it_comes_back(work: Work) -> None:
    serving = Service(
        SERVICE, "127.0.0.1", 8089, "base@sha256:0", Command("/bin/serve", ("--port", "8089"), {})
    )
    stopping = replace(work, during="stop", serving=serving)
    told = page(stopping)
    assert "here/tiny on 127.0.0.1:8089 is stopped before the first leg." in told
    assert "the stack base: /bin/serve --port 8089" in told
    assert "hio deploy" in page(stopping, "keep-winner")
    assert "keeps serving" in page(replace(work, during="leave"))


def test_llama_bench_asks_nothing(work: Work) -> None:
    bench = {"prompt_tokens": 32, "generated_tokens": 8, "repetitions": 2}
    told = page(replace(work, method="llama-bench", questions=(), bench=bench))
    assert (
        "No request: llama-bench measures 32 prompt tokens and 8 generated tokens, twice in each leg." in told
    )
    assert "nothing listens on a port" in told


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(work: Work, width: int) -> None:
    lines = as_text(work, "is it faster?" * 20, "restore-parent", BEFORE, width).splitlines()
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []


def test_control_characters_of_a_document_are_only_shown(work: Work) -> None:
    assert "\x1b" not in as_text(work, "is\x1b[2J it?", "restore-parent", BEFORE)


def test_the_same_as_json(work: Work) -> None:
    shape = json.loads(json.dumps(as_shape(work, "is it faster?", "restore-parent", BEFORE)))
    assert (shape["version"], shape["requests"], shape["order"]) == (1, 12, ["one", "two", "two", "one"])
    assert shape["commands"]["two"][-2:] == ["--threads", "2"]


def test_a_refusal_is_wrapped_and_its_command_stands_whole_on_a_line_of_its_own() -> None:
    command = (
        "hio ledger append approval --service lab/gemma-270m --approves load-test --scope 'the plan threads'"
    )
    missing = f"no approval of kind load-test covers threads now{ASK}{command}"
    page = refusals([missing, "a reason " * 20]).splitlines()
    assert page[:2] == [
        "refused: no approval of kind load-test covers threads now; its owner gives one",
        "  with:",
    ]
    assert page[2] == f"  {command}"
    assert page[3].startswith("refused: a reason") and all(len(line) <= 80 for line in page[3:])
