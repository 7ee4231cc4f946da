"""What starts and stops a service on this host, behind one small interface: hio's own keeper, or systemd.

Invariant: at no moment do two processes of one service run; who was started is on record before its program runs
(keeper), or is what the service manager names (systemd).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hio_validate.execute.owned import Identity

Announce = Callable[[Identity], None]


class CannotSwitch(Exception):
    """A service that could not be started or stopped; one sentence."""


class Backend(Protocol):
    """One service of one host."""

    name: str

    def main(self) -> Identity | None:
        """The process of the service that this backend keeps; None where it keeps none that lives."""
        ...

    def is_kept(self) -> bool:
        """Whether this backend would start the service again when it ends."""
        ...

    def start(self, announce: Announce, begun: Identity | None = None) -> Identity:
        """Start what is installed, unless it runs already; the service's process. Raises CannotSwitch.

        `announce` is told of every process that is started here, before its program runs; `begun` is one of whom an
        earlier, interrupted start told.
        """
        ...

    def stop(self, begun: Identity | None = None) -> None:
        """End the service, and what would start it again; nothing to do is no fault. Raises CannotSwitch."""
        ...
