"""A repository whose service is a small HTTP server, for the demo where no engine was built: named as such, and no engine.

    python docs/stand_in.py FOLDER

Writes FOLDER/repo with the stacks `base` and `renamed`, starts `base` as a person would, records what runs as the baseline
of the ledger, and prints its process id. The server is tests/execute/llama_like.py: it has llama-server's flags and
endpoints, and its tokens are words.
"""  # fmt: skip

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hio_validate.observe.sockets import listening
from tests.execute.experiment import ROOM, yaml
from tests.execute.place import Place, place, stack_of


def started(at: Place) -> int:
    """The process of the stack `base`, once it listens."""
    command = at.command()
    process = subprocess.Popen(
        command.argv, env=dict(command.environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 20
    while not listening(at.port):
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit("the stand-in does not start")
        time.sleep(0.05)
    process.returncode = 0  # it stays
    return process.pid


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    at = place(folder)
    base = stack_of()
    server = base["processes"]["server"]
    renamed = {**server, "argv": [*server["argv"], ["--alias", "renamed"]]}
    (at.root / f"{ROOM}/stacks/renamed.yaml").write_text(
        yaml({**base, "name": "renamed", "processes": {"server": renamed}})
    )
    pid = started(at)
    at.record(pid)
    print(pid)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
