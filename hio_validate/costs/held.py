"""What has to be held in memory as long as a workload runs: weights, K/V, states (contract 9.2).

Units: bytes, of one device where a model is divided. Invariant: `low` is never more than what any engine that divides it so
has to hold; buffers, activations and what an allocator rounds up are not in it.
"""

from __future__ import annotations

from math import ceil

from hio_validate.costs.formats import bytes_each
from hio_validate.costs.interval import ZERO, Interval, total
from hio_validate.models.estimate import Sharding, Workload
from hio_validate.models.shape import Attention, Shape

WHOLE = Sharding()

CALLED = {"weights": "weights", "kv": "K/V", "state": "states", "stated": "beside them"}
"""Part of what is held -> its name in a sentence."""

WHOSE = {"host": "the host", "device": "a device", "host-and-devices": "the host and its devices"}
"""Whose memory it is, in words."""


def divided(workload: Workload) -> Sharding:
    """How a model is divided: as the engine's settings say, else evenly over its devices."""
    many = workload.devices
    return workload.sharding or Sharding(weights=many, attention=many, experts=many)


def weights_held(shape: Shape, by: Sharding, *, drafts: bool) -> Interval:
    """Bytes of all tensors that one device holds; layers that draft need not be loaded where nothing drafts."""
    parts = []
    for each in shape.weights:
        share = each.bytes / (by.stages * _over(each.role, by))
        parts.append(
            Interval(share if drafts else 0.0, share if drafts else 0.0, share)
            if each.role == "draft"
            else Interval.exact(share)
        )
    return total(*parts)


def _over(role: str, by: Sharding) -> int:
    return {"attention": by.attention, "experts": by.experts}.get(role, by.weights)


def kv_held(shape: Shape, tokens: int, key_type: str | None, value_type: str | None) -> Interval:
    """Bytes of K and V of one sequence of so many tokens, whole.

    Of layers that look back a window only the window has to be held, and some engines hold all; what an indexer chooses from
    is all held.
    """

    def each(layers: Attention) -> Interval:
        size = bytes_each(key_type) * float(layers.key_size) + bytes_each(value_type) * float(
            layers.value_size
        )
        least = tokens if layers.window is None or layers.chosen else min(tokens, layers.window)
        held = Interval(float(least), float(least), float(tokens))
        return size * held * float(layers.layers * layers.kv_heads)

    return total(*(each(layers) for layers in shape.attention if layers.kv_heads))


def kv_share(shape: Shape, by: Sharding) -> float:
    """The part of one sequence's K/V that a device holds: by heads, of which each is whole, by position and by layers."""
    heads = max((layers.kv_heads for layers in shape.attention), default=0)
    return 1 / (min(by.attention, max(1, heads)) * by.positions * by.stages)


def sequences_held(at_once: int, by: Sharding, *, may_wait: bool) -> Interval:
    """Sequences of the fullest device: an even part of them at least, or one where the others may wait; all at most."""
    parts = by.groups * by.replicas
    even = float(ceil(at_once / parts))
    return Interval(even, 1.0 if may_wait else even, float(at_once)) if at_once else ZERO
