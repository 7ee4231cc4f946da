"""A candidate that would gain more than there is.

Deleting 8 % of the time cannot gain more than 8 % of it. Contract 9.4: candidates are bounded by their measured share. Of
a time a share of s percent gains at most s percent; of a rate at most 100 s / (100 - s) percent, because the rest takes as
long as before. A share is 100 % at most, and not larger than the profile has it, or than the term's time is of the bound or of what was
measured; a profile or a measurement that shares are taken from is there. The seventh family (generated code) needs a profile that is
mostly arithmetic: instruction-level work stops where set-up or data movement dominates.

How to fix: bound the gain by the share, or take the share from the profile; leave out what nothing supports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Candidate, Estimate
from hio_validate.models.profile import Profile
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.estimated import better_of, exceeds, is_ordered, profile_of

_GENERATED_CODE = 7
_WHOLE = {"profile": "profile", "measured": "measured time", "bound": "bound"}


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    profile = profile_of(estimate.profile, item, view)
    for index, candidate in enumerate(estimate.candidates):
        yield from _gain(item, index, candidate, estimate)
        yield from _share(item, index, candidate, estimate, profile)
        if candidate.family == _GENERATED_CODE and (estimate.profile is None or profile is not None):
            yield from _generated_code(item, index, candidate, profile)


def _gain(item: Item, index: int, candidate: Candidate, estimate: Estimate) -> Iterator[Problem]:
    rate = estimate.target.better == "higher"
    for key in ("value", "high"):
        share, gain = getattr(candidate.share_percent, key), getattr(candidate.gain_percent, key)
        most = most_of(share, rate)
        if exceeds(gain, most):
            yield Problem(
                at(item, "candidates", index, "gain_percent", key),
                f"{candidate.name} would gain {gain:.4g} %; a share of {share:.4g} % allows {most:.4g} %",
                f"of a {'rate 100 s / (100 - s)' if rate else 'time s'} percent is the most",
                (("its share", at(item, "candidates", index, "share_percent", key)),),
            )
            return


def most_of(share: float, rate: bool) -> float:
    """The most percent that making a share of `share` percent of the time vanish can gain; of a rate without limit at 100."""
    if not rate:
        return min(share, 100.0)
    return 100 * share / (100 - share) if share < 100 else float("inf")


def _share(
    item: Item, index: int, candidate: Candidate, estimate: Estimate, profile: Profile | None
) -> Iterator[Problem]:
    place = at(item, "candidates", index, "share_of")
    lacks = {"profile": estimate.profile, "measured": estimate.baseline, "bound": estimate.bound}
    if lacks[candidate.share_of] is None:
        what = _WHOLE[candidate.share_of]
        yield Problem(
            place,
            f"a share of the {what}, and this estimate has none",
            f"add the {what}, or take another share",
        )
        return
    for key in ("value", "high"):
        share = getattr(candidate.share_percent, key)
        if exceeds(share, 100.0):
            yield Problem(
                at(item, "candidates", index, "share_percent", key),
                f"{candidate.name} has {share:.4g} % of the {_WHOLE[candidate.share_of]}, more than all of it",
                "a share is 100 % at most",
            )
            return
    given = _given(candidate, estimate, profile)
    if given is not None and exceeds(candidate.share_percent.value, given):
        yield Problem(
            at(item, "candidates", index, "share_percent", "value"),
            f"{candidate.term} is {given:.4g} % of the {_WHOLE[candidate.share_of]}; here it is "
            f"{candidate.share_percent.value:.4g} %",
            "take the share that is there",
        )


def _given(candidate: Candidate, estimate: Estimate, profile: Profile | None) -> float | None:
    """Percent that the term has of the profile, of the measured time or of the bound; None where that does not follow.

    What runs measured cold and warm differs by is no term's: caching-without-cold-and-warm wants both.
    """
    if candidate.term is None:
        return None
    if candidate.share_of == "profile" and profile is not None:
        every = sum(part.samples for part in profile.parts)
        mine = sum(part.samples for part in profile.parts if part.term == candidate.term)
        return 100 * mine / every if every else None
    if candidate.share_of == "profile" or candidate.caching:
        return None
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.stated import times_of

    term, whole = times_of(estimate).get(candidate.term), _whole(estimate, candidate.share_of)
    return 100 * term.value / whole if term is not None and whole is not None else None


def _whole(estimate: Estimate, of: str) -> float | None:
    """Seconds of the bound, or of what was measured of one unit of the path; None where nothing tells them."""
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.gap import measured_time
    from hio_validate.costs.stated import seconds

    bound, baseline = estimate.bound, estimate.baseline
    time = seconds(bound.time) if bound is not None else None
    if bound is None or time is None or time.value <= 0:
        return None
    if of == "bound":
        return time.value
    if baseline is None or bound.metric is None or not is_ordered(bound.metric):
        return None
    measured = measured_time(baseline, bound, better_of(estimate))
    return None if measured is None else measured.value


def _generated_code(
    item: Item, index: int, candidate: Candidate, profile: Profile | None
) -> Iterator[Problem]:
    spent = Counter[str]()
    for part in profile.parts if profile is not None else ():
        spent[part.what] += part.samples
    most = spent.most_common(1)
    if most and most[0][0] == "arithmetic" and most[0][1] > 0:
        return
    yield Problem(
        at(item, "candidates", index, "family"),
        f"{candidate.name} is generated code, and "
        + (f"the profile is mostly {most[0][0]}" if most else "no profile proves that code is the limit"),
        "look higher first: less work, fewer calls, a better representation",
    )


RULE = Rule(
    "gain-above-share", Scope.DOCUMENT, Severity.ERROR, "a candidate that gains more than its share allows", check,
    kinds=("estimate/v1",), contract=("9.4",), since=6,
)  # fmt: skip
