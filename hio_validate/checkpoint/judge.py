"""Judges the tree that would be committed: `hio validate` on it, and `git diff --check` (contract 12.6)."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hio_validate import focused, parents
from hio_validate.checkpoint.plan import Refusal
from hio_validate.checkpoint.tree import Staged
from hio_validate.diagnostic import Diagnostic, Report, Severity
from hio_validate.history import GitError, Objects, git
from hio_validate.repo import ENDINGS, ROOMS


class Next(NamedTuple):
    """The last commit's files with some of them replaced; None is a deleted one."""

    base: Objects
    replaced: Mapping[str, bytes | None]

    def paths(self) -> list[str]:
        known = dict.fromkeys((*self.base.paths(), *self.replaced))
        return [path for path in known if self.replaced.get(path, b"") is not None]

    def read(self, path: str) -> bytes:
        if path not in self.replaced:
            return self.base.read(path)
        raw = self.replaced[path]
        if raw is None:
            raise FileNotFoundError(errno.ENOENT, "not in this tree", path)
        return raw


def documents(root: Path, top: Path, contents: Mapping[str, bytes | None]) -> tuple[list[Refusal], str]:
    """What `hio validate` finds wrong in the rooms of `root`, and in words what was judged."""
    prefix = os.path.relpath(root, top) + "/" if root != top else ""
    inside = {path.removeprefix(prefix): raw for path, raw in contents.items() if path.startswith(prefix)}
    files = {
        path: raw for path, raw in inside.items() if path.startswith(tuple(f"{room}/" for room in ROOMS))
    }
    before = parents.of_revision(root)
    if not files or before is None:
        return [], "no document of the rooms among them"
    report = focused.judge(Next(before.trees[0][1], files), before, set(files))
    refused = [_refusal(prefix, found) for found in report.diagnostics if _blocks(found)]
    refused += [Refusal(each, "cannot be read, so it cannot be judged") for each in report.unreadable]
    return refused, _in_words(report)


def _blocks(found: Diagnostic) -> bool:
    return found.severity is Severity.ERROR or found.rule == "internal-error"


def _refusal(prefix: str, found: Diagnostic) -> Refusal:
    return Refusal(f"{prefix}{found.location}", f"{found.message} [{found.rule}]", found.help)


def _in_words(report: Report) -> str:
    return f"hio validate judged {report.documents} documents with {report.rules} rules"


def whitespace(staged: Staged, paths: Sequence[str]) -> list[Refusal]:
    """What `git diff --check` finds: trailing space, conflict markers. Raw evidence is bytes and left alone."""
    asked = [
        path
        for path in paths
        if not path.startswith(tuple(f"{room}/" for room in ROOMS)) or path.endswith(ENDINGS)
    ]
    if not asked:
        return []
    try:
        git(staged.top, "--literal-pathspecs", "diff", "--no-ext-diff", "--no-color", "--check", "--cached", staged.base,
            "--", *asked, more=staged.environment)  # fmt: skip
    except GitError as error:
        found = [line for line in error.said.splitlines() if line[:1] not in "+-"]
        if not found:
            raise
        return [_as_refusal(line) for line in found]
    return []


def _as_refusal(line: str) -> Refusal:
    place, _, what = line.rpartition(": ")
    return Refusal(
        place,
        f"git diff --check: {what.rstrip('.')}",
        "mend the line, or say -whitespace for it in .gitattributes",
    )
