"""A reason in a known-good registry that only holds the place of one.

A row that says `TODO` or `?` blocks a deployment like any other, and nobody can tell in a year whether it may go: after
an update of the engine, on another card, with another driver (contract 8.6). What happens without the setting, and how it
was seen, is known on the day it is recorded.

How to fix: write in a sentence what goes wrong otherwise, and who asked for it where somebody opted in.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.known_good.agreement import is_placeholder
from hio_validate.models.known_good import KnownGood
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    registry: KnownGood = item.model
    rows = [("settings", index, row.factor, row.because) for index, row in enumerate(registry.settings)]
    rows += [("opted_in", index, row.factor, row.because) for index, row in enumerate(registry.opted_in)]
    for key, index, factor, because in rows:
        if is_placeholder(because):
            yield Problem(
                at(item, key, index, "because"),
                f"{factor} has no reason: {because!r} only holds its place",
                "write what goes wrong otherwise" if key == "settings" else "write who asked for it, and why",
            )


RULE = Rule(
    "placeholder-reason", Scope.DOCUMENT, Severity.ERROR, "a known-good registry gives no reason", check,
    kinds=("known-good/v1",), contract=("8.6",), since=4,
)  # fmt: skip
