"""What a profile shows: shares of its samples, whether it is flat, and the parts that a mechanism works on (contract 9.4).

Invariant: a share of a profile is counted from its samples, never taken from a ledger; a flat profile has no hotspot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from hio_validate.costs.interval import Interval
from hio_validate.estimating.candidates.mechanism import Mechanism, Seen
from hio_validate.models.profile import Part, Profile

FLAT = 0.10
"""A profile is flat where no part has more than this share of its samples."""

SMALL = 0.02
"""Parts below this share are not worth an experiment of their own: noise of a host is about as large."""

MOST = 3
"""Small parts that are ranked where a profile is flat."""


def share_of(profile: Profile, parts: Iterable[Part]) -> Interval | None:
    """The share of some parts, with two standard errors of a share of that many samples; None of no samples at all."""
    total = sum(part.samples for part in profile.parts)
    if not total:
        return None
    share = sum(part.samples for part in parts) / total
    error = 2 * math.sqrt(share * (1 - share) / total)
    return Interval(share, max(0.0, share - error), min(1.0, share + error))


def parts_of(profile: Profile, term: str) -> tuple[Part, ...]:
    """The parts that belong to a term of the ledger."""
    return tuple(part for part in profile.parts if part.term == term)


def largest(profile: Profile) -> Part:
    """The part with the most samples, the first of equal ones."""
    return max(profile.parts, key=lambda part: part.samples)


def is_flat(profile: Profile) -> bool:
    """Whether no part has more than FLAT of the samples."""
    share = share_of(profile, [largest(profile)])
    return share is None or share.value <= FLAT


def of_kind(profile: Profile, *kinds: str) -> float:
    """The share of what was done, e.g. of data movement."""
    share = share_of(profile, [part for part in profile.parts if part.what in kinds])
    return share.value if share else 0.0


def named_parts(seen: Seen, family: int, pattern: str, name: str, does: str) -> Iterator[Mechanism]:
    """A mechanism on the parts whose names say that it is there; nothing without a profile, or where they are small."""
    profile = seen.profile
    if profile is None:
        return
    parts = tuple(part for part in profile.parts if re.search(pattern, part.name, re.IGNORECASE))
    share = share_of(profile, parts)
    if not parts or share is None or share.value < SMALL:
        return
    yield Mechanism(
        name,
        family,
        f"{does}: {', '.join(part.name for part in parts[:3])}",
        term=parts[0].term if len({part.term for part in parts}) == 1 else None,
        parts=parts,
        vanishes=True,
        change="all of it -> none of it",
        rollback="go back to the build and stack as they are",
        route="attribute-cpu-and-device",
    )
