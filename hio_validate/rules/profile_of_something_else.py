"""Shares that are taken from the profile of another stack, path or request.

Where the time of one stack went says nothing of another. Contract 9.4: candidates are bounded by their measured share, so
the profile of an estimate is one of its stack, of its path and of its fixture; what the profile does not say is a gate. A
profiler slows down what it watches (contract 5.6): its numbers are shares, and a leg that ran beside one is no baseline.

How to fix: profile this stack while this fixture is asked, and pin that; without one leave `profile:` out and say so in
`missing:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Estimate
from hio_validate.models.profile import Profile
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed
from hio_validate.rules.estimated import profile_of, short


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    profile = profile_of(estimate.profile, item, view)
    if profile is not None:
        yield from _profile(item, estimate, profile)
    yield from _instrumented(item, estimate, view)


def _profile(item: Item, estimate: Estimate, profile: Profile) -> Iterator[Problem]:
    workload = estimate.workload
    fixture = name_of(workload.fixture).rpartition("/")[2] if workload.fixture else None
    for what, theirs, mine in (
        ("stack", short(profile.stack), short(workload.stack)),
        ("path", profile.path, estimate.path),
        ("fixture", profile.fixture and profile.fixture.rpartition("/")[2], fixture),
    ):
        unknown = theirs is None or mine is None
        if (theirs == mine and not unknown) or (what == "fixture" and estimate.path in ("setup", "load")):
            continue
        yield Problem(
            at(item, "profile"),
            f"whether {profile.name} is a profile of this {what} is unknown"
            if unknown
            else f"{profile.name} is a profile of the {what} {theirs}; this estimate is about {mine}",
            f"take a profile of this {what}, or leave the profile out",
            severity=Severity.GATE if unknown else None,
        )


def _instrumented(item: Item, estimate: Estimate, view: View) -> Iterator[Problem]:
    baseline = estimate.baseline
    run = view.repo.find("run/v1", name_of(baseline.run), item.service) if baseline else None
    if baseline is None or run is None or run.model is None:
        return
    legs = [leg.leg for leg in run.model.legs if leg.arm == baseline.arm and leg.instrumented]
    if legs:
        yield Problem(
            at(item, "baseline", "arm"),
            f"a profiler ran beside leg {listed(legs)} of this arm: its speed is no baseline",
            "take a run without a profiler",
            (("the legs", at_key(run, "legs")),),
        )


RULE = Rule(
    "profile-of-something-else", Scope.DOCUMENT, Severity.ERROR, "shares of a profile of another stack, path or request", check,
    kinds=("estimate/v1",), contract=("9.4", "5.6"), since=6,
)  # fmt: skip
