"""What a target is: the files it has, what its templates know beside the launch, and who reads the files back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from hio_validate.render.launch import Launch
from hio_validate.render.way_back import Earlier


@dataclass(frozen=True)
class Asked:
    """What whoever asks for a rendering says beside the stack."""

    dialect: str | None = None
    root: PurePosixPath | None = None
    """Absolute folder of this service on the host, below which its files are installed."""
    units: PurePosixPath | None = None
    """Absolute folder of systemd's units; None: the one of the target."""


@dataclass(frozen=True)
class Draft:
    """A file to be rendered."""

    name: str
    template: str
    mode: int = 0o644
    install: PurePosixPath | None = None


@dataclass(frozen=True)
class WayBack:
    """How a target goes back to what its service had before."""

    plan: Draft
    page: Draft
    """For people."""
    steps: Callable[[Launch, Asked, Earlier | None], list[str]]
    checks: Callable[[Launch, Asked, Earlier | None], list[str]]


@dataclass(frozen=True)
class Target:
    """One consumer of a stack."""

    drafts: Callable[[Launch, Asked], tuple[Draft, ...]]
    """Raises CannotRender for what this target needs and a site does not say."""
    context: Callable[[Launch, Asked], dict[str, Any]]
    """What the templates of this target know beside what all know."""
    read_back: Callable[[Launch, Asked, Mapping[str, str]], dict[str, str]]
    """The texts by file name -> who read each back. Raises CannotRender where one says something else than the stack."""
    way_back: WayBack | None = None
    """For a target that a deployment switches to: how to go back."""


def nothing_more(launch: Launch, asked: Asked) -> dict[str, Any]:
    """The context of a target whose templates need no more than all have."""
    return {}


def below(root: PurePosixPath | None, name: str) -> PurePosixPath | None:
    """Where a file is installed, if its folder is known."""
    return root / name if root else None
