"""A plan or a fixture with a text that still says TODO.

`hio plan new` fills in what the documents say. What only a person can say, such as the number that is expected, the
mechanism behind it or who may end the trial, it leaves as `TODO …`. A plan is complete before its first result
(contract 4.1, 4.4): a claim written afterwards is no hypothesis.

How to fix: replace every text that begins with TODO by what it asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.texts import texts

TODO = "TODO"
"""What a text begins with that a person has to write."""


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, text in texts(item.document.data):
        if text.startswith(TODO):
            asked = text.removeprefix(TODO).lstrip(" :")
            yield Problem(
                at(item, *path), f"still to be written: {asked or 'this text'}", "write it in place of TODO"
            )


RULE = Rule(
    "unfinished-plan", Scope.DOCUMENT, Severity.ERROR, "a plan or fixture still says TODO", check,
    kinds=("plan/v1", "fixture/v1"), contract=("4.1", "4.4"), since=3,
)  # fmt: skip
