"""Guardian, worker and hio with a death at a chosen event, and a quicker look at free ports.

    python -m tests.execute.deploy.little guardian|worker|hio …

$LITTLE_KILL: `ROLE before|after EVENT`, separated by commas: the process of that role is killed with SIGKILL just before
or after it writes that event. $LITTLE_EDIT: `EVENT PROGRAM`: after that event a Python program is run.
"""  # fmt: skip

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from hio_validate import cli
from hio_validate.execute import launch, service
from hio_validate.execute.deploy import guardian, worker
from hio_validate.execute.journal import Journal

MODULE = "tests.execute.deploy.little"
GUARDIAN = (MODULE, "guardian")


def dying(role: str) -> Callable[..., None]:
    """Journal.write, with the deaths of a role."""
    write = Journal.write
    deaths = [each.split() for each in os.environ.get("LITTLE_KILL", "").split(",") if each]
    edit, _, program = os.environ.get("LITTLE_EDIT", "").partition(" ")

    def wrapped(self: Journal, event: str, **data: Any) -> None:
        if [role, "before", event] in deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, event, **data)
        if event == edit:
            subprocess.run([sys.executable, "-c", program], check=True)
        if [role, "after", event] in deaths:
            os.kill(os.getpid(), signal.SIGKILL)

    return wrapped


def main(words: list[str]) -> int:
    role, rest = words[0], words[1:]
    Journal.write = dying(role)  # type: ignore[method-assign]
    service._SETTLE_S = 0.1
    if role == "hio":
        sys.argv[1:] = rest
        launch.GUARDIAN = GUARDIAN  # type: ignore[assignment]
        return cli.run()
    if role == "worker":
        return worker.main(rest)
    return guardian.main(rest, None, (MODULE, "worker"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
