"""Family 7, generated or specialised code: only where a profile proves that local arithmetic is the largest remaining part.

Instruction-level work stops where set-up or data movement dominates the profile; a flat profile gets no hotspot: there a
loop or a representation higher in the call graph is looked for, or several small parts are ranked (contract 9.4).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen
from hio_validate.estimating.candidates.profiled import (
    FLAT,
    MOST,
    SMALL,
    is_flat,
    largest,
    of_kind,
    share_of,
)
from hio_validate.models.profile import Part, Profile


def find(seen: Seen, found: Found) -> None:
    """The largest part of arithmetic, or what is said in its place; nothing without a profile."""
    if seen.profile is None or not sum(part.samples for part in seen.profile.parts):
        return
    profile = _as_bounded(seen, seen.profile)
    first = largest(profile)
    moving = of_kind(profile, "data-movement", "set-up")
    arithmetic = of_kind(profile, "arithmetic")
    most = max({part.what for part in profile.parts}, key=lambda what: (of_kind(profile, what), what))
    if is_flat(profile):
        found.said.append(_flat(profile, first))
    if moving >= arithmetic:
        found.said.append(
            f"set-up and data movement are {100 * moving:.0f} % of the profile {profile.name}, arithmetic is "
            f"{100 * arithmetic:.0f} %: no instruction is worth looking at before they are smaller"
        )
    elif most != "arithmetic" or of_kind(profile, most) > arithmetic:
        found.said.append(
            f"most of the profile {profile.name} is {most} ({100 * of_kind(profile, most):.0f} %), not arithmetic: generated "
            "code would not touch it"
        )
    elif is_flat(profile):
        found.mechanisms += _small(profile)
    elif first.what != "arithmetic":
        found.said.append(
            f"the largest part of the profile {profile.name} is {first.name} ({first.what}): generated code would not touch it"
        )
    else:
        found.mechanisms.append(_of(first, "specialise the code of"))


def _as_bounded(seen: Seen, profile: Profile) -> Profile:
    """The same samples; reading whose arithmetic is the limit, as the ledger has it, is arithmetic."""
    parts = [
        part.model_copy(update={"what": "arithmetic"})
        if part.what == "data-movement" and part.term and seen.bounded_by(part.term) == "compute"
        else part
        for part in profile.parts
    ]
    return profile.model_copy(update={"parts": parts})


def _flat(profile: Profile, first: Part) -> str:
    share = share_of(profile, [first])
    percent = 100 * share.value if share else 0.0
    return (
        f"the profile {profile.name} is flat: its largest part, {first.name}, has {percent:.0f} % (no hotspot below "
        f"{100 * FLAT:.0f} %); look higher in the call graph for a loop or a representation, else try small parts one by one"
    )


def _small(profile: Profile) -> Iterator[Mechanism]:
    """A few independent small parts, the largest first, where nothing larger is there; waiting is not made by code."""
    parts = sorted(profile.parts, key=lambda part: -part.samples)
    worth = [
        part
        for part in parts
        if part.what == "arithmetic" and (share := share_of(profile, [part])) and share.value >= SMALL
    ]
    yield from (_of(part, "do less work in") for part in worth[:MOST])


def _of(part: Part, does: str) -> Mechanism:
    words = "".join(each if each.isalnum() or each in "._" else "-" for each in part.name).strip("-._")
    return Mechanism(
        f"code-{words[:40]}".rstrip("-._"), 7, f"{does} {part.name}, which local arithmetic bounds",
        term=part.term, parts=(part,), vanishes=True, change="all of this part -> none of it",
        confidence="low",
        rollback="go back to the build that serves now",
        stop_if="counters show that it waits for memory, not for arithmetic",
        needs=("the same answers: an operator test and a check",), route="kernel-counters",
    )  # fmt: skip
