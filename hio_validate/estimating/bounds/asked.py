"""What a ledger follows from, and nothing else: the workload, what the model is made of, rates, and what is stated.

Invariant: documents alone are enough to make one (no setting, no record of a run), so that a rule computes a kept estimate again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hio_validate.costs.context import unknown_of
from hio_validate.models.estimate import Amount, Estimate, EstimateTarget, Workload
from hio_validate.repo import Item

STATED = {
    "launches": ("1", "kernel launches of one pass"),
    "launch": ("us", "what one launch costs"),
    "collective-bytes": ("B", "bytes that one pass moves between devices"),
    "link": ("B/s", "rate of that"),
    "collectives": ("1", "collectives of one pass, one after the other"),
    "link-latency": (
        "us",
        "what one collective costs beside its bytes; without their number, what all of a pass cost",
    ),
    "host-gap": ("us", "time of the host between two passes"),
    "queue-wait": ("ms", "time a request waits before it is begun"),
    "acceptance": ("1", "share of the drafted tokens that is accepted"),
    "draft-tokens": ("1", "tokens drafted a pass"),
    "draft-cost": ("1", "cost of drafting one token, as a share of one pass of the model"),
    "efficiency": ("1", "part of a published ceiling that is reached"),
    "memory-read": ("B/s", "rate at which weights and K/V are read"),
    "matmul": ("FLOP/s", "rate of the matrix products"),
    "disk-read": ("B/s", "rate at which the model file is read"),
    "memory-beside": (
        "B",
        "bytes that are held beside weights, K/V and states: of one device, or of the host",
    ),
    "prompt-tokens": ("1", "tokens of the prompt"),
    "generated-tokens": ("1", "tokens that are generated"),
    "microbatch": ("1", "tokens of one pass of a prompt, at most"),
}
"""What a person may state (`--assume NAME=VALUE[..HIGH]UNIT`): name -> (unit of its dimension, what it is)."""


STATED_BY = "stated by whoever asks"
"""The source of an assumption that a person stated."""

Path = Literal["setup", "load", "request", "prefill-token", "decode-token"]
"""How often a cost is paid (contract 9.1)."""

PATH_OF: Mapping[str, Path] = {
    "decode_tps": "decode-token", "itl_ms": "decode-token", "tpot_ms": "decode-token", "bench_decode_tps": "decode-token",
    "prefill_tps": "prefill-token", "bench_prefill_tps": "prefill-token",
    "ttft_ms": "request", "wall_s": "request",
}  # fmt: skip
"""Metric -> how often what it measures is paid (contract 9.1)."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What terms and bound of an estimate follow from."""

    workload: Workload
    target: EstimateTarget
    path: Path
    shape: Item | None = None
    ceilings: tuple[Item, ...] = ()
    """Ceilings documents: of the target's host first, then other measured ones, then published ones."""
    stated: Mapping[str, Amount] = field(default_factory=dict)
    """What a person stated; it goes before every document."""
    counted: Mapping[str, Amount] = field(default_factory=dict)
    """Drafting as rows of this very stack counted it, else as its settings say; it stands where nobody states it."""
    counted_by: str = ""
    """Who says so: rows of a run, or a setting."""
    missing: tuple[str, ...] = ()
    """What is not there, one sentence each."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What has to be known before any work is counted, and is not: keys of costs/context.py."""
        workload = self.workload
        return unknown_of(
            self.path,
            has_shape=self.shape is not None,
            prompt_tokens=workload.prompt_tokens,
            generated_tokens=workload.generated_tokens,
        )


def stated_in(estimate: Estimate) -> dict[str, Amount]:
    """What a person stated, by name, as an estimate keeps it."""
    return {
        each.name: each.amount
        for each in estimate.assumptions
        if each.source == STATED_BY and each.name in STATED
    }
