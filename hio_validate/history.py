"""What git holds: the work tree, the index and a revision as trees of files. The only caller of git.

Invariants: every GIT_* variable that a hook exports is scrubbed, and only its index is heeded, where it is
this repository's; nothing is fetched; a git call that fails is an error and never an empty list; a symbolic
link is read nowhere, so that all trees say the same. A `git` subprocess costs about a millisecond, a git
library eighty.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from hashlib import sha1, sha256
from pathlib import Path

from hio_validate.repo import ENDINGS, ROOMS
from hio_validate.source import LARGEST_DOCUMENT


class Unlistable(Exception):
    """The files of a tree cannot be listed; the message says why."""


class GitError(Unlistable):
    """git could not say what was asked; the message is its own, shortened."""

    said = ""
    """All that it printed."""


_ABOUT_CONFIGURATION = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_GLOBAL",
                        "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")  # fmt: skip
"""Where a person keeps settings such as safe.directory; no hook exports these."""


def git(
    root: Path, *arguments: str, stdin: bytes | None = None, more: Mapping[str, str] | None = None
) -> bytes:
    """The standard output of one git command in `root`. Raises GitError."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_ABOUT_CONFIGURATION)
    }
    environment |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
        **(more or {}),
    }
    command = ["git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, input=stdin, capture_output=True, check=False
        )
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode:
        failed = GitError(said[0] if said else f"git {arguments[0]} failed with exit code {done.returncode}")
        failed.said = (done.stdout + done.stderr).decode(errors="replace")
        raise failed
    # git lists what it can, warns of the rest, and exits 0.
    unopened = next((line for line in said if "could not open directory" in line), None)
    if unopened:
        raise GitError(unopened)
    return done.stdout


def top_of(folder: Path) -> Path | None:
    """The work tree around a folder, None where there is none. Raises GitError where git refuses to look."""
    try:
        return _path(git(folder, "rev-parse", "--show-toplevel"))
    except GitError as error:
        if "not a git repository (or any" in str(error) or "must be run in a work tree" in str(error):
            return None
        raise


def _path(line: bytes) -> Path:
    return Path(os.fsdecode(line.removesuffix(b"\n")))


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
        wanted = "".join(f"{id_}\n" for id_ in self.ids.values()).encode()
        out = git(self.root, "cat-file", "--batch", stdin=wanted)
        position = 0
        for path in self.ids:
            header_end = out.index(b"\n", position)
            header = out[position:header_end].split()
            if len(header) != 3:
                raise GitError(f"git has no object for {path}: {out[position:header_end].decode()}")
            size = int(header[2])
            self._read[path] = out[header_end + 1 : header_end + 1 + size]
            position = header_end + 1 + size + 1

    def same(self, path: str, raw: bytes) -> bool:
        """Whether the file has exactly these bytes here."""
        id_ = self.ids.get(path, "")
        digest = sha1 if len(id_) == 40 else sha256
        return digest(b"blob %d\0" % len(raw) + raw).hexdigest() == id_


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
    top = _path(git(root, "rev-parse", "--show-toplevel"))
    file = os.path.realpath(os.path.join(top, named))
    own = os.path.realpath(_path(git(root, "rev-parse", "--absolute-git-dir")))
    return {"GIT_INDEX_FILE": file} if os.path.dirname(file) == own and os.path.exists(file) else {}


def revision(root: Path, name: str = "HEAD") -> Objects | None:
    """The files of a revision; None where HEAD has no commit yet. Raises GitError."""
    try:
        listed = git(root, "ls-tree", "-r", "-z", f"{name}^{{commit}}", "--", *ROOMS)
    except GitError as error:
        if has_commit(root, name):
            raise error
        if name == "HEAD" and _unborn(root):
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


def _unborn(root: Path) -> bool:
    """Whether HEAD names a branch that has no commit yet; a damaged branch or commit is not unborn."""
    try:
        git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        branch = git(root, "symbolic-ref", "HEAD").removesuffix(b"\n").decode()
        return not (root / _path(git(root, "rev-parse", "--git-path", branch))).exists()
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
