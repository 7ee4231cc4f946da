"""A ledger that is not one growing history: two beginnings, a lost ancestor, a circle, a merge that merges nothing.

From the ledger alone one reads what serves now, what was accepted and what was excluded (contract 8.1). That
works only if every entry but the first, a baseline, pins the entries it follows. An entry that follows nothing
starts a second history beside the first, and an entry whose ancestor is gone hangs in the air: what was
excluded before it can come back as if nobody had measured it.

How to fix: pin the current tip in `after:` (`after: ["<id>@sha256:<digest>"]`); after two branches were merged
in git, close both tips with an entry of kind `merge` that pins both. A lost ancestor is restored from git, not
written again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Baseline, Merge
from hio_validate.rules.base import Problem, Rule, Scope, View, at, with_article


def check(view: View) -> Iterator[Problem]:
    for ledger in view.ledgers.values():
        yield from _beginnings(ledger)
        yield from _links(ledger, view)


def _beginnings(ledger: Ledger) -> Iterator[Problem]:
    roots = [ledger.entries[id_] for id_ in ledger.roots]
    if not roots:
        return
    first, *others = sorted(roots, key=lambda item: not isinstance(item.model, Baseline))
    if not isinstance(first.model, Baseline):
        yield Problem(
            at(first, "kind"),
            f"the ledger of {ledger.service} begins with {with_article(first.model.kind)}",
            "the first entry is a baseline: what served before",
        )
    for other in others:
        yield Problem(
            at(other, "after"),
            f"a second beginning of the ledger of {ledger.service}",
            "write after: [<tip>@sha256:…]; only the first entry follows nothing",
            (("the first beginning", at(first, "after")),),
        )


def _links(ledger: Ledger, view: View) -> Iterator[Problem]:
    for id_, item in ledger.entries.items():
        followed = ledger.after(id_)
        for index, parent in enumerate(followed):
            if parent not in ledger.entries and not view.repo.maybe_unread(parent):
                yield Problem(
                    at(item, "after", index),
                    f"{id_} follows {parent}, which is not in the ledger of {ledger.service}",
                    "restore the entry; a ledger only grows",
                )
            elif parent in followed[:index]:
                yield Problem(at(item, "after", index), f"{id_} follows {parent} twice", "name each tip once")
        if id_ in ledger.in_a_cycle:
            yield Problem(
                at(item, "after"), f"{id_} follows itself in a circle", "restore the committed entries"
            )
        if isinstance(item.model, Merge) and len(_tips(ledger, followed)) < 2:
            yield Problem(
                at(item, "after"),
                f"{id_} closes fewer than two tips; a merge closes at least two, neither following the other",
                "pin both tips",
            )


def _tips(ledger: Ledger, followed: list[str]) -> set[str]:
    """The entries of a list that no other one of it follows."""
    named = set(followed)
    return {
        id_ for id_ in named if not any(id_ in ledger.ancestors(ledger.after(one)) for one in named - {id_})
    }


RULE = Rule(
    "broken-lineage", Scope.REPO, Severity.ERROR, "a ledger is not one growing history", check,
    contract=("8.1",), suppressible=False,
)  # fmt: skip
