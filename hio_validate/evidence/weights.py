"""Which weights the arms of a run served, as the captures of their legs show (contract 1.6, 10.5).

Invariant: captures alone count, since a run declares one model for all of its arms; one shard is not the model, and
unknown weights are the weights of nothing, never equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from hio_validate.evidence.case import Case
from hio_validate.models.capture import Artifact, Capture

_SHARD = re.compile(r"model-(\d{5})-of-(\d{5})")


class OtherWeights(NamedTuple):
    """A candidate that served other weights than the baseline; both are SHA-256, of each shard one."""

    candidate: str
    baseline: str
    weights: str

    @property
    def sentence(self) -> str:
        """What differs, shortly."""
        return (
            f"{self.candidate} serves other weights ({shown(self.weights)}, "
            f"the baseline {shown(self.baseline)})"
        )


def weights_of(case: Case, arm: str) -> str | None:
    """SHA-256 of the weights that every leg of an arm served, of split ones each shard's; None where nobody knows."""
    seen = {weights_in(capture) if capture is not None else None for _, capture in case.captures(arm)}
    return seen.pop() if len(seen) == 1 else None


def weights_in(capture: Capture) -> str | None:
    """The weights that the processes of a capture serve; None where one of them has a model of unknown bytes."""
    found = [
        model_of_process(process.artifacts)
        for process in capture.processes.values()
        if "model" in process.artifacts
    ]
    known = [each for each in found if each is not None]
    return " ".join(sorted(set(known))) if known and len(known) == len(found) else None


def model_of_process(artifacts: Mapping[str, Artifact]) -> str | None:
    """The model that one process serves, of a split one each shard; None where it has none, or one of unknown bytes."""
    whole = artifacts.get("model")
    if whole is None or whole.sha256 is not None:
        return whole.sha256 if whole is not None else None
    shards = {place: artifact.sha256 for name, artifact in artifacts.items() if (place := _place(name))}
    counts = {count for _, count in shards}
    digests = [digest for _, digest in sorted(shards.items()) if digest is not None]
    return "+".join(digests) if counts == {len(digests)} else None


def _place(name: str) -> tuple[int, int] | None:
    """(number, count) of a shard, by its role."""
    match = _SHARD.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def other_weights(case: Case) -> list[OtherWeights]:
    """The candidates whose weights are known and are not the baseline's."""
    base = weights_of(case, case.baseline)
    found = {name: weights_of(case, name) for name in case.candidates}
    return [
        OtherWeights(name, base, mine)
        for name, mine in found.items()
        if base is not None and mine is not None and mine != base
    ]


def shown(weights: str) -> str:
    """Weights for a reader: the first digits, and how many shards there are."""
    parts = weights.split("+")
    more = len(parts) - 1
    return parts[0][:12] + (f" and {more} more shard{'s' * (more > 1)}" if more else "")
