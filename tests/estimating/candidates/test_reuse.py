"""A cache is proposed with a cold and a warm run of the same workload, and bounded by what they had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.estimating.candidates.workbench import ENGINE_HERE, HELP_HERE, looked, named, names
from tests.estimating.tiny import CEILINGS, SHAPE, gathered, lab
from tests.evidence.experiment import Experiment
from tests.small_repo import write

FASTER = {"base": [100.0, 101.0, 99.2, 100.4], "two": [120.2, 119.6, 121.8, 120.8]}


def cold(root: Path) -> Path:
    """The run `threads`, cold: 20 ms to the first token on `base`."""
    lab(root, SHAPE, CEILINGS)
    return with_its_build(root)


def with_its_build(root: Path) -> Path:
    """The build that can keep prompts, in place of the one that the experiment writes."""
    folder = "manifests/engines/llama-server/b1"
    write(root, {f"{folder}/engine.yaml": ENGINE_HERE, f"{folder}/help.txt": HELP_HERE})
    return root


def warm(root: Path) -> Path:
    """The same requests with a warm cache, in half of the time."""
    experiment = Experiment(cold(root))

    def warmed(plan: dict[str, Any]) -> None:
        plan["cache"] = "warm"

    experiment.run("warmed", FASTER, plan=warmed, day=5)
    return with_its_build(root)


def test_one_of_the_two_is_not_enough(tmp_path: Path) -> None:
    found = looked(gathered(cold(tmp_path), metric="ttft_ms"))
    assert "prefix-cache" not in names(found)
    assert any(each.startswith("a warm run of tides on base: without both") for each in found.missing)


def test_both_are_pinned_and_bound_the_gain(tmp_path: Path) -> None:
    found = named(looked(gathered(warm(tmp_path), metric="ttft_ms", run="threads")), "prefix-cache")
    assert found.caching and found.cold and found.warm
    assert found.cold.startswith("threads@sha256:") and found.warm.startswith("warmed@sha256:")
    assert found.share_of == "measured"
    assert found.gain_percent.value == pytest.approx(50.0, abs=0.5)
    assert found.gain_percent.low <= found.gain_percent.value <= found.gain_percent.high
