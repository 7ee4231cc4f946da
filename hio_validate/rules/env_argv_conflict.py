"""A setting that one process is given twice with two values, by environment and argv or twice in one of them.

The engine takes the last argument, and an argument wins over the environment; nobody who reads the unit's
environment file sees that (contract 2.1: `-t`, `--threads` and `LLAMA_ARG_THREADS` are one setting). The next
person then changes the line that has no effect, measures nothing, and writes down that threads do not matter.

Two equal values in different spelling (`f16` and `F16`) do not conflict, and options that add up, such as
`--lora`, may stand several times.

How to fix: keep the one that is meant. If a file that you do not own sets the other, say so in
`# hio: allow env-argv-conflict — reason` on that line.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    for wrong in view.misread(item, "env-argv-conflict"):
        yield Problem(at(item, *wrong.path), wrong.message, wrong.help)


RULE = Rule(
    "env-argv-conflict", Scope.DOCUMENT, Severity.ERROR, "a setting is given twice with two values", check,
    kinds=("stack/v1",), contract=("2.1",),
)  # fmt: skip
