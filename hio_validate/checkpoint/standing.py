"""Where a repository stands: the branch, the last commit, who commits, and what differs from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from hio_validate import history
from hio_validate.checkpoint.plan import NotNow
from hio_validate.history import GitError, git

IN_PROGRESS = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or git am",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}
"""What git leaves in its folder -> what is going on."""
_OF_A_PERSON = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_SSH",
                "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_SSL_CAINFO",
                "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY")  # fmt: skip
"""Who somebody is and how they reach a remote; no hook exports where its own repository is by any of these."""


class Standing(NamedTuple):
    """A repository in which a commit can be made."""

    top: Path
    git_dir: Path
    branch: str
    base: str
    changes: dict[str, str]
    """Path -> the two letters of `git status`, index first."""


def as_a_person() -> dict[str, str]:
    """The environment of a commit or a push: the user's own identity, ssh, helpers and the usual protocols.

    Whether git may ask on the terminal is git's to find out.
    """
    return {
        **{name: os.environ[name] for name in _OF_A_PERSON if name in os.environ},
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_TERMINAL_PROMPT": "1",
    }


def look(top: Path) -> Standing:
    """Raises NotNow where no checkpoint can be made, GitError where git does not answer."""
    git_dir = Path(_line(git(top, "rev-parse", "--absolute-git-dir")))
    for name, what in IN_PROGRESS.items():
        if (git_dir / name).exists():
            raise NotNow(f"{what} is in progress; finish or abort it first (git status says how)")
    if (git_dir / "index.lock").exists():
        raise NotNow(f"another git process is at work here; if none is, remove {git_dir / 'index.lock'}")
    try:
        branch = _line(git(top, "symbolic-ref", "--quiet", "--short", "HEAD"))
    except GitError as error:
        if error.said:
            raise
        raise NotNow(
            "HEAD is detached, so a commit would belong to no branch; git switch to one first"
        ) from None
    if history.revision(top) is None:
        raise NotNow(f"{branch} has no commit yet; make its first one with git commit")
    _refuse_nobody(top)
    return Standing(top, git_dir, branch, _line(git(top, "rev-parse", "HEAD")), _changes(top))


def _line(out: bytes) -> str:
    return os.fsdecode(out.removesuffix(b"\n"))


def _refuse_nobody(top: Path) -> None:
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        try:
            git(top, "var", who, more=as_a_person())
        except GitError:
            raise NotNow(
                "git does not know who commits; set it: git config user.name NAME, git config user.email ADDRESS"
            ) from None


def _changes(top: Path) -> dict[str, str]:
    listed = git(
        top,
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=none",
    )
    changes: dict[str, str] = {}
    for entry in listed.split(b"\0")[:-1]:
        letters, path = entry[:2].decode(), os.fsdecode(entry[3:])
        # Deleted in the index and untracked on disk: git lists it twice.
        changes[path] = f"{changes[path][0]}?" if path in changes else letters
    return changes
