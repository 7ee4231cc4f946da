"""Words of optimality in a claim or a decision.

Measured were some configurations, in one scope; the others are not known to be worse. Contract 7.7: a result says
"best of the N configurations measured in scope S". Optimal, optimum, fastest and "the best" without such an "of" are
found in the claim and question of a plan, in the question of a campaign, and in the `because` of an increment or a
decision. It is a note: whether the
declared space was exhausted, a reader has to judge.

How to fix: say of how many, and where: "the fastest of the 4 thread counts measured on this host".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.campaign import Campaign
from hio_validate.models.entry import Decision, Increment
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

WORDS = re.compile(
    r"(?<![\w-])(optimal(?:ly)?|optimum|(?:fastest|the best)(?! of (?:the |all )?\d))(?![\w-])", re.IGNORECASE
)
"""What says more than was measured; an estimate may not say it either."""


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, text in _claims(item):
        found = WORDS.search(text)
        if found:
            yield Problem(
                at(item, *path),
                f'"{found[1]}" says something of configurations that nobody measured',
                "say of how many measured configurations, and in which scope",
            )


def _claims(item: Item) -> Iterator[tuple[Path, str]]:
    match item.model:
        case Plan(hypothesis=hypothesis, question=question):
            yield ("question",), question
            yield ("hypothesis", "claim"), hypothesis.claim
        case Campaign(question=question):
            yield ("question",), question
        case Increment(because=str(because)) | Decision(because=str(because)):
            yield ("because",), because


RULE = Rule(
    "optimality-words", Scope.DOCUMENT, Severity.NOTE, "words of optimality without a declared space", check,
    kinds=("plan/v1", "campaign/v1", "entry/v1"), contract=("7.7",), since=3, spares_corrected=True,
)  # fmt: skip
