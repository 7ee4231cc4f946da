"""The work tree, the index and a revision as trees of files.

Invariants: of what a hook exports only its index is heeded, where it is this repository's; a symbolic link is
read nowhere, so that all trees say the same.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence, Set
from functools import cached_property
from hashlib import sha1, sha256
from pathlib import Path

from hio_validate.history.git import GitError, Unlistable, blobs, git, path_of
from hio_validate.places import ENDINGS, ROOMS


class Folder:
    """Files of a plain folder, without git."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _paths(self) -> list[str]:
        found = []
        for room in ROOMS:
            for folder, folders, files in os.walk(self.root / room, onerror=_unlistable):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                found += [Path(folder, name).relative_to(self.root).as_posix() for name in sorted(files)]
        return found

    def paths(self) -> Sequence[str]:
        return self._paths

    def read(self, path: str) -> bytes:
        return _read(self.root, path)


def _unlistable(error: OSError) -> None:
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        raise Unlistable(f"{error.filename} cannot be listed: {error.strerror}") from None


class WorkTree:
    """Tracked files and untracked ones that are not ignored, as they are on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _paths(self) -> list[str]:
        listed = git(self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *ROOMS)
        paths = {os.fsdecode(path) for path in listed.split(b"\0") if path}
        return sorted(path for path in paths if _stands_there(os.path.join(self.root, path)))

    def paths(self) -> Sequence[str]:
        return self._paths

    def read(self, path: str) -> bytes:
        return _read(self.root, path)


def _stands_there(path: str) -> bool:
    """Whether a listed path is on disk and no folder; what may not be looked at counts, and reading says why."""
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _read(root: Path, path: str) -> bytes:
    full = os.path.join(root, path)
    status = os.lstat(full)
    if stat.S_ISLNK(status.st_mode):
        raise _a_link(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "no regular file", path)
    # Imported late: who asks git alone does not wait for the reader of documents.
    from hio_validate.source import LARGEST_DOCUMENT

    with open(full, "rb", buffering=0) as file:
        # A document beyond its size is refused, so it need not be in memory whole.
        is_beyond = status.st_size > LARGEST_DOCUMENT and path.endswith(ENDINGS)
        return file.read(LARGEST_DOCUMENT + 1) if is_beyond else file.readall()


def _a_link(path: str) -> OSError:
    return OSError(errno.ELOOP, "a symbolic link; put the file itself here", path)


class Objects:
    """Files by their git object id: the index or a revision.

    `links` are symbolic links, whose object is only the path they lead to.
    """

    def __init__(self, root: Path, ids: dict[str, str], links: frozenset[str] = frozenset()) -> None:
        self.root, self.ids, self.links = root, ids, links
        self._read: dict[str, bytes] = {}

    def among(self, paths: Set[str]) -> Objects:
        """The same tree as if it had these paths only."""
        return Objects(self.root, {path: id_ for path, id_ in self.ids.items() if path in paths}, self.links)

    def paths(self) -> Sequence[str]:
        return list(self.ids)

    def read(self, path: str) -> bytes:
        if path not in self.ids:
            raise FileNotFoundError(errno.ENOENT, "not in this tree", path)
        if path in self.links:
            raise _a_link(path)
        if path not in self._read:
            self._read_all()
        return self._read[path]

    def _read_all(self) -> None:
        """All blobs in one `git cat-file --batch`."""
        for (path, id_), raw in zip(self.ids.items(), blobs(self.root, list(self.ids.values())), strict=True):
            if raw is None:
                raise GitError(f"git has no object for {path}: {id_} missing")
            self._read[path] = raw

    def same(self, path: str, raw: bytes) -> bool:
        """Whether the file has exactly these bytes here."""
        id_ = self.ids.get(path, "")
        digest = sha1 if len(id_) == 40 else sha256
        return digest(b"blob %d\0" % len(raw) + raw).hexdigest() == id_

    def commit_of(self, path: str) -> str:
        """Where a file is restored from, as far as a tree of unknown name can say."""
        return "HEAD"


def _objects(root: Path, entries: Sequence[tuple[bytes, bytes, bytes]]) -> Objects:
    """Files from (mode, object id, path); a submodule is another repository and left out."""
    files = [(mode, id_.decode(), os.fsdecode(path)) for mode, id_, path in entries if mode != b"160000"]
    links = frozenset(path for mode, _, path in files if mode == b"120000")
    return Objects(root, {path: id_ for _, id_, path in files}, links)


def index_of(root: Path) -> Objects:
    """The index: what the next commit will hold. Raises GitError, also where a merge is not resolved."""
    listed = git(root, "ls-files", "-z", "--stage", "--", *ROOMS, more=_index_of_hook(root))
    entries = []
    for line in listed.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, id_, stage = meta.split()
        if stage != b"0":
            raise GitError(f"{os.fsdecode(path)} has a merge conflict; resolve it first")
        entries.append((mode, id_, path))
    return _objects(root, entries)


def _index_of_hook(root: Path) -> dict[str, str]:
    """The index that a hook names: `git commit -a` and `git commit PATH` put theirs beside the usual one.

    A relative path counts from the top of the work tree, as git counts it. One that belongs to another
    repository (a hook there that judges this one) is not heeded.
    """
    named = os.environ.get("GIT_INDEX_FILE")
    if not named:
        return {}
    top = path_of(git(root, "rev-parse", "--show-toplevel"))
    file = os.path.realpath(os.path.join(top, named))
    own = os.path.realpath(path_of(git(root, "rev-parse", "--absolute-git-dir")))
    return {"GIT_INDEX_FILE": file} if os.path.dirname(file) == own and os.path.exists(file) else {}


def revision(root: Path, name: str = "HEAD") -> Objects | None:
    """The files of a revision; None where HEAD has no commit yet. Raises GitError."""
    try:
        listed = git(root, "ls-tree", "-r", "-z", f"{name}^{{commit}}", "--", *ROOMS)
    except GitError as error:
        if has_commit(root, name):
            raise error
        if name == "HEAD" and unborn(root):
            return None
        raise GitError(f"{name} is no commit of this repository") from None
    entries = []
    for line in listed.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, _, id_ = meta.split()
        entries.append((mode, id_, path))
    return _objects(root, entries)


def has_commit(root: Path, name: str) -> bool:
    """Whether a name or id leads to a commit that is here."""
    try:
        git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except GitError:
        return False
    return True


def unborn(root: Path) -> bool:
    """Whether HEAD names a branch that has no commit yet; a damaged branch or commit is not unborn."""
    try:
        git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        branch = git(root, "symbolic-ref", "HEAD").removesuffix(b"\n").decode()
        return not (root / path_of(git(root, "rev-parse", "--git-path", branch))).exists()
    return False


def changed_in_index(root: Path, base: str = "HEAD") -> list[str]:
    """Files of the rooms that differ between the index and a commit: what the next commit would change."""
    if revision(root, base) is None:
        return list(index_of(root).ids)
    listed = git(
        root, "diff-index", "--cached", "--relative", "--name-only", "-z", "--no-renames", base, "--", *ROOMS,
        more=_index_of_hook(root),
    )  # fmt: skip
    return [os.fsdecode(path) for path in listed.split(b"\0") if path]


def commit_of(root: Path, name: str) -> str:
    """Full id of the commit that a name means. Raises GitError."""
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except GitError:
        raise GitError(f"{name} is no commit of this repository") from None


def parted_at(root: Path, base: str, head: str) -> str:
    """Full id of the commit where `head` left `base`: `base` itself where it is an ancestor. Raises GitError."""
    ids = commit_of(root, base), commit_of(root, head)
    try:
        return git(root, "merge-base", *ids).decode().split()[0]
    except GitError:
        if git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
            raise GitError(
                f"this clone is shallow, so it is not known where {head} left {base}; "
                "fetch the whole history (git fetch --unshallow)"
            ) from None
        raise GitError(f"{base} and {head} share no commit, so there is nothing to compare") from None
