"""The ceilings of a plan, held against readings of the host (contract 4.3, 5.2): the first that is passed, in words."""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.execute.work import Ceilings
from hio_validate.observe.readings import Reading
from hio_validate.size import shown

AVERAGED = 5
"""Readings over which the processors of others are averaged, so that one short burst ends nothing."""


def passed(ceilings: Ceilings, readings: Sequence[Reading]) -> str | None:
    """What ends the trial now, with value and limit; None while all ceilings hold. The last reading is the newest."""
    now = readings[-1]
    held = now.anonymous + now.shared
    if held > ceilings.memory:
        return f"the trial holds {shown(held)} of anonymous and shared memory; the limit is {shown(ceilings.memory)}"
    if now.available is not None and now.available < ceilings.available:
        return f"the host has {shown(now.available)} of memory available; at least {shown(ceilings.available)} must stay"
    if now.swap > ceilings.swap:
        return (
            f"a process of the trial has {shown(now.swap)} swapped out; the limit is {shown(ceilings.swap)}"
        )
    return _of_the_host(ceilings, readings)


def _of_the_host(ceilings: Ceilings, readings: Sequence[Reading]) -> str | None:
    now, most = readings[-1], ceilings.device_memory
    if most is not None and now.device_memory is not None and now.device_memory > most:
        return f"{shown(now.device_memory)} of device memory are in use; the limit is {shown(most)}"
    hottest = ceilings.temperature_c
    if hottest is not None and now.temperature_c is not None and now.temperature_c > hottest:
        return f"the host is at {now.temperature_c:.1f} °C; the limit is {hottest:g} °C"
    others = [each.others_cpu for each in readings[-AVERAGED:] if each.others_cpu is not None]
    if ceilings.others_cpu is not None and len(others) == AVERAGED:
        mean = sum(others) / AVERAGED
        if mean > ceilings.others_cpu:
            return f"others use {mean:.2f} processors (mean of {AVERAGED} samples); the limit is {ceilings.others_cpu:g}"
    return None


def unseen(ceilings: Ceilings, now: Reading) -> list[str]:
    """Ceilings that could never be passed here, because nothing shows what they limit (contract 5.9)."""
    found = []
    if now.available is None:
        found.append("limits.available: this host does not say how much memory is available")
    if ceilings.temperature_c is not None and now.temperature_c is None:
        found.append("limits.temperature_c: this host shows no temperature (/sys/class/thermal has no zone)")
    if ceilings.device_memory is not None and now.device_memory is None:
        found.append("limits.device_memory: this host shows no device memory")
    return found
