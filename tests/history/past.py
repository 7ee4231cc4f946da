"""Histories for tests: commits with any tree and any parents, written by one `git fast-import`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hio_validate.history.audit import Asked
from hio_validate.history.git import git as careful_git
from tests.small_repo import ROOM, SERVICE, pin, stack

YEAR = f"ledger/{SERVICE}/2026"


class File(NamedTuple):
    """A file of a commit; a submodule's content is a commit id."""

    content: bytes
    mode: str = "100644"


Files = Mapping[str, str | bytes | File | None]
"""Path -> content; None takes the file away."""


@dataclass
class Past:
    """Commits by their mark; what a commit does not name, it has from its first parent."""

    root: Path
    branch: str = "main"
    ids_are: str = "sha1"
    _trees: dict[int, dict[str, File]] = field(default_factory=dict)
    _stream: list[bytes] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    afterwards: list[Callable[[], object]] = field(default_factory=list)
    """What is done to the repository once it is written."""
    asked: Asked = Asked()  # noqa: RUF009

    def commit(self, files: Files, *parents: int, tree: Mapping[str, File] | None = None, at: int = 0) -> int:
        """A commit after the given ones (after the last one where none is given; -1: after none)."""
        mark = len(self._trees) + 1
        after = [each for each in parents or ([mark - 1] if mark > 1 else []) if each > 0]
        new = dict(tree if tree is not None else self._trees[after[0]] if after else {})
        for path, content in files.items():
            if content is None:
                del new[path]
            else:
                raw = content.encode() if isinstance(content, str) else content
                new[path] = raw if isinstance(raw, File) else File(raw)
        self._trees[mark] = new
        self._stream.append(self._written(mark, after, at or 1_800_000_000 + mark))
        return mark

    def merge(self, files: Files, *parents: int) -> int:
        """An honest merge, with these files changed on top: whatever any parent has; the first one's where they differ."""
        together: dict[str, File] = {}
        for parent in reversed(parents):
            together |= self._trees[parent]
        return self.commit(files, *parents, tree=together)

    def tree(self, mark: int) -> dict[str, File]:
        return self._trees[mark]

    def _written(self, mark: int, parents: Sequence[int], at: int) -> bytes:
        lines = [
            f"commit refs/heads/{self.branch}",
            f"mark :{mark}",
            f"committer Ada <ada@example.org> {at} +0000",
        ]
        lines += ["data 0", *(f"from :{parent}" for parent in parents[:1])]
        lines += [f"merge :{parent}" for parent in parents[1:]]
        pieces = ["\n".join(lines).encode(), b"\ndeleteall\n"]
        if not parents:
            pieces = [f"reset refs/heads/{self.branch}\n".encode(), *pieces]
        for path, (content, mode) in self._trees[mark].items():
            name = (
                b'"'
                + path.encode(errors="surrogateescape")
                .replace(b"\\", b"\\\\")
                .replace(b'"', b'\\"')
                .replace(b"\n", b"\\n")
                + b'"'
            )
            if mode == "160000":
                pieces.append(b"M 160000 %s %s\n" % (content, name))
            else:
                pieces.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(content), content))
        return b"".join(pieces)

    def write(self, tip: int | None = None) -> Path:
        """Make the repository, checked out at a commit (the last one)."""
        self.root.mkdir(parents=True, exist_ok=True)
        careful_git(self.root, "init", "-q", "-b", self.branch, f"--object-format={self.ids_are}")
        marks = self.root / ".git/marks"
        careful_git(
            self.root,
            "fast-import",
            "--quiet",
            "--force",
            f"--export-marks={marks}",
            stdin=b"".join(self._stream),
        )
        self.ids = {int(mark[1:]): id_ for mark, id_ in map(str.split, marks.read_text().splitlines())}
        careful_git(self.root, "reset", "-q", "--hard", self.ids[tip or len(self._trees)])
        for act in self.afterwards:
            act()
        return self.root

    def git(self, *words: str, stdin: str = "") -> str:
        """What git answers here; ids are given by mark, as `:1`."""
        named = [self.ids[int(word[1:])] if re.fullmatch(r":\d+", word) else word for word in words]
        return careful_git(self.root, *named, stdin=stdin.encode()).decode().strip()


def run_git(
    root: Path, *words: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """git as a person calls it."""
    return subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, text=True, check=False)


def entry(
    id_: str, *after: tuple[str, str], kind: str = "decision", more: str | None = None, service: str = SERVICE
) -> str:
    """An entry after others, each given by id and content."""
    body = "decision: keep-research\nfactor: server.threads\nnext: again\n" if more is None else more
    tips = ", ".join(f'"{pin(*each)}"' for each in after)
    return (
        f"hio: entry/v1\nid: {id_}\nservice: {service}\nafter: [{tips}]\nkind: {kind}\nby: ada\n"
        f'at: "2026-02-01T00:00:00Z"\n{body}'
    )


def at(id_: str, year: str = "2026") -> str:
    """The file of an entry."""
    return f"ledger/{SERVICE}/{year}/{id_}.yaml"


def pins(name: str, content: str | bytes, role: str = "stack") -> str:
    """The tail of a baseline that pins a document."""
    return f'pins: {{{role}: "{pin(name, content)}"}}\n'


STACKS = f"{ROOM}/stacks"
CAPTURES = f"{ROOM}/captures"
BASE = stack("base")
B0 = entry("b0", kind="baseline", more=pins("base", BASE))
D1 = entry("d1", ("b0", B0))
D2 = entry("d2", ("b0", B0))
BEGIN: dict[str, str | bytes | File | None] = {
    f"{STACKS}/base.yaml": BASE,
    f"{STACKS}/draft.yaml": stack("draft", 2),
    at("b0"): B0,
}
"""The first commit of most histories: a baseline that pins its stack, and a draft."""
