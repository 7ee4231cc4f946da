"""The tree that the next commit would hold, built beside the repository's own index and objects.

Invariant: until the plan is carried out nothing enters the repository, so that a refused secret is not even an
unreachable object.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hio_validate.checkpoint.plan import Change
from hio_validate.checkpoint.standing import Standing
from hio_validate.history import git

_WHAT = {"A": "added", "D": "deleted", "T": "changed", "M": "changed"}


@dataclass(frozen=True)
class Staged:
    """An index of its own that holds the last commit and the taken files."""

    top: Path
    base: str
    tree: str
    environment: Mapping[str, str]

    def changes(self) -> list[Change]:
        """What it changes against the last commit, in path order."""
        listed = git(
            self.top, "diff-tree", "-r", "-z", "--raw", "--no-renames", self.base, self.tree, more=self.environment
        ).split(b"\0")  # fmt: skip
        found = []
        for meta, path in zip(listed[:-1:2], listed[1::2], strict=True):
            old_mode, new_mode, old, new, status = meta.removeprefix(b":").decode().split()
            what = _WHAT[status] if old != new or old_mode == new_mode else "mode changed"
            found.append(Change(os.fsdecode(path), what, new))
        return found

    def contents(self, changes: Sequence[Change]) -> dict[str, bytes]:
        """The new bytes of every file that is not deleted."""
        kept = [change for change in changes if change.what != "deleted"]
        blobs = read_blobs(self.top, [change.id for change in kept], self.environment)
        return {change.path: blobs[change.id] for change in kept}


def read_blobs(
    top: Path, ids: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """The bytes of some objects, by id."""
    wanted = list(dict.fromkeys(ids))
    out = git(
        top, "cat-file", "--batch", stdin="".join(f"{id_}\n" for id_ in wanted).encode(), more=environment
    )
    found, position = {}, 0
    for id_ in wanted:
        end = out.index(b"\n", position)
        size = int(out[position:end].split()[2])
        found[id_] = out[end + 1 : end + 1 + size]
        position = end + 1 + size + 1
    return found


@contextmanager
def beside(standing: Standing, paths: Sequence[str]) -> Iterator[Staged]:
    """The tree with these files, its new objects in a folder that is gone afterwards. Raises GitError."""
    folder = Path(tempfile.mkdtemp(prefix="hio-checkpoint-", dir=standing.git_dir))
    try:
        objects = folder / "objects"
        (objects / "info").mkdir(parents=True)
        own = os.path.join(
            standing.top, os.fsdecode(git(standing.top, "rev-parse", "--git-path", "objects")[:-1])
        )
        (objects / "info/alternates").write_bytes(os.fsencode(own) + b"\n")
        environment = {"GIT_INDEX_FILE": str(folder / "index"), "GIT_OBJECT_DIRECTORY": str(objects)}
        yield Staged(standing.top, standing.base, _write(standing, paths, environment), environment)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def for_commit(standing: Standing, paths: Sequence[str]) -> Iterator[Staged]:
    """The same tree, its objects in the repository and its index where hooks expect the one of a commit."""
    handle, name = tempfile.mkstemp(prefix="next-index-hio-", dir=standing.git_dir)
    os.close(handle)
    environment = {"GIT_INDEX_FILE": name}
    try:
        yield Staged(standing.top, standing.base, _write(standing, paths, environment), environment)
    finally:
        for left in (name, f"{name}.lock"):
            Path(left).unlink(missing_ok=True)


def _write(standing: Standing, paths: Sequence[str], environment: Mapping[str, str]) -> str:
    """Fill an index with the last commit and these files as they are on disk; the id of its tree."""
    index = Path(environment["GIT_INDEX_FILE"])
    own = standing.git_dir / "index"
    if own.exists():
        # With what is known of the files on disk, so that nobody has to read all of them again; and with its time,
        # by which git tells a file that was changed in the same moment from one that was not.
        shutil.copy2(own, index)
    else:
        index.unlink(missing_ok=True)
    git(standing.top, "read-tree", "--reset", standing.base, more=environment)
    named = b"".join(os.fsencode(path) + b"\0" for path in paths)
    git(
        standing.top,
        "update-index",
        "--add",
        "--remove",
        "--replace",
        "-z",
        "--stdin",
        stdin=named,
        more=environment,
    )
    return git(standing.top, "write-tree", more=environment).decode().strip()
