"""A graft, a replace ref or a commit-graph that makes git show another history than the true one.

`git log`, `git diff` and every tool on top of them believe `.git/info/grafts`, `refs/replace/` and the
commit-graph. With one line in one of them a commit that changed the ledger can no longer be seen, and a file can
show other bytes (contract 8.1). `hio audit` reads the commits themselves and judges those; that something was put
in front of them is a finding of its own, because people saw something else.

How to fix: remove the line from `.git/info/grafts`, `git replace -d ID`, or remove the commit-graph and write it
anew; then find out who put it there. A fresh clone has none of the three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.rules.base import Problem, Rule, Scope
from hio_validate.rules.faults import in_history


def check(found: Sequence[Diagnostic]) -> Iterator[Problem]:
    return in_history(found, "history-hidden")


RULE = Rule(
    "history-hidden", Scope.HISTORY, Severity.ERROR, "git is made to show another history", check,
    contract=("8.1", "12.3",), since=2, suppressible=False,
)  # fmt: skip
