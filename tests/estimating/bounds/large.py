"""A large model, a device and a host of stated memory, and what has to be held of it."""

from __future__ import annotations

from typing import Any

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.memory import memory_of
from hio_validate.models.estimate import HeldMemory
from hio_validate.repo import Item
from tests.estimating.workloads import ceilings, inputs, rate, shape

LARGE = shape(
    ("attention", "bf16", 10_000_000_000, 20_000_000_000), ("feed-forward", "bf16", 60_000_000_000, 120_000_000_000),
    embedding=8192, attention=[{"layers": 80, "kv_heads": 8, "key_size": 128, "value_size": 128}],
)  # fmt: skip
TOKEN = 80 * 8 * 256 * 2
READS = {"read": rate("memory-read", 2.0, "TB/s", efficiency=0.8)}


def device(memory: int | None = 80_000_000_000, count: int = 1, name: str = "a-80") -> Item:
    return ceilings(
        name, READS, how="published", per="device", date="2026", source="a data sheet", host=None,
        devices=[{"name": name, "count": count, "memory": memory, "tool": "a data sheet"}],
    )  # fmt: skip


def host(memory: int | None = None, **more: Any) -> Item:
    rates = {"read": rate("memory-read", 20.0, "GB/s", working_set=1_000_000_000)}
    return ceilings("box", rates, **({"memory": memory} if memory else {}), **more)


def of(*documents: Item, model: Item = LARGE, path: str = "decode-token", **workload: Any) -> HeldMemory:
    told = {
        "prompt_tokens": 900, "generated_tokens": 100, "key_type": "f16", "value_type": "f16", "kv_cache": "at-start",
        "slots": 64, **workload,
    }  # fmt: skip
    found = memory_of(inputs(path, shape=model, ceilings=documents, **told))
    assert found is not None
    return found


def parts(memory: HeldMemory) -> dict[str, float]:
    return {each.name: base(each.amount).value for each in memory.parts}


def by(**over: int) -> dict[str, int]:
    return {"weights": 8, "attention": 8, "experts": 8, **over}
