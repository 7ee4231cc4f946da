"""What hio estimate writes passes hio's own rules, whatever is asked for, stated or missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate import engine
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.cli.console import hio
from tests.estimating.tiny import CEILINGS, PUBLISHED, SHAPE, changed, lab, put
from tests.evidence.experiment import HOST, Experiment
from tests.small_repo import SERVICE, pin, stack

PROFILE = {
    "hio": "profile/v1", "name": "p1", "service": SERVICE, "stack": pin("base", stack("base")), "fixture": "tides",
    "path": "decode-token", "tool": "perf 6.1, perf record -F 99", "at": "2026-01-06T00:00:00Z",
    "parts": [
        {"name": "mul_mat", "term": "weights", "samples": 70, "what": "arithmetic"},
        {"name": "softmax", "term": "kv-read", "samples": 10, "what": "arithmetic"},
        {"name": "graph", "term": "launches", "samples": 5, "what": "dispatch"},
        {"name": "sampler", "samples": 15, "what": "other"},
    ],
}  # fmt: skip
WAITS = ("--assume", "queue-wait=2..8ms", "--assume", "host-gap=10..400us")
LAUNCHES = ("--assume", "launches=300", "--assume", "launch=4..9us")
METRICS = ("decode_tps", "prefill_tps", "ttft_ms", "itl_ms", "tpot_ms", "wall_s")


def _findings(repo: Path) -> list[str]:
    """What the rules say of estimates; that a published rate is of no host, so that none can be compared, is right."""
    report = engine.run(load(Folder(repo)))
    return [
        f"{each.location.line} {each.rule}: {each.message}"
        for each in report.diagnostics
        if "/estimates/" in each.location.file
        and (each.rule, each.severity, "host" in each.message) != ("mismatched-shape", "gate", True)
    ]


ASKED = [(metric, ()) for metric in METRICS] + [
    (metric, words)
    for metric in ("decode_tps", "wall_s")
    for words in (WAITS, LAUNCHES, ("--cache", "warm"), ("--concurrency", "4"))
]


@pytest.mark.parametrize(
    ("metric", "words"), ASKED, ids=lambda each: each if isinstance(each, str) else " ".join(each)
)
def test_every_metric_with_what_is_stated(tmp_path: Path, metric: str, words: tuple[str, ...]) -> None:
    repo = lab(tmp_path, SHAPE, CEILINGS)
    said = hio(
        repo, "estimate", "base", "--fixture", "tides", "--metric", metric, "--write", "--name", "e", *words
    )
    assert said.code in (0, 3), said.out + said.err
    assert "wrote" in said.out
    assert _findings(repo) == []


@pytest.mark.parametrize("metric", ["decode_tps", "prefill_tps", "ttft_ms"])
def test_with_a_profile(tmp_path: Path, metric: str) -> None:
    repo = lab(tmp_path, SHAPE, CEILINGS, PROFILE)
    said = hio(
        repo, "estimate", "base", "--fixture", "tides", "--metric", metric, "--write", "--name", "e", *WAITS
    )
    assert said.code == 0, said.out + said.err
    assert _findings(repo) == []


@pytest.mark.parametrize(
    "words",
    [
        ("base",),
        ("two", "--fixture", "tides"),
        ("base", "--fixture", "tides", "--ceilings", "paper"),
        ("base", "--fixture", "tides", "--ceilings", "paper", "--assume", "efficiency=0.5..0.7"),
        ("base", "--fixture", "tides", "--assume", "memory-read=40..60MB/s"),
        ("base", "--fixture", "tides", "--assume", "prompt-tokens=100", "--assume", "generated-tokens=7"),
    ],
    ids=" ".join,
)
def test_with_less_or_with_published_rates(tmp_path: Path, words: tuple[str, ...]) -> None:
    repo = lab(tmp_path, SHAPE, CEILINGS, PUBLISHED)
    said = hio(repo, "estimate", *words, "--write", "--name", "e")
    assert said.code in (0, 3), said.out + said.err
    assert _findings(repo) == []


@pytest.mark.parametrize("shape", [True, False], ids=["a bound", "no bound"])
def test_with_documents_missing(tmp_path: Path, shape: bool) -> None:
    repo = lab(tmp_path, *([SHAPE] if shape else [CEILINGS]))
    said = hio(repo, "estimate", "base", "--fixture", "tides", "--write", "--name", "e")
    assert said.code == 3, said.out + said.err
    assert _findings(repo) == []


def test_what_is_above_its_ceiling_is_a_gate(tmp_path: Path) -> None:
    """The finding that hio writes itself is the one that the rule looks for."""
    repo = lab(tmp_path, SHAPE)
    slow = changed(CEILINGS, host=HOST)
    for rate in slow["rates"].values():
        rate |= {key: rate[key] / 1e4 for key in ("value", "low", "high")}
        rate["samples"] = [each / 1e4 for each in rate["samples"]]
    put(repo, slow)
    hio(repo, "estimate", "base", "--fixture", "tides", "--write", "--name", "e")
    report = engine.run(load(Folder(repo)))
    found = [(each.rule, each.severity) for each in report.diagnostics if "/estimates/" in each.location.file]
    assert found == [("above-ceiling", "gate")]


def test_a_stack_against_itself_as_baseline(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise({"base": [50.0, 52.0, 51.0, 51.0], "again": [40.0, 49.0, 60.0, 50.0]})
    put(tmp_path, SHAPE, CEILINGS)
    said = hio(tmp_path, "estimate", "base", "--fixture", "tides", "--run", "aa", "--write", "--name", "e")
    assert said.code == 0, said.out + said.err
    assert _findings(tmp_path) == []
