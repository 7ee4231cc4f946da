"""A document that calls itself otherwise than its file, stands in another service's folder, or shares its name.

Documents refer to each other by name, and the name is the file's (a run's, an engine's: its folder's). A copied
stack that still carries the old `name:` makes everybody who reads "base" look at the wrong arguments. Two
documents of one kind and name in one service are worse: which of them a matrix compares would depend on the
order of the files.

An entry in another service's folder would put one service's decision into the other's ledger, from which alone
the current parent is read (contract 8.1).

How to fix: after copying a file, write its new name into `name:` (an entry: `id:`); move a document whose
service is right to that service's folder; rename one of two that share a name.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import ROOM_OF, Item, in_its_room
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(view: View) -> Iterator[Problem]:
    seen: dict[tuple[str, str | None, str], Item] = {}
    for item in view.repo.items:
        if item.model is None:
            continue
        key = "id" if item.kind == "entry/v1" else "name"
        said = getattr(item.model, key)
        if not in_its_room(item):
            yield Problem(
                at(item, "hio"),
                f"{item.kind.partition('/')[0]} documents do not stand here",
                f"move it to {ROOM_OF[item.kind]}: only there it is found and frozen",
            )
        if said != item.name:
            yield Problem(
                at(item, key),
                f"{key} is {said}, the {_named_by(item)} {item.name}",
                f"write {key}: {item.name}",
            )
        service = getattr(item.model, "service", None)
        if service and item.service and service != item.service:
            yield Problem(
                at(item, "service"),
                f"service is {service}, the folder says {item.service}",
                "move the file or correct the line",
            )
        first = seen.setdefault((item.kind, item.service, item.name), item)
        if first is not item:
            yield Problem(
                at(item, key),
                f"a second {item.kind.partition('/')[0]} called {item.name}",
                "rename one; a name means one document",
                (("the first one is here", at(first, key)),),
            )


def _named_by(item: Item) -> str:
    """A run and an engine are named by their folder, anything else by its file."""
    stem = item.file.rpartition("/")[2].rpartition(".")[0]
    return "file is called" if stem == item.name else "folder is called"


RULE = Rule(
    "misnamed-document", Scope.REPO, Severity.ERROR, "a document's name, id or service disagrees with its path",
    check, suppressible=False,
)  # fmt: skip
