"""An anchored commit that is no ancestor of HEAD, or an anchored ledger tip that is not there as it was.

From git alone nobody can see that a history was rewritten as a whole and pushed by force: what is left looks
honest (contract 8.1). An anchor remembers a commit and the ledger's tips at it; a history that does not contain
that commit is another history. Anchors stand in the ledger, where a thorough forger would rewrite them, too, or in
a file that is kept elsewhere (`hio audit anchor --output FILE`, `hio audit --anchor FILE`).

How to fix: find the history that contains the commit: another clone, the reflog of the remote, a backup. Make it
the one that is served again, and add what was lost since. Where only a branch of your own was rebased, anchor
after publication the next time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.rules.base import Problem, Rule, Scope
from hio_validate.rules.faults import in_history


def check(found: Sequence[Diagnostic]) -> Iterator[Problem]:
    return in_history(found, "anchor-lost")


RULE = Rule(
    "anchor-lost", Scope.HISTORY, Severity.ERROR, "an anchored commit or ledger tip is lost", check,
    contract=("8.1", "12.3",), since=2, suppressible=False,
)  # fmt: skip
