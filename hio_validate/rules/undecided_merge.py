"""A merge that leaves open what its tips decided differently, or keeps what is no side of it.

A merge entry gives a ledger of two branches one end again. Where one branch accepted what the other excluded,
or each has its own parent, following both decides nothing: whoever reads on would have to guess. So for each
setting, for the parent and for what is deployed it keeps exactly one of the entries that speak last of it on
their branches (contract 8.1). An entry of another kind may follow two tips where they agree; where they do
not, it would hide that.

How to fix: name the entry that stands in `keeps:`, one for each disagreement, and no other; `hio ledger
merge` lists them. In a committed merge leave it and append an entry that decides anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.ledger import Disagreement, Ledger
from hio_validate.models.entry import Merge
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    ledger = view.ledger(item.service)
    disagreements = ledger.between_tips_of(item) if len(item.model.after) > 1 else []
    if isinstance(item.model, Merge):
        yield from _decided(item, disagreements, ledger, view)
    else:
        yield from (_passed_over(item, found, ledger) for found in disagreements)


def _decided(item: Item, disagreements: list[Disagreement], ledger: Ledger, view: View) -> Iterator[Problem]:
    kept = [ledger.entry(name) for name in item.model.keeps]
    names = {entry.name for entry in kept if entry is not None}
    for found in disagreements:
        if len(names.intersection(found.entries)) != 1:
            yield _open(item, found, sorted(names.intersection(found.entries)), ledger)
    sides = {side for found in disagreements for side in found.entries}
    for index, (name, entry) in enumerate(zip(item.model.keeps, kept, strict=True)):
        if entry is None and view.repo.find("entry/v1", name, item.service) is None:
            continue  # dangling-reference reports it
        if entry is None or entry.name not in sides:
            yield Problem(
                at(item, "keeps", index),
                f"{name} is no side of what the tips decided differently",
                f"keep one of {', '.join(sorted(sides))}" if sides else "the tips agree: take keeps: away",
            )


def _passed_over(item: Item, found: Disagreement, ledger: Ledger) -> Problem:
    """Another entry that follows both sides: from then on nobody sees that they disagree."""
    return Problem(
        at(item, "after"),
        f"{item.name} follows tips that disagree about {found.subject}: {' and '.join(found.entries)}",
        "only a merge says which stands: append one that keeps it, then this entry after the merge",
        _sides(found, ledger),
    )


def _sides(found: Disagreement, ledger: Ledger) -> tuple[tuple[str, Place], ...]:
    return tuple(
        (ledger.says(side, found.subject), at(ledger.entries[side], "kind")) for side in found.entries
    )


def _open(item: Item, found: Disagreement, kept: list[str], ledger: Ledger) -> Problem:
    said = "none is kept" if not kept else f"{' and '.join(kept)} are kept"
    return Problem(
        at_key(item, "keeps") if item.model.keeps else at(item, "kind"),
        f"the tips disagree about {found.subject}: {' and '.join(found.entries)}; {said}",
        f"name in keeps: the one that stands: {' or '.join(found.entries)}",
        _sides(found, ledger),
    )


RULE = Rule(
    "undecided-merge", Scope.DOCUMENT, Severity.ERROR, "a merge leaves open what its tips decided differently", check,
    kinds=("entry/v1",), contract=("8.1",), since=2, suppressible=False,
)  # fmt: skip
