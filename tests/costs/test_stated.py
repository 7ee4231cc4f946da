"""What a kept estimate states, in seconds; a bound that adds what overlaps is told from one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.costs.stated import is_sum_of_overlapping, makes_a_time, seconds, sum_and_least, times_of
from hio_validate.models.estimate import Amount, BoundTime, Estimate, EstimateTarget, Term, UnitCost, Workload


def _amount(value: float, unit: Any) -> Amount:
    return Amount(value=value, low=value, high=value, unit=unit)


def _term(name: Any, resource: Any, work: Amount, cost: Amount, time: Amount) -> Term:
    return Term(
        name=name, about="x", resource=resource, work=work, cost=UnitCost(amount=cost), time=time, source="x",
        confidence="high", refuted_by="tune-sweep",
    )  # fmt: skip


WEIGHTS = _term("weights", "memory", _amount(1, "GB"), _amount(10, "GB/s"), _amount(100, "ms"))
COMPUTE = _term("compute", "compute", _amount(4, "GFLOP"), _amount(100, "GFLOP/s"), _amount(40, "ms"))


def _estimate(bound: float, groups: list[list[Any]]) -> Estimate:
    return Estimate(
        hio="estimate/v1", name="e", service="lab/tiny", status="DRAFT", path="decode-token", terms=[WEIGHTS, COMPUTE],
        target=EstimateTarget(metric="decode_tps", better="higher"), workload=Workload(stack=f"base@sha256:{'0' * 64}"),
        bound=BoundTime(groups=groups, time=_amount(bound, "ms")),
    )  # fmt: skip


def test_times_are_in_seconds_and_what_is_no_time_is_none() -> None:
    assert seconds(_amount(3, "ms")) == seconds(_amount(3000, "us"))
    assert seconds(_amount(3, "GB")) is None
    assert seconds(Amount(value=1, low=2, high=3, unit="s")) is None


@pytest.mark.parametrize(
    ("work", "cost", "fits"),
    [
        ("GB", "GB/s", True),
        ("GFLOP", "GB/s", False),
        ("1", "us", True),
        ("GB", "GB", False),
        ("GB", "us", False),
    ],
)
def test_units_fit_or_do_not(work: Any, cost: Any, fits: bool) -> None:
    assert (
        makes_a_time(_term("weights", "memory", _amount(1, work), _amount(1, cost), _amount(1, "s"))) == fits
    )


def test_a_rate_of_nothing_makes_no_time() -> None:
    nothing = Amount(value=1, low=0, high=1, unit="GB/s")
    assert not makes_a_time(_term("weights", "memory", _amount(1, "GB"), nothing, _amount(1, "s")))


@pytest.mark.parametrize(
    ("bound", "groups", "summed"),
    [
        (140, [["weights", "compute"]], True),
        (100, [["weights", "compute"]], False),
        (140, [["weights"], ["compute"]], False),
        (120, [["weights", "compute"]], False),
    ],
)
def test_the_sum_of_what_overlaps_is_told(bound: float, groups: list[list[Any]], summed: bool) -> None:
    assert is_sum_of_overlapping(_estimate(bound, groups), 0.005) == summed


def test_what_the_groups_give_stands_beside_what_the_resources_need() -> None:
    assert sum_and_least(_estimate(140, [["weights"], ["compute"]])) == pytest.approx((0.14, 0.1))
    assert sum_and_least(_estimate(140, [["weights"], ["draft"]])) is None
    assert times_of(_estimate(1, [["weights"]])).keys() == {"weights", "compute"}
