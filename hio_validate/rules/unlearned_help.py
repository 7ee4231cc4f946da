"""A build whose help text cannot be learned from, or whose family nobody described.

The defaults of a build are learned from what its own `--help` prints, stored beside the build (contract 2.2).
A cut, merged or foreign text would teach half of them: the missing options would count as unknown to the build,
and a default that moved between two builds would go unseen. So a line where an option could begin is either
understood or refused with its number, and nothing of that text is believed.

How to fix: store what the binary prints, whole and unedited: `llama-server --help > help.txt`. For a family
that hio does not ship, add `manifests/engines/<family>/family.yaml` with the grammar of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file
from hio_validate.settings.catalogue import UnreadableHelp


def check(item: Item, view: View) -> Iterator[Problem]:
    if item.model.help is None:
        return
    learned = view.settings.learned(item)
    if isinstance(learned, UnreadableHelp):
        file = normpath(f"{item.file}/../{item.model.help.file}")
        yield Problem(
            at(item, "help", "file"),
            f"{item.model.help.file} cannot be learned: {learned}",
            "store what the binary's --help prints, whole (hio engine learn)",
            (("the line that is not understood", in_file(file, learned.line, 1)),),
        )
    elif view.settings.family(item.model.family) is None:
        yield Problem(
            at(item, "family"),
            f"nobody described the family {item.model.family}: hio ships no table of it, this repository has none",
            f"add manifests/engines/{item.model.family}/family.yaml",
        )


RULE = Rule(
    "unlearned-help", Scope.DOCUMENT, Severity.ERROR, "a build's help text is not understood", check,
    kinds=("engine/v1",), contract=("2.2",),
)  # fmt: skip
