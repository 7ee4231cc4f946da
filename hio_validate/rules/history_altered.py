"""A commit that edited, deleted, moved or replaced an entry or a frozen document.

What was recorded is frozen: entries, runs with all their files and captures from their first commit, everything
else from when an entry or a run pins its bytes (contract 1.4, 8.1). `hio validate` compares with one commit, so
what was edited and then put back, dropped by a merge, or deleted and added again is seen only by `hio audit`,
which reads every commit and compares a merge with each of its parents. Also found: another file mode, a symbolic
link, a submodule or a Git LFS pointer (a mere hash) where a file was or should be.

Not found, because it is honest work: edits of drafts that nothing pins, the deletion of a capture that nothing
pins, and bytes that a `redaction` entry names by file and digest (that is a note).

How to fix: history stays, so the finding does, too. Restore the recorded bytes in a new commit, say what happened
in a `correction` entry, and audit what came later with `--since COMMIT`. Only a branch that nobody has yet may be
written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.rules.base import Problem, Rule, Scope
from hio_validate.rules.faults import in_history


def check(found: Sequence[Diagnostic]) -> Iterator[Problem]:
    return in_history(found, "history-altered")


RULE = Rule(
    "history-altered", Scope.HISTORY, Severity.ERROR, "history altered an entry or a frozen document", check,
    contract=("1.4", "8.1", "12.3",), since=2, suppressible=False,
)  # fmt: skip
