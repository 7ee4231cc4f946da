"""Every ceiling, held against injected readings: this host has no swap, no sensor and no device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hio_validate.execute.ceilings import AVERAGED, passed, unseen
from hio_validate.observe.readings import Reading
from tests.execute.conftest import ceilings

CALM = Reading(
    available=8 << 30, anonymous=1 << 20, shared=1 << 20, file=9 << 30, swap=0, processes=1, others_cpu=0.1,
    device_memory=1 << 30, temperature_c=50.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "reading", "said"),
    [
        ({"swap": 0}, {"swap": 4096}, "4 KiB swapped out; the limit is 0 B"),
        ({"temperature_c": 80.0}, {"temperature_c": 80.5}, "80.5 °C; the limit is 80 °C"),
        ({"device_memory": 2 << 30}, {"device_memory": 3 << 30}, "3 GiB of device memory"),
        (
            {"memory": 1 << 30},
            {"anonymous": 1 << 29, "shared": (1 << 29) + 1},
            "1 GiB of anonymous and shared",
        ),
        ({"available": 1 << 30}, {"available": 1 << 29}, "512 MiB of memory available"),
    ],
)
def test_an_injected_reading_above_its_ceiling_is_told_with_value_and_limit(
    limit: dict[str, Any], reading: dict[str, Any], said: str
) -> None:
    assert passed(ceilings(**limit), [CALM]) is None
    assert said in (passed(ceilings(**limit), [replace(CALM, **reading)]) or "")


def test_injected_file_pages_count_for_no_ceiling() -> None:
    assert passed(ceilings(memory=4 << 20), [replace(CALM, file=1 << 50)]) is None


def test_injected_load_of_others_counts_only_as_a_mean() -> None:
    limit, busy = ceilings(others_cpu=0.5), replace(CALM, others_cpu=0.7)
    assert passed(limit, [busy] * (AVERAGED - 1)) is None
    assert "others use 0.70 processors" in (passed(limit, [busy] * AVERAGED) or "")
    assert passed(limit, [replace(CALM, others_cpu=0.0)] * (AVERAGED - 1) + [busy]) is None


def test_without_a_limit_an_injected_temperature_ends_nothing() -> None:
    assert passed(ceilings(), [replace(CALM, temperature_c=300.0, device_memory=1 << 50)]) is None


def test_a_ceiling_whose_injected_reading_is_unknown_is_named() -> None:
    blind = replace(CALM, temperature_c=None, device_memory=None, available=None)
    found = unseen(ceilings(temperature_c=80.0, device_memory=1), blind)
    assert [each.partition(":")[0] for each in found] == [
        "limits.available",
        "limits.temperature_c",
        "limits.device_memory",
    ]
    assert unseen(ceilings(), replace(blind, available=1)) == []
