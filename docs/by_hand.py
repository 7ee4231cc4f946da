"""What a person has done before and during the demo of deployments: start a service by hand, break one.

    python docs/by_hand.py start REPO SERVICE STACK      starts a stack and prints its process id
    python docs/by_hand.py kill STATE SERVICE            kill -9 of a service that hio keeps, and of its keeper
    python docs/by_hand.py stand-in FOLDER               FOLDER/repo for a machine where no engine was built

The stand-in is a small HTTP server (tests/execute/llama_like.py): llama-server's flags and endpoints, words for tokens,
and no engine. Its repository has the stacks `base`, which is started and recorded as baseline, and `renamed`.
"""  # fmt: skip

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from signal import SIGKILL

sys.path.insert(0, str(Path(__file__).parents[1]))

from hio_validate.execute.arms import Host, command
from hio_validate.execute.backends.local import Local
from hio_validate.execute.owned import send, wait_for_end
from hio_validate.history import Folder
from hio_validate.observe.endpoints import Server, get
from hio_validate.observe.sockets import listening
from hio_validate.repo import load
from tests.execute.experiment import ROOM, SERVICE, yaml
from tests.execute.place import place, stack_of

_READY_S = 60


def start(root: Path, service: str, stack: str) -> int:
    """The process of a stack, once it answers; it outlives this one."""
    repo = load(Folder(root))
    site, _, model = service.partition("/")
    there = repo.find("site/v1", site).model
    host = Host(there, there.services[model], there.services[model].port)
    served = repo.find("stack/v1", stack, service).model
    made = command(served, next(iter(served.processes)), host, stack)
    process = subprocess.Popen(
        made.argv, env=dict(made.environment), cwd=made.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + _READY_S
    while not (found := listening(host.port)) or get(Server.behind(found[0]), "/health").status != 200:
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"{stack} does not start")
        time.sleep(0.1)
    process.returncode = 0  # it stays
    return process.pid


def kill(state: Path, service: str) -> None:
    """As a crash, a hasty hand or the kernel out of memory does it."""
    kept = Local(state / "services" / service)
    for who in (kept.keeper(), kept.main()):
        if who is not None:
            send(who, SIGKILL)
            wait_for_end(who, 10)


def stand_in(folder: Path) -> int:
    """The repository, with what serves recorded; the process that serves."""
    folder.mkdir(parents=True)
    at = place(folder)
    base = stack_of()
    server = base["processes"]["server"]
    renamed = {**server, "argv": [*server["argv"], ["--alias", "renamed"]]}
    document = {**base, "name": "renamed", "processes": {"server": renamed}}
    (at.root / f"{ROOM}/stacks/renamed.yaml").write_text(yaml(document))
    pid = start(at.root, SERVICE, "base")
    at.record(pid)
    return pid


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["start", root, service, stack]:
            print(start(Path(root), service, stack))
        case ["kill", state, service]:
            kill(Path(state), service)
        case ["stand-in", folder]:
            print(stand_in(Path(folder)))
        case _:
            raise SystemExit(__doc__)
