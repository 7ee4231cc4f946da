"""Twice as many devices: each part of the model is divided over twice as many, and what is held with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates.mechanism import Found, Seen
from hio_validate.estimating.candidates.sharding import shards
from hio_validate.models.estimate import Sharding
from tests.estimating.candidates.engines import service
from tests.estimating.candidates.workbench import asked


@pytest.mark.parametrize("now", ["1", "2"])
def test_each_part_is_divided_over_twice_as_many_devices(tmp_path: Path, now: str) -> None:
    service(tmp_path, "vllm", {"tensor-parallel-size": now})
    inputs = asked(tmp_path)
    ledger = terms_of(inputs)
    (found,) = shards(Seen(inputs, ledger, bound_of(ledger, inputs)), Found())
    assert found.then is not None
    then = found.then.workload
    count = 2 * int(now)
    twice = Sharding(weights=count, attention=count, experts=count)
    assert (then.devices, then.sharding) == (count, None if now == "1" else twice)
    before, after = (
        {term.name: base(term.work).value for term in each.terms} for each in (ledger, terms_of(found.then))
    )
    assert after["kv-read"] == pytest.approx(before["kv-read"] / (2 if now == "1" else 1)), (
        "two heads of K and V"
    )
    assert after["weights"] == pytest.approx(before["weights"] / 2)
