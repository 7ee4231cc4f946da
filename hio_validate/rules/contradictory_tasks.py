"""A task set that cannot be asked or scored as it stands.

Every item has an `id` of its own, a `prompt` and an `expected` answer that the set's `scoring` can give: a number for
`first-number`, one of the `choices` for `choice`. An item that no answer can satisfy is wrong in every arm, lowers both
shares, and hides the difference that the gate is there to find; one that stands twice counts twice (contract 4.2, 10.4).
`choices` mean something with `choice` only, which needs at least two that differ.

How to fix: correct the item at the line that is named, and write the new `sha256` and `count` into the set; where a run
has pinned the set, write a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.tasks import read_items
from hio_validate.models.tasks import Tasks
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, in_file


def check(item: Item, view: View) -> Iterator[Problem]:
    tasks: Tasks = item.model
    if tasks.scoring != "choice" and tasks.choices:
        yield Problem(
            at(item, "choices"),
            f"{tasks.scoring} does not use choices",
            "remove them, or say scoring: choice",
        )
    if tasks.scoring == "choice" and len({each.casefold() for each in tasks.choices}) < max(
        2, len(tasks.choices)
    ):
        yield Problem(
            at_key(item, "scoring"),
            "the answers choose between nothing: expected at least two choices that differ",
            "write choices: [A, B, C, D]",
        )
        return
    raw = view.repo.beside(item, tasks.items.file)
    if raw is None:
        return
    for error in read_items(tasks, raw)[1]:
        file = normpath(f"{item.file}/../{tasks.items.file}")
        yield Problem(
            in_file(file, error.line, 1), error.message, error.help, (("the task set", at(item, "items")),)
        )


RULE = Rule(
    "contradictory-tasks", Scope.DOCUMENT, Severity.ERROR, "a task set cannot be asked or scored", check,
    kinds=("tasks/v1",), contract=("4.2", "10.4"), since=5,
)  # fmt: skip
