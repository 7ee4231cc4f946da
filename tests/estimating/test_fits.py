"""The finding that a model cannot fit says what stands on the page, in the same words and digits."""

from __future__ import annotations

from typing import Any

from hio_validate.estimating.fits import cannot_fit, findings_of
from hio_validate.models.estimate import HeldMemory, Workload
from hio_validate.report.estimate_memory import held
from tests.estimating.workloads import PIN


def exact(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "low": value, "high": value, "unit": unit}


def memory(outcome: str, **more: Any) -> HeldMemory:
    parts = [
        {"name": "weights", "about": "its tensors", "amount": exact(501.76, "kB")},
        {
            "name": "kv",
            "about": "K and V",
            "amount": {"value": 14.5, "low": 0.75, "high": 20.0, "unit": "kB"},
        },
    ]
    needed = {"value": 516.26, "low": 502.51, "high": 521.76, "unit": "kB"}
    told = {"per": "host-and-devices", "parts": parts, "needed": needed, "outcome": outcome, **more}
    return HeldMemory.model_validate(told)


def test_it_says_the_least_of_each_part_and_of_the_sum() -> None:
    found = memory("cannot-fit", capacity=exact(400, "kB"), ceiling="box")
    assert cannot_fit(found)
    (said,) = findings_of(found, measured=False)
    assert said.startswith(
        "cannot fit: weights 501.8 kB + K/V 750 B = 502.5 kB at least, and the host and its devices have 400 kB (box)"
    )
    assert len([*findings_of(found, measured=True)]) == 2


def test_what_is_open_or_fits_is_no_finding() -> None:
    for outcome in ("open", "within"):
        found = memory(outcome, capacity=exact(600, "kB"), ceiling="box")
        assert not cannot_fit(found) and [*findings_of(found, measured=True)] == []


def test_the_page_has_the_same_names() -> None:
    found = memory("cannot-fit", capacity=exact(400, "kB"), ceiling="box")
    page, (said,) = held(found, Workload.model_validate({"stack": PIN})), findings_of(found, measured=False)
    for name in ("weights 501.8 kB", "K/V ", "the host and its devices", "(box)"):
        assert name in page and name in said
