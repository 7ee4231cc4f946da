"""A cause that no profile shows.

A gap says that time is lost, and not where. Contract 9.7: a gap selects a profile; a cause without that profile is a
finding. So each cause pins one, and it is one of the stack and the path that the estimate is about: what a profile of the
prefill shows is no cause of a slow decode.

How to fix: record the profile (`hio probe profile`) and pin it; until then it is a suspicion: leave it to `next:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.estimated import profile_of, short


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    for index, cause in enumerate(estimate.causes):
        if cause.profile is None:
            yield Problem(
                at(item, "causes", index, "claim"),
                "no profile shows this cause",
                "pin the profile that shows it; until then it is a suspicion, and next: says how to test it",
            )
            continue
        profile = profile_of(cause.profile, item, view)
        if profile is None:
            continue  # pin-mismatch, or the profile's own fault
        if short(profile.stack) != short(estimate.workload.stack):
            yield Problem(
                at(item, "causes", index, "profile"),
                f"{profile.name} is a profile of the stack {short(profile.stack)}; the workload is {short(estimate.workload.stack)}",
                "pin a profile of the workload's stack",
            )
        if profile.path != estimate.path:
            yield Problem(
                at(item, "causes", index, "profile"),
                f"{profile.name} is a profile of the path {profile.path}; this estimate is about {estimate.path}",
                "pin a profile of this path",
            )


RULE = Rule(
    "cause-without-profile", Scope.DOCUMENT, Severity.ERROR, "a cause that no profile of this stack shows", check,
    kinds=("estimate/v1",), contract=("9.7",), since=6,
)  # fmt: skip
