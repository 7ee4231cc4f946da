"""A decided row whose evidence computes to less than a VERDICT.

A number is DRAFT until its record carries it (contract 7.1): a plan before the first result, an accepted baseline, three
restarts per arm in counterbalanced order, the same work, a quality gate, the noise of this host, and the receipts
(contract 7.2). hio computes the tier of the cited run from its rows, captures and pins each time; no document declares
it. A change also needs a verdict that is an improvement: "no improvement" and "within noise" keep what was there
(contract 7.4). History from before hio is what changed-without-evidence speaks of.

How to fix: `hio verdict RUN` lists every condition that is met and missed; measure again with a plan that meets them
and cite that entry, or write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.outcome import Outcome, Result, Tier
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.rules.cited import Cited, decided_rows


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "changed", "excluded"):
        if cited.run is not None and cited.needs_evidence and not _is_history(cited):
            said = _lacks(cited, cited.run, view.verdict(cited.run))
            if said:
                yield Problem(
                    at(item, *cited.evidence_path),
                    f"{cited.name} is {cited.row.disposition} because of {cited.run.name}, {said}",
                    f"read hio verdict {cited.run.name}, then measure again or write retest",
                    (("the run", Place(cited.run.document, ("name",))),),
                )


def _is_history(cited: Cited) -> bool:
    return any(each.model.imported for each in (cited.entry, cited.run) if each is not None and each.model)


def _lacks(cited: Cited, run: Item, outcome: Outcome) -> str:
    """Why the run does not carry the row; "" where it does."""
    if outcome.tier is not Tier.VERDICT:
        reasons = listed([each.reason for each in outcome.reasons], 8)
        return f"which is {outcome.tier}: {reasons or outcome.result}"
    if cited.row.disposition == "changed" and outcome.result is not Result.IMPROVEMENT:
        return f"whose verdict is: {outcome.result}"
    return ""


RULE = Rule(
    "draft-evidence", Scope.DOCUMENT, Severity.GATE, "a decided row rests on less than a verdict", check,
    kinds=("matrix/v1",), contract=("7.1", "7.2", "7.4"), since=3,
)  # fmt: skip
