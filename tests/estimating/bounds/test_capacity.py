"""What memory there is, as the ceilings in use tell it: each part told, each device counted once."""

from __future__ import annotations

import pytest

from hio_validate.costs.units import base
from hio_validate.repo import Item
from tests.estimating.bounds.large import READS, device, host, of
from tests.estimating.workloads import ceilings


def test_the_memory_of_a_host_and_of_its_devices_together() -> None:
    here = host(100_000_000_000, devices=[{"name": "a", "count": 2, "memory": 30_000_000_000, "tool": "t 1"}])
    both = of(here, held_in="host-and-devices")
    assert both.capacity is not None and base(both.capacity).value == 160e9
    assert (both.per, both.outcome) == ("host-and-devices", "within")
    alone = of(here, held_in="host")
    assert (alone.per, alone.outcome) == ("host", "cannot-fit")
    assert of(host(100_000_000_000), held_in="host-and-devices").per == "host"


def test_host_and_devices_may_be_told_by_two_documents() -> None:
    told = of(host(100_000_000_000), device(80_000_000_000), held_in="host-and-devices")
    assert told.capacity is not None and base(told.capacity).value == 180e9
    assert (told.per, told.ceiling, told.outcome) == ("host-and-devices", "box", "within")
    other_order = of(device(80_000_000_000), host(100_000_000_000), held_in="host-and-devices")
    assert other_order == told
    for unknown in ((host(), device()), (host(10**11), device(None))):
        assert of(*unknown, held_in="host-and-devices").capacity is None


def test_devices_that_a_host_counts_are_not_counted_again_by_a_data_sheet() -> None:
    counted = host(10**11, devices=[{"name": "A-80", "count": 2, "memory": None, "tool": "t 1"}])
    told = of(counted, device(), held_in="host-and-devices")
    assert told.capacity is not None and base(told.capacity).value == 100e9 + 2 * 80e9
    assert of(counted, device(name="b-80"), held_in="host-and-devices").capacity is None
    own = host(10**11, devices=[{"name": "A-80", "count": 2, "memory": 70_000_000_000, "tool": "t 1"}])
    beside = of(own, device(name="b-80"), held_in="host-and-devices")
    assert beside.capacity is not None and base(beside.capacity).value == 240e9


def test_devices_of_another_host_are_no_memory_of_this_one() -> None:
    elsewhere = ceilings(
        "elsewhere", READS, host="b" * 64, devices=[{"name": "a", "count": 8, "memory": 80_000_000_000, "tool": "t 1"}]
    )  # fmt: skip
    told = of(host(100_000_000_000), elsewhere, held_in="host-and-devices")
    assert (told.per, told.outcome) == ("host", "cannot-fit")


@pytest.mark.parametrize(
    "document",
    [host(), device(None), host(10**12, devices=[{"name": "a", "count": 1, "memory": None, "tool": "t 1"}])],
    ids=["host", "device", "one-of-both"],
)
def test_a_capacity_that_no_document_tells_is_none(document: Item) -> None:
    place = "device" if document.name == "a-80" else "host-and-devices"
    found = of(document, held_in=place)
    assert (found.capacity, found.ceiling, found.outcome) == (None, None, "open")
