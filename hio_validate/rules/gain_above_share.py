"""A candidate that would gain more than there is.

Deleting 8 % of the time cannot gain more than 8 % of it. Contract 9.4: candidates are bounded by their measured share. Of
a time a share of s percent gains at most s percent; of a rate at most 100 s / (100 - s) percent, because the rest takes as
long as before. A share of a profile is not larger than the profile has it, one of the bound not larger than the term's; a
profile or a measurement that shares are taken from is there. The seventh family (generated code) needs a profile that is
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
from hio_validate.rules.estimated import DIGITS, profile_of

_GENERATED_CODE = 7


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
        if gain > most * (1 + DIGITS):
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
        what = {"profile": "profile", "measured": "measured baseline", "bound": "bound"}[candidate.share_of]
        yield Problem(
            place,
            f"a share of the {what}, and this estimate has none",
            f"add the {what}, or take another share",
        )
        return
    given = _given(candidate, estimate, profile)
    if given is not None and candidate.share_percent.value > given * (1 + DIGITS):
        yield Problem(
            at(item, "candidates", index, "share_percent", "value"),
            f"{candidate.term} is {given:.4g} % of the {candidate.share_of}; here it is "
            f"{candidate.share_percent.value:.4g} %",
            "take the share that is there",
        )


def _given(candidate: Candidate, estimate: Estimate, profile: Profile | None) -> float | None:
    """Percent that the term has of the profile or of the bound; None where that does not follow."""
    if candidate.term is None:
        return None
    if candidate.share_of == "profile" and profile is not None:
        whole = sum(part.samples for part in profile.parts)
        mine = sum(part.samples for part in profile.parts if part.term == candidate.term)
        return 100 * mine / whole if whole else None
    bound = estimate.bound
    if candidate.share_of != "bound" or bound is None:
        return None
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.stated import seconds, times_of

    term, all_of_it = times_of(estimate).get(candidate.term), seconds(bound.time)
    if term is None or all_of_it is None or all_of_it.value <= 0:
        return None
    return 100 * term.value / all_of_it.value


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
