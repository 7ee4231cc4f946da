"""A known-good registry that asks for what no deployment can do, or says the same twice.

A registry speaks when nobody remembers why: at the next deployment, at night. Where it requires a value in one row and
forbids it in another, every deployment of the model fails closed, and whoever is in a hurry believes neither row
(contract 8.6). Rows about different builds do not contradict each other; a setting is one setting under each of its
spellings.

How to fix: correct the row that is wrong, or say with `builds:` which builds each of them is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.known_good.agreement import disagreements
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    for wrong in disagreements(item.model, view.settings.family(item.model.engine)):
        earlier = () if wrong.earlier is None else (("the other row", at(item, "settings", wrong.earlier)),)
        yield Problem(
            at(item, "settings", wrong.number),
            wrong.message,
            "correct the row that is wrong, or name the builds that each is about",
            earlier,
        )


RULE = Rule(
    "contradictory-registry", Scope.DOCUMENT, Severity.ERROR, "two rows of a known-good registry cannot both be met", check,
    kinds=("known-good/v1",), contract=("8.6",), since=4,
)  # fmt: skip
