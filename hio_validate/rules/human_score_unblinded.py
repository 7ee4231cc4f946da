"""Human scores by somebody who knew which arm an answer is from, or who cannot prove not to have known.

Who knows that an answer is the candidate's scores it by what is hoped for. Unblinded scores stay DRAFT (contract 10.7).
Scores that are called blind need the hash of the key that says which answer is whose: made before scoring, it proves
afterwards that nobody assigned the arms by the scores.

How to fix: have the answers scored under names that do not tell the arm, with the key's SHA-256 recorded first, as a new
receipt; the open one stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.receipt import HumanScore
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, HumanScore):
        return
    if receipt.blinding == "open":
        said = "the scorer knew which arm an answer is from: these scores stay DRAFT"
        yield Problem(at(item, "blinding"), said, "score again under names that do not tell the arm")
    elif receipt.key_sha256 is None:
        said = "nothing proves that it was blind: the key has no hash"
        yield Problem(
            at(item, "blinding"), said, "score again with key_sha256 recorded before the first score"
        )


RULE = Rule(
    "human-score-unblinded", Scope.DOCUMENT, Severity.GATE, "a scorer may have known the arms", check,
    kinds=("receipt/v1",), contract=("10.7",), since=5,
)  # fmt: skip
