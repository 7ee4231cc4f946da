"""Ledgers of whole paths: the published example, each path by hand, and what has to hold whatever is known."""

from __future__ import annotations

import pytest

from hio_validate.costs.units import base
from hio_validate.estimating.ledger import Ledger, bound_of, terms_of
from tests.estimating.workloads import ceilings, inputs, rate, said, shape

LARGE = shape(("feed-forward", "int8", 70_000_000_000, 70_000_000_000))
PUBLISHED = ceilings(
    "accelerator",
    {
        "memory": rate("memory-read", 2.0, "TB/s", efficiency=1.0),
        "fabric": rate("link", 200.0, "GB/s", efficiency=1.0),
    },
    how="published",
    per="device",
    date="2026-01",
    source="a data sheet",
    host=None,
)


def times(ledger: Ledger) -> dict[str, float]:
    return {term.name: base(term.time).value for term in ledger.terms}


def test_the_published_example_of_seventy_billion_parameters_on_eight_devices() -> None:
    asked = inputs(
        shape=LARGE,
        ceilings=(PUBLISHED,),
        devices=8,
        stated=said(launches=450, launch=4, collective_bytes=32e6, link_latency=20),
    )
    ledger = terms_of(asked)
    assert times(ledger) == pytest.approx({"weights": 4.375e-3, "collectives": 0.18e-3, "launches": 1.8e-3})
    bound = bound_of(ledger, asked)
    assert bound is not None and bound.metric is not None
    assert base(bound.time).value == pytest.approx(4.375e-3)
    assert (bound.metric.value, bound.metric.unit) == (pytest.approx(4.375), "ms")
    assert bound.metric.value / 6.0 == pytest.approx(0.729, abs=5e-4)
    assert bound.groups == [["weights", "collectives", "launches"]]
    rated = bound_of(ledger, inputs(metric="decode_tps", shape=LARGE, devices=8))
    assert rated is not None and rated.metric is not None
    assert (rated.metric.value, rated.metric.unit) == (pytest.approx(228.57, abs=0.01), "1")
