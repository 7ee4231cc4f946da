"""Outlives the worker of one deployment: when that dies, what is proven is finished and all else is taken back.

    python -m hio_validate.execute.deploy.guardian FOLDER --lock FD
"""  # fmt: skip

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.parts import real_parts
from hio_validate.execute.deploy.transaction import Parts, Transaction, identity_of_this_process
from hio_validate.execute.journal import Journal

MODULE = "hio_validate.execute.deploy.guardian"
WORKER = ("hio_validate.execute.deploy.worker",)
GRACE_S = 600.0
"""What stopping, proving and recording may take, beside the start of the new service and of the old one."""
GAVE_UP = 1
"""Exit code of a worker that did all it could and said why it leaves the deployment open."""


def main(arguments: Sequence[str], parts: Parts | None = None, worker: Sequence[str] = WORKER) -> int:
    """`FOLDER --lock FD`: have the deployment in FOLDER carried out. `worker` is the module that is started."""
    parser = argparse.ArgumentParser(prog="guardian")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lock", type=int, required=True)
    given = parser.parse_args(arguments)
    folder: Path = given.folder
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(given.lock, False)
    Journal(folder).write("guarded", guardian=identity_of_this_process())
    code = _outlived(folder, worker)
    if Deployment(folder).has("closed"):
        return 0
    if code == GAVE_UP:
        return 1
    said = (
        f"its worker was ended by {signal.Signals(-code).name}"
        if code < 0
        else f"its worker ended with {code}"
    )
    return 0 if Transaction(folder, parts or real_parts()).conclude(said) else 1


def _outlived(folder: Path, worker: Sequence[str]) -> int:
    """Start the worker and wait for it; one that hangs is ended."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", *worker, str(folder)], stdin=subprocess.DEVNULL, start_new_session=True
    )
    pin = os.pidfd_open(child.pid)
    if not select.select([pin], [], [], 2 * Deployment(folder).work.start_s + GRACE_S)[0]:
        child.kill()
    os.close(pin)
    return child.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
