"""More devices for each pass: weights and arithmetic are divided among them, and something is moved between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen
from hio_validate.models.estimate import Sharding

_DIVIDED = ("weights", "compute", "kv-read", "state")


def shards(seen: Seen, found: Found) -> Iterator[Mechanism]:
    """Twice as many, where a ceilings document of the target's host counts so many and heads divide among them."""
    workload = seen.inputs.workload
    longest = max(seen.times, key=lambda name: seen.times[name].value, default=None)
    for lever, way in seen.ways("shards"):
        wanted = 2 * (lever.number or 1)
        if longest not in _DIVIDED or not _heads_divide(seen, wanted):
            continue
        if _devices(seen) < wanted:
            found.missing.append(
                f"devices of the target's host: {wanted} that divide a pass ({lever.address}) are proposed only where a "
                "measured ceilings document counts so many: hio probe host there"
            )
            continue
        more = {"devices": 2 * workload.devices, "sharding": _doubled(workload.sharding)}
        then = replace(seen.inputs, workload=workload.model_copy(update=more))
        yield Mechanism(
            f"devices-{wanted}", 6, f"let {wanted} devices divide each pass, each with its part of the weights",
            term=longest, lever=lever, to=str(wanted), then=then, confidence="low",
            stop_if="tokens a second for each device fall below what the plan allows, or a timeline shows more time in collectives "
            "than is gained",
            needs=(*way.needs, "what moves between the devices: --assume collective-bytes=N --assume link=RATE bounds it"),
        )  # fmt: skip


def _doubled(by: Sharding | None) -> Sharding | None:
    """Twice as many devices for each layer; stages, groups and positions stay."""
    if by is None:
        return None
    twice = {part: 2 * getattr(by, part) for part in ("weights", "attention", "experts")}
    return by.model_copy(update=twice)


def _devices(seen: Seen) -> int:
    """Accelerators of the target's host, as its ceilings count them."""
    host = seen.inputs.workload.target_host
    mine = [
        item.model
        for item in seen.inputs.ceilings
        if item.model.how == "measured" and item.model.host == host
    ]
    return max((sum(device.count for device in each.devices) for each in mine), default=0)


def _heads_divide(seen: Seen, devices: int) -> bool:
    """Engines refuse a number that the heads of Q do not divide by (vllm/config/model.py, verify_with_parallel_config)."""
    shape = seen.shape
    return shape is None or shape.heads is None or shape.heads % devices == 0
