"""Mechanisms that a setting switches on: each row of the table takes the cost of its term, and none without that term."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.estimating.bounds.asked import STATED
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates.levers import WAYS
from hio_validate.estimating.candidates.mechanism import Mechanism, Seen
from hio_validate.estimating.candidates.switched import SWITCHED, switched
from hio_validate.models.estimate import Amount
from tests.estimating.candidates.engines import service
from tests.estimating.candidates.workbench import asked

LAUNCHES = {"launches": 500.0, "launch": Amount(value=20.0, low=20.0, high=20.0, unit="us")}
COSTS: dict[str, dict[str, Any]] = {
    "launches": LAUNCHES,
    "host-gaps": {"host-gap": Amount(value=3.0, low=3.0, high=3.0, unit="ms")},
    "queueing": {"queue-wait": Amount(value=30.0, low=30.0, high=30.0, unit="ms")},
}


def _found(root: Path, name: str, factor: str, metric: str, **options: Any) -> list[Mechanism]:
    (way,) = (each for each in WAYS if (each.engine, each.factor) == ("sglang", factor))
    service(root, "sglang", {factor: way.now[0]})
    inputs = asked(root, metric, **options)
    ledger = terms_of(inputs)
    return [
        each
        for each in switched(Seen(inputs, ledger, bound_of(ledger, inputs)), name)
        if each.factor == f"server.{factor}"
    ]


@pytest.mark.parametrize("name", sorted(SWITCHED))
def test_each_takes_its_cost_from_its_term_and_is_none_without(tmp_path: Path, name: str) -> None:
    row = SWITCHED[name]
    assert row.cost in STATED
    factor = next(each.factor for each in WAYS if (each.mechanism, each.engine) == (name, "sglang"))
    metric = "ttft_ms" if row.term == "queueing" else "decode_tps"
    (found,) = _found(tmp_path / "with", name, factor, metric, concurrency=4, stated=COSTS[row.term])
    assert (found.term, found.family) == (row.term, row.family)
    assert found.then is not None
    left = {term.name: term.time.value for term in terms_of(found.then).terms}
    assert left.get(row.term, 0.0) == 0.0
    assert _found(tmp_path / "without", name, factor, metric, concurrency=4) == []


@pytest.mark.parametrize(("metric", "proposed"), [("decode_tps", True), ("ttft_ms", False)])
def test_a_setting_of_the_passes_that_decode_is_proposed_for_them_alone(
    tmp_path: Path, metric: str, proposed: bool
) -> None:
    found = _found(tmp_path, "graphs", "disable-decode-cuda-graph", metric, stated=LAUNCHES)
    assert bool(found) == proposed
