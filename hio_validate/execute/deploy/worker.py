"""Carries out one deployment or rollback: a process of one thread in a session of its own.

    python -m hio_validate.execute.deploy.worker FOLDER
"""  # fmt: skip

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from pathlib import Path

from hio_validate.execute.deploy.parts import real_parts
from hio_validate.execute.deploy.transaction import Parts, Transaction, identity_of_this_process


def main(arguments: Sequence[str], parts: Parts | None = None) -> int:
    """`FOLDER`: from the first step to the last."""
    parser = argparse.ArgumentParser(prog="worker")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    transaction = Transaction(folder, parts or real_parts())
    transaction.journal.write("started", worker=identity_of_this_process())
    return 0 if transaction.run() else 1


if __name__ == "__main__":
    import sys  # only where this module is the program

    raise SystemExit(main(sys.argv[1:]))
