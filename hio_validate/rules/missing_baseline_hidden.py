"""An estimate that does not say what it lacks.

Contract 9.5: a missing baseline, profile or quality gate is shown. An estimate without a measured baseline is a bound and
no gap; without a profile nothing says where the time goes; without a shape nothing was counted; and a candidate that
changes numbers (a number format of weights or K/V) may make the answers wrong, so it names the quality gate it needs.

How to fix: one sentence each in `missing:`; of a candidate in its `needs:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Candidate, Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key

_SAYS = {
    "baseline": re.compile(r"baseline|measured|\brun\b", re.IGNORECASE),
    "profile": re.compile(r"profil", re.IGNORECASE),
    "bound": re.compile(r"shape|bound|tokens|ceiling|rate", re.IGNORECASE),
    "quality gate": re.compile(r"quality|correctness|task set", re.IGNORECASE),
}
_CHANGES_NUMBERS = re.compile(
    r"cache-type|kv-cache-dtype|quanti[sz]|(?:^|\.|-)dtype|weight-type", re.IGNORECASE
)


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    place = at_key(item, "missing") if estimate.missing else at(item, "name")
    if estimate.baseline is None:
        yield from _unsaid(place, estimate, "baseline", "no baseline was measured", "hio plan, then hio run")
    if estimate.profile is None:
        yield from _unsaid(
            place, estimate, "profile", "no profile says where the time goes", "hio probe profile"
        )
    if estimate.bound is None:
        yield from _unsaid(place, estimate, "bound", "there is no bound", "hio probe model, hio probe host")
    for index, candidate in enumerate(estimate.candidates):
        said = [*candidate.needs, *estimate.missing]
        if _changes_numbers(candidate) and not any(map(_SAYS["quality gate"].search, said)):
            yield Problem(
                at(item, "candidates", index, "name"),
                f"{candidate.name} changes numbers, and no quality gate is named",
                "write into needs: the task set that its answers have to pass",
            )


def _unsaid(place: Place, estimate: Estimate, what: str, lack: str, way: str) -> Iterator[Problem]:
    if not any(map(_SAYS[what].search, estimate.missing)):
        yield Problem(
            place, f"{lack}, and missing: does not say so", f"write it into missing: ({way} gets it)"
        )


def _changes_numbers(candidate: Candidate) -> bool:
    """Whether the answers may become others: another number format of weights or of K/V."""
    factor = candidate.factor or ""
    return candidate.route == "quantise-and-evaluate" or _CHANGES_NUMBERS.search(factor) is not None


RULE = Rule(
    "missing-baseline-hidden", Scope.DOCUMENT, Severity.ERROR, "an estimate does not say what it lacks", check,
    kinds=("estimate/v1",), contract=("9.5",), since=6,
)  # fmt: skip
