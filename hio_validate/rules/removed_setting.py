"""A setting that the build's own help says was removed.

llama.cpp keeps the old name in its help ("the argument has been removed"): given as an argument it stops the
server at its next start, which after an upgrade may be the restart at three in the morning; given in the
environment it does nothing that anybody promised, and the speculation that somebody measured is off (contract
2.3).

How to fix: use the successor that the message names, or take the line out. The successor is another setting of
another build: give it a row in the matrix, and map the two names with `pairs:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    for wrong in view.misread(item, "removed-setting"):
        yield Problem(at_key(item, *wrong.path), wrong.message, wrong.help)


RULE = Rule(
    "removed-setting", Scope.DOCUMENT, Severity.ERROR, "a setting was removed from this build", check,
    kinds=("stack/v1",), contract=("2.3",),
)  # fmt: skip
