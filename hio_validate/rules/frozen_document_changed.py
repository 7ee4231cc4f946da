"""An entry, a run or a capture that differs from its committed bytes, or is gone.

These three say what happened, and what happened does not change. They are written once and frozen from their
first commit (contract 1.4): a ledger is append-only (contract 8.1), failed runs stay, a capture is what the
process was on that day. An edited entry rewrites who accepted what, on which evidence; an audit a year later
could no longer tell.

Compared with the base revision: HEAD, or what a review names. Every file of a run counts, rows and logs too. A
capture that nothing pins may be deleted.

How to fix: restore the file (`git checkout HEAD -- FILE`). If it says something wrong, leave it and add a new
entry of kind `correction` that says what is right; a new measurement is a new run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import references
from hio_validate.rules.base import Before, Problem, Rule, Scope, View, in_file

_FROZEN = re.compile(
    r"(?P<entry>ledger/.+\.ya?ml)|manifests/services/[^/]+/[^/]+/(?:(?P<capture>captures/.+\.ya?ml)|(?P<run>runs/.+))"
)


def is_frozen(path: str) -> bool:
    """Whether a file never changes once it is committed: an entry, a capture, or any file of a run."""
    return _FROZEN.fullmatch(path) is not None


def check(before: Before | None, view: View) -> Iterator[Problem]:
    if before is None:
        return
    present = view.repo.paths
    for path in before.paths():
        match = _FROZEN.fullmatch(path)
        if match is None:
            continue
        kind = _kind(match)
        raw = view.repo.bytes_of(path) if path in present else None
        if raw is None:
            if kind != "capture" or _is_pinned(path, view):
                yield Problem(
                    in_file(path),
                    f"this {kind} was committed and is gone",
                    f"restore it: git checkout {before.commit_of(path)} -- {path}",
                )
        elif not before.same(path, raw):
            yield Problem(
                in_file(path, 1, 1),
                f"this {kind} differs from its committed bytes; it is frozen from its first commit",
                f"restore it (git checkout {before.commit_of(path)} -- {path}) and say what is wrong in a new correction entry",
            )


def _kind(match: re.Match[str]) -> str:
    inside_a_run = match.lastgroup == "run" and not match["run"].endswith("/run.yaml")
    return "file of a run" if inside_a_run else match.lastgroup or "document"


def _is_pinned(path: str, view: View) -> bool:
    name = path.rpartition("/")[2].rpartition(".")[0]
    return any(
        reference.kind == "capture/v1"
        and reference.digest is not None
        and reference.name.rpartition("/")[2] == name
        for item in view.repo.items
        for reference in references(item)
    )


RULE = Rule(
    "frozen-document-changed", Scope.CHANGE, Severity.ERROR, "a committed entry, run or capture was altered", check,
    contract=("1.4", "8.1"), suppressible=False,
)  # fmt: skip
