"""Lower bounds of what happens at the same time, added.

While the weights of one matrix are read, the arithmetic of the one before is done. Contract 9.3: of terms that overlap the
longest counts, terms that wait for each other are added; the sum of overlapping bounds is no bound. A document says which
terms stand in which group: each term in exactly one. A bound that leaves a term out bounds something else. Terms of one
resource wait for each other; different resources may work at the same time, and only drafting, dispatch, queueing and gaps
of the host come on top: groups that add up to more than that are no lower bound.

How to fix: take the longest term of each group and add the groups, as `hio estimate` does; where two terms do wait for
each other, write them into groups of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import BoundTime, Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.estimated import DIGITS, exceeds, shown


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    yield from _twice_in_the_ledger(item, estimate)
    if estimate.bound is None:
        return
    yield from _grouped(item, estimate, estimate.bound)
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.stated import is_sum_of_overlapping, sum_and_least

    if is_sum_of_overlapping(estimate, DIGITS):
        together = next(group for group in estimate.bound.groups if len(group) > 1)
        yield Problem(
            at(item, "bound", "time", "value"),
            f"{shown(estimate.bound.time)} is the sum of all terms, and {' and '.join(together)} overlap: "
            "the longest of a group counts",
            "write the longest term of each group, added; or groups of their own, where they do not overlap",
            (("the groups", at_key(item, "bound", "groups")),),
        )
        return
    both = sum_and_least(estimate)
    if both is not None and exceeds(*both):
        yield Problem(
            at_key(item, "bound", "groups"),
            f"these groups add up to {both[0]:.4g} s; where each resource works at the same time as the others, "
            f"the terms take {both[1]:.4g} s at least",
            "put terms of different resources into one group: only one resource's own terms wait for each other",
        )


def _twice_in_the_ledger(item: Item, estimate: Estimate) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, term in enumerate(estimate.terms):
        first = seen.setdefault(term.name, index)
        if first != index:
            yield Problem(
                at(item, "terms", index, "name"),
                f"a second term {term.name}: what stands for it in a group is not clear",
                "write one term with the work of both",
                (("the first one", at(item, "terms", first, "name")),),
            )


def _grouped(item: Item, estimate: Estimate, bound: BoundTime) -> Iterator[Problem]:
    seen: dict[str, tuple[int, int]] = {}
    for place, group in enumerate(bound.groups):
        for index, name in enumerate(group):
            first = seen.setdefault(name, (place, index))
            if first != (place, index):
                yield Problem(
                    at(item, "bound", "groups", place, index),
                    f"{name} stands in two places: its time counts twice",
                    "leave it where it belongs: in one group",
                    (("the first one", at(item, "bound", "groups", *first)),),
                )
    for index, term in enumerate(estimate.terms):
        if term.name not in seen:
            yield Problem(
                at(item, "terms", index, "name"),
                f"{term.name} stands in no group, so that the bound leaves it out",
                "write it into the group of the terms that it overlaps, or into one of its own",
            )


RULE = Rule(
    "summed-overlapping-bounds", Scope.DOCUMENT, Severity.ERROR, "bounds of what overlaps are added, or a term is left out", check,
    kinds=("estimate/v1",), contract=("9.3",), since=6, suppressible=False,
)  # fmt: skip
