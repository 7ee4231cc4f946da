"""Weights are those of every leg, of split files every shard; what nobody hashed is unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.weights import other_weights, shown, weights_in, weights_of
from hio_validate.evidence.workload import model_in
from hio_validate.models.capture import Capture
from hio_validate.repo import item_of
from hio_validate.source import read
from tests.evidence.experiment import MODEL, Experiment
from tests.small_repo import capture, sha

ONE, TWO = sha("shard one"), sha("shard two")


def of(*lines: str) -> Capture:
    """A capture with these artifacts."""
    artifacts = "    artifacts:\n" + "".join(f"      {line}\n" for line in lines) if lines else ""
    made = item_of(
        read(capture("seen", more=artifacts).encode(), "manifests/services/lab/tiny/captures/seen.yaml")
    )
    assert isinstance(made.model, Capture), made.refused
    return made.model


def shard(number: int, digest: str | None, count: int = 2) -> str:
    known = f'sha256: "{digest}", how: hash' if digest else "how: unknown"
    return f"model-{number:05d}-of-{count:05d}: {{path: /srv/m-{number}.gguf, {known}}}"


WHOLE = f'model: {{path: /srv/m.gguf, sha256: "{ONE}", how: hash}}'
SPLIT = "model: {path: /srv/m-1.gguf, how: unknown}"


@pytest.mark.parametrize(
    ("artifacts", "weights"),
    [
        ((WHOLE,), ONE),
        ((SPLIT, shard(1, ONE), shard(2, TWO)), f"{ONE}+{TWO}"),
        ((SPLIT, shard(2, TWO), shard(1, ONE)), f"{ONE}+{TWO}"),
        ((SPLIT, shard(1, ONE)), None),
        ((SPLIT, shard(1, ONE), shard(2, None)), None),
        ((SPLIT,), None),
        ((), None),
    ],
    ids=["one-file", "shards", "any-order", "shard-one-alone", "a-shard-without-hash", "no-hash", "no-model"],
)  # fmt: skip
def test_what_a_capture_shows(artifacts: tuple[str, ...], weights: str | None) -> None:
    assert weights_in(of(*artifacts)) == model_in(of(*artifacts)) == weights


def test_weights_are_shown_shortly() -> None:
    assert shown(ONE) == ONE[:12]
    assert shown(f"{ONE}+{TWO}") == f"{ONE[:12]} and 1 more shard"
    assert shown(f"{ONE}+{TWO}+{ONE}") == f"{ONE[:12]} and 2 more shards"


def test_an_arm_whose_legs_differ_serves_nothing_known(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)

    def spoil(document: dict[str, Any]) -> None:
        if document["name"] == "threads-3":  # the second leg of the arm `two`
            document["processes"]["server"]["artifacts"]["model"]["sha256"] = ONE

    experiment.run(capture=spoil)
    case = experiment.verdict().case
    assert weights_of(case, "base") == MODEL
    assert weights_of(case, "two") is None
    assert other_weights(case) == []


def unhashed(process: dict[str, Any]) -> None:
    process["artifacts"]["model"] = {"path": "/srv/m.gguf", "how": "unknown"}


def modelless(process: dict[str, Any]) -> None:
    process["artifacts"] = {}


@pytest.mark.parametrize("unknown", [unhashed, modelless])
def test_weights_that_no_capture_shows_are_not_the_declared_ones(
    unknown: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    experiment = Experiment(tmp_path)

    def spoil(document: dict[str, Any]) -> None:
        if document["name"] in {"threads-2", "threads-3", "threads-5", "threads-8"}:  # the legs of `two`
            unknown(document["processes"]["server"])

    experiment.run(capture=spoil, run=declared)
    case = experiment.verdict().case
    assert weights_of(case, "base") == MODEL
    assert weights_of(case, "two") is None


def test_an_arm_without_captures_serves_nothing_known(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)

    def spoil(document: dict[str, Any]) -> None:
        declared(document)
        for leg in document["legs"]:
            if leg["arm"] == "two":
                del leg["capture"]

    experiment.run(run=spoil)
    assert weights_of(experiment.verdict().case, "two") is None


def declared(document: dict[str, Any]) -> None:
    document["scope"] = {"model": MODEL}
