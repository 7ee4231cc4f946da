"""What a checkpoint would do: the files it takes, those it leaves, and every reason not to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

CLASSES = ("policy", "harness", "fix", "evidence", "speculative", "failed")
"""What a commit may say that it is (contract 12.3)."""
TRAILER = "Hio-Class"


class NotNow(Exception):
    """A checkpoint cannot be made, or not wholly, in this state of the repository; the message is one sentence."""


class CannotTell(NotNow):
    """What has to be known first cannot be found out; the message is one sentence."""


class Misnamed(Exception):
    """A named path that leads nowhere; the message is one sentence."""


class Change(NamedTuple):
    """One file of the commit."""

    path: str
    what: str
    """added, changed, mode changed or deleted"""
    id: str
    """Object id of the new content; zeros where it is deleted."""
    size: int = 0
    """Bytes."""


class Refusal(NamedTuple):
    """One file that must not be committed or pushed as it is, and why."""

    path: str
    reason: str
    help: str = ""


@dataclass(frozen=True)
class Target:
    """Where a checkpoint is pushed, and what is there now."""

    remote: str
    url: str
    ref: str
    before: str | None
    """The commit there; None where the branch does not exist yet."""
    earlier: tuple[str, ...] = ()
    """Commits made before this one that would go along: short id and subject."""


@dataclass(frozen=True)
class Plan:
    """A checkpoint, thought through. It may be carried out where nothing is refused."""

    branch: str
    base: str
    """The commit that it follows."""
    class_: str
    message: str
    tree: str
    """What the commit will hold, as git names it."""
    changes: tuple[Change, ...]
    left: tuple[tuple[str, str], ...] = ()
    """(path, how it differs from the last commit) of what nobody named"""
    unchanged: tuple[str, ...] = ()
    """Named, and as they were committed."""
    refusals: tuple[Refusal, ...] = ()
    checked: tuple[str, ...] = ()
    """What was looked at, in words."""
    target: Target | None = None

    @property
    def has_work(self) -> bool:
        """Whether anything is to be committed or pushed."""
        return bool(self.changes) or (self.target is not None and self.target.before != self.base)


@dataclass(frozen=True)
class Outcome:
    """What was done of a plan."""

    commit: str | None = None
    """The new commit."""
    pushed: str | None = None
    """The commit that was pushed."""
    there: str | None = None
    """The commit that the remote names afterwards."""
    failed: str = field(default="")
    """Why it stopped, in one sentence."""

    @property
    def is_whole(self) -> bool:
        return not self.failed and self.pushed == self.there
