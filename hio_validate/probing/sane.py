"""How far rates of one machine are to be trusted: what they cannot be to each other, and who else ran meanwhile.

Pure. Nothing is mended: what contradicts something is told with low confidence, and a sentence says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hio_validate.models.ceilings import Rate

_TOLERANCE = 1.1
"""Rates of a machine that does other things, too, differ by so much from one second to the next."""
_SLOWER = 0.8
_NOTICED = 0.2
"""Processors used by others from which on a rate is not told with high confidence."""
_DISTURBED = 0.25
"""Part of the usable processors used by others from which on it is told with low confidence."""


@dataclass(frozen=True)
class Trusted:
    """The rates with the confidence that all of them allow, and why it is less than their spread allows."""

    rates: dict[str, Rate]
    why: tuple[str, ...]


def trusted(rates: Mapping[str, Rate], others: Mapping[str, float], processors: int) -> Trusted:
    """`others`: processors that everybody else used while a rate was measured; absent = unknown."""
    found = [*implausible(rates)]
    low = {name for names, _ in found for name in names}
    low |= {name for name, used in others.items() if used >= max(_NOTICED, _DISTURBED * processors)}
    noticed = [name for name, used in others.items() if used >= _NOTICED]
    why = [sentence for _, sentence in found]
    if noticed:
        most = max(others[name] for name in noticed)
        why.append(
            f"others used up to {most:.1f} processors meanwhile, so that these are less than the machine reaches: "
            + ", ".join(noticed)
        )
    kept = {
        name: rate.model_copy(update={"confidence": "low" if name in low else "medium"})
        if name in low or (name in noticed and rate.confidence == "high")
        else rate
        for name, rate in rates.items()
    }
    return Trusted(kept, tuple(why))


def implausible(rates: Mapping[str, Rate]) -> Iterator[tuple[tuple[str, ...], str]]:
    """(names of the rates, the sentence) of each contradiction."""
    yield from _copies(rates)
    yield from _more_threads(rates)
    yield from _formats(rates)
    yield from _disk(rates)


def _copies(rates: Mapping[str, Rate]) -> Iterator[tuple[tuple[str, ...], str]]:
    """A copied byte is read once and written once, so that a copy moves at most twice what reading does."""
    for name, copy in rates.items():
        read = name.replace("memory-copy", "memory-read")
        if (
            copy.quantity == "memory-copy"
            and read in rates
            and copy.value > 2 * _TOLERANCE * rates[read].value
        ):
            yield (name, read), f"{name} is more than twice {read}: one of them was disturbed"


def _more_threads(rates: Mapping[str, Rate]) -> Iterator[tuple[tuple[str, ...], str]]:
    """All threads together are not slower than one alone."""
    for name, one in rates.items():
        if one.threads != 1:
            continue
        for other, more in rates.items():
            same = (more.quantity, more.dtype, more.vectors) == (one.quantity, one.dtype, one.vectors)
            kind, more_kind = (
                re.sub(rf"-{rate.threads}(?=x\d+$|$)", "", each)
                for each, rate in ((name, one), (other, more))
            )
            if same and kind == more_kind and (more.threads or 0) > 1 and more.value < _SLOWER * one.value:
                yield (
                    (other,),
                    f"{other} is less than {name}: something else ran, or fewer processors are there",
                )


def _formats(rates: Mapping[str, Rate]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Twice as many bits are not multiplied faster."""
    for name, double in rates.items():
        single = name.replace("f64", "f32")
        if double.dtype == "f64" and single in rates and double.value > _TOLERANCE * rates[single].value:
            yield (name, single), f"{name} is more than {single}: one of them was disturbed"


def _disk(rates: Mapping[str, Rate]) -> Iterator[tuple[tuple[str, ...], str]]:
    reads = [each.value for each in rates.values() if each.quantity == "memory-read"]
    for name, disk in rates.items():
        if disk.quantity == "disk-read" and reads and disk.value > max(reads):
            yield (name,), f"{name} is more than memory is read with: a cache answered in the disk's place"
