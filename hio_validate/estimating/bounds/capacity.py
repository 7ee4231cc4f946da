"""How much memory there is, as the ceilings in use tell it: of a device, of the host, of the host and its devices together.

Invariants: a capacity of which one part is not told is none; a device is counted once, however many documents name it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hio_validate.models.ceilings import Ceilings, Device
from hio_validate.repo import Item


class Capacity(NamedTuple):
    """Bytes, and the document that tells them: where several do, the one of the host."""

    ceiling: str
    size: int


def capacity_of(ceilings: Sequence[Item], place: str) -> Capacity | None:
    """What there is; None where no document tells it, or not all of it. Of one device it is the largest that is named."""
    documents = [(item.full_name, item.model) for item in ceilings if item.model is not None]
    if place == "device":
        sizes = (
            (name, max((each.memory or 0 for each in one.devices), default=0)) for name, one in documents
        )
        return next((Capacity(name, size) for name, size in sizes if size), None)
    host = next(((name, each) for name, each in documents if each.memory), None)
    if host is None:
        return None
    beside = _of_devices(_of_one_host(ceilings)) if place == "host-and-devices" else 0
    return None if beside is None else Capacity(host[0], host[1].memory + beside)


def whose(ceilings: Sequence[Item], place: str) -> str:
    """Whose memory it is: `host` where no document tells of devices beside it."""
    has_devices = any(each.devices for each in _of_one_host(ceilings))
    return "host" if place == "host-and-devices" and not has_devices else place


def _of_one_host(ceilings: Sequence[Item]) -> list[Ceilings]:
    """The documents of the machine whose memory counts, and those of no machine (data sheets)."""
    documents = [item.model for item in ceilings if item.model is not None]
    host = next((each.host for each in documents if each.memory), None)
    return [each for each in documents if host is None or each.host in (None, host)]


def _of_devices(documents: Sequence[Ceilings]) -> int | None:
    """Bytes of all devices; None where one tells none. A data sheet counts devices only where no measured document does."""
    named = [device for each in documents for device in each.devices]
    counted = [device for each in documents if each.how == "measured" for device in each.devices]
    found = 0
    for name in {device.name.casefold() for device in counted or named}:
        same = _same(named, name)
        memory = max((device.memory or 0 for device in same), default=0)
        if not memory:
            return None
        found += memory * max(device.count for device in _same(counted or named, name))
    return found


def _same(devices: Sequence[Device], name: str) -> list[Device]:
    return [device for device in devices if device.name.casefold() == name]
