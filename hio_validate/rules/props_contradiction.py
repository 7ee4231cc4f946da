"""A process that reports another value, in /props or its log, than its arguments and defaults give.

The command line is what someone asked for; `/props` and the log are what the engine does. Where the two
disagree, a wrapper, a config file, model metadata or a clamp inside the engine has the last word, and every
comparison made from the arguments compares the wrong thing (contract 2.1: a contradiction is a finding;
contract 2.4 for values that the engine changes at start). Numbers are compared within single precision, and
a value that is decided at run time (`auto`, `-1`) is no contradiction.

How to fix: trust the process. Find what overrides the setting (model metadata, an environment file, a
launcher, a limit in the log), write the value that is really in force into the stack, and capture again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.capture import CapturedProcess
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.settings.observed import contradictions


def check(item: Item, view: View) -> Iterator[Problem]:
    for name, process in item.model.processes.items():
        yield from _process(item, name, process, view)


def _process(item: Item, name: str, process: CapturedProcess, view: View) -> Iterator[Problem]:
    for each in contradictions(name, process, view.settings):
        yield Problem(
            at(item, "processes", name, each.where, "facts", each.key),
            f"{name}.{each.factor} is {each.reported} by {each.shown_where}, but {each.expected} by {each.origin}",
            "trust the process: find what overrides the setting, and write it into the stack",
        )


RULE = Rule(
    "props-contradiction", Scope.DOCUMENT, Severity.ERROR, "the process reports another value than its arguments",
    check, kinds=("capture/v1",), contract=("2.1", "2.4"),
)  # fmt: skip
