"""Where a checkpoint may go, what is there, and the push itself: fast-forward only, compared afterwards.

Invariant: only a remote whose push address stands in the committed allow-list is ever spoken to.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from hio_validate import history
from hio_validate.checkpoint.plan import CannotTell, NotNow, Target
from hio_validate.checkpoint.standing import Standing, as_a_person
from hio_validate.history import GitError, git

ALLOWED = ".hio/remotes"
"""One address a line, as `git remote get-url --push` prints it; read from the last commit, so that every change of
it stands in history."""


class NotPushed(Exception):
    """The remote did not take it; the message is one sentence."""


def target(standing: Standing, remote: str | None) -> Target:
    """Where this branch would be pushed. Raises NotNow where it may not or could not be."""
    name = remote or _default(standing)
    url = _address(standing.top, name)
    if url not in _allowed(standing):
        raise NotNow(
            f"{shown(url)} ({name}) is not on the allow-list; add it to {ALLOWED} in a reviewed commit first"
        )
    ref = f"refs/heads/{standing.branch}"
    try:
        there = id_there(standing.top, url, ref)
    except NotPushed as error:
        raise CannotTell(str(error)) from None
    if there is not None and not _follows(standing, there):
        raise NotNow(
            f"{name} has commits on {standing.branch} that are not here; git fetch {name} and rebase or merge them first"
        )
    return Target(name, url, ref, there, _earlier(standing, name, there))


def push(top: Path, target: Target, commit: str) -> str | None:
    """Push one commit and ask what the remote has now. Raises NotPushed."""
    try:
        git(top, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", target.remote,
            f"{commit}:{target.ref}", more=as_a_person())  # fmt: skip
    except GitError as error:
        raise NotPushed(_why(target.remote, error)) from None
    return id_there(top, target.url, target.ref)


def id_there(top: Path, url: str, ref: str) -> str | None:
    """The commit that a branch of a remote names; None where it has no such branch. Raises NotPushed."""
    try:
        listed = os.fsdecode(git(top, "ls-remote", url, ref, more=as_a_person()))
    except GitError as error:
        raise NotPushed(_why(shown(url), error)) from None
    # git lists every ref that ends so.
    found = (line.partition("\t") for line in listed.splitlines())
    return next((id_ for id_, _, name in found if name == ref), None)


def shown(url: str) -> str:
    """An address without the name and password that http(s) ones may hold."""
    return re.sub(r"^(https?://)[^/@]*@", r"\1", url)


def _default(standing: Standing) -> str:
    for setting in (
        f"branch.{standing.branch}.pushRemote",
        "remote.pushDefault",
        f"branch.{standing.branch}.remote",
    ):
        try:
            return git(standing.top, "config", "--get", setting).decode().strip()
        except GitError:
            continue
    return "origin"


def _address(top: Path, name: str) -> str:
    try:
        urls = os.fsdecode(git(top, "remote", "get-url", "--push", "--all", "--", name)).splitlines()
    except GitError:
        raise NotNow(f"no remote is called {name}; git remote -v lists them") from None
    if len(urls) != 1:
        raise NotNow(
            f"{name} is pushed to {len(urls)} addresses; a checkpoint goes to one, so name another --remote"
        )
    return urls[0]


def _allowed(standing: Standing) -> set[str]:
    try:
        text = git(standing.top, "cat-file", "blob", f"{standing.base}:{ALLOWED}").decode(errors="replace")
    except GitError:
        raise NotNow(
            f"the last commit has no {ALLOWED}, the list of addresses that may be pushed to"
        ) from None
    lines = (line.strip() for line in text.split("\n"))
    return {line for line in lines if line and not line.startswith("#")}


def _follows(standing: Standing, there: str) -> bool:
    """Whether the last commit here has the one there among its ancestors."""
    if not history.has_commit(standing.top, there):
        return False
    try:
        git(standing.top, "merge-base", "--is-ancestor", there, standing.base)
    except GitError as error:
        if error.said:
            raise
        return False
    return True


def _earlier(standing: Standing, name: str, there: str | None) -> tuple[str, ...]:
    known = [f"^{there}"] if there else ["--not", f"--remotes={name}"]
    listed = git(standing.top, "log", "--format=%h %s", standing.base, *known)
    return tuple(listed.decode(errors="replace").splitlines())


def _why(remote: str, error: GitError) -> str:
    """One sentence out of all that git and the other side said."""
    lines = [line.strip() for line in error.said.splitlines()]
    refused = next((line.split("\t")[-1] for line in lines if line.startswith("!")), None)
    fatal = next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal:")), None)
    if refused is None and fatal is not None:
        return f"{remote} could not be reached: {fatal}"
    if refused is None:
        return f"git or a pre-push hook stopped the push: {' '.join(line for line in lines if line)}"
    if "fetch first" in refused or "non-fast-forward" in refused:
        return f"{remote} moved meanwhile and was not overwritten; git fetch it and rebase or merge first"
    told = " ".join(line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:"))
    return f"{remote} refused the push: {refused}" + (f" (it says: {told})" if told else "")


def blobs_of_earlier(standing: Standing, target: Target) -> dict[str, tuple[str, int]]:
    """Object id -> (path, bytes) of every file that an earlier, unpushed commit added or changed."""
    if not target.earlier:
        return {}
    known = [f"^{target.before}"] if target.before else ["--not", f"--remotes={target.remote}"]
    listed = os.fsdecode(git(standing.top, "rev-list", "--objects", standing.base, *known)).splitlines()
    named = dict(line.partition(" ")[::2] for line in listed)
    sizes = git(standing.top, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)",
                stdin="".join(f"{id_}\n" for id_ in named).encode()).decode()  # fmt: skip
    found = (line.split() for line in sizes.splitlines())
    return {id_: (named[id_], int(size)) for id_, type_, size in found if type_ == "blob"}
