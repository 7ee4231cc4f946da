"""A ledger that ends twice: two branches were merged in git and no entry joins them.

Two people appended on two branches, and git merged the files without a conflict. Until a merge entry follows
both, the ledger has no last word: what one branch excluded the other may have accepted. Where the tips agree
that is worth knowing. Where they decided a setting, the parent or what is deployed differently, nobody can
say from the ledger what holds, and nothing is deployed until a person has decided (contract 8.1).

How to fix: close them with `hio ledger merge`, which writes one entry of kind `merge` after all tips; where
they disagree, name in `keeps:` the entry that stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.ledger import Disagreement, Ledger
from hio_validate.rules.base import Problem, Rule, Scope, View, at, listed


def check(view: View) -> Iterator[Problem]:
    unread = {
        item.service for item in view.repo.items if item.model is None and item.file.startswith("ledger/")
    }
    for service, ledger in view.ledgers.items():
        if len(ledger.tips) > 1 and service not in unread and _is_one_history(ledger):
            yield from (_apart(ledger, each) for each in ledger.disagreements)
            if not ledger.disagreements:
                yield _agreeing(ledger)


def _is_one_history(ledger: Ledger) -> bool:
    """Whether every entry leads back to one beginning; what is torn has ends that nobody can join."""
    followed = {parent for id_ in ledger.entries for parent in ledger.after(id_)}
    return len(ledger.roots) == 1 and followed <= ledger.entries.keys()


def _agreeing(ledger: Ledger) -> Problem:
    *others, last = sorted(ledger.tips)
    return Problem(
        at(ledger.entries[last], "after"),
        f"the ledger of {ledger.service} has {len(ledger.tips)} tips, which agree: {listed([*others, last])}",
        "close them with hio ledger merge",
        tuple(("another tip", at(ledger.entries[other], "id")) for other in others),
        Severity.NOTE,
    )


def _apart(ledger: Ledger, found: Disagreement) -> Problem:
    *others, last = found.entries
    return Problem(
        at(ledger.entries[last], "kind"),
        f"the tips of the ledger of {ledger.service} disagree about {found.subject}: {' and '.join(found.entries)}",
        "close them with hio ledger merge and name the one that stands in keeps:; nothing is deployed until then",
        tuple((ledger.says(other, found.subject), at(ledger.entries[other], "kind")) for other in others),
    )


RULE = Rule(
    "open-tips", Scope.REPO, Severity.GATE, "a ledger has two ends that nothing joins", check,
    contract=("8.1",), since=2, suppressible=False,
)  # fmt: skip
