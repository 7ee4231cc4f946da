"""Guardian and supervisor with a small leg of their own: one engine, one request, and how long it stays.

python -m tests.execute.tiny guardian|supervisor|hio|client …
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from hio_validate import cli
from hio_validate.cli import run_plan
from hio_validate.execute import closing, guardian, launch, supervisor
from hio_validate.execute.closing import Parts
from hio_validate.execute.watch import Watch
from hio_validate.execute.work import Work, from_text

MODULE = "tests.execute.tiny"
GUARDIAN = (MODULE, "guardian")
HOLD = "hold"
"""While a file of this name lies in the job's folder, a leg does not end."""


def leg(work: Work, place: int, number: int, watch: Watch, folder: Path) -> dict[str, Any]:
    """Start the arm's engine, ask it once, end it."""
    place_ = folder / "legs" / str(number)
    place_.mkdir(parents=True, exist_ok=True)
    arm = work.order[place - 1]
    command = work.arms[arm].command
    server = watch.start("server", command, place_ / "stdout", place_ / "stderr")
    watch.until(lambda: answers(work.port), work.ceilings.start_s, "the server is ready", (server,))
    content = watched_ask(watch, work, server, place_)
    watch.until(lambda: not (folder / HOLD).exists(), 600, "it may end", (server,))
    exit_ = watch.end(server)
    return {
        "arm": arm,
        "content": content,
        "exit": exit_,
        "invalid": watch.invalid,
        "samples": len(watch.samples),
    }


def watched_ask(watch: Watch, work: Work, server: Any, folder: Path) -> str:
    """Ask in a process of its own, as the real client does."""
    command = type(work.arms[work.order[0]].command)(
        sys.executable, ("-m", MODULE, "client", str(work.port)), {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.environ["PYTHONPATH"]}
    )  # fmt: skip
    client = watch.start("client", command, folder / "answer", folder / "client.err")
    code = watch.exit_of(client, 60, "the answer", (server,))
    watch.end(client)
    assert code == 0, (folder / "client.err").read_text()
    return (folder / "answer").read_text()


def ask(port: int) -> str:
    """One completion."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/completion", json.dumps({"prompt": "Say yes to it.", "n_predict": 8}))
        return str(json.loads(connection.getresponse().read())["content"])
    finally:
        connection.close()


def answers(port: int) -> bool:
    """Whether something is healthy there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def record(folder: Path) -> Path | None:
    """What LEGS write into the repository, here one file beside the journal."""
    place = folder / "run.txt"
    place.write_text(f"recorded {time.time()}\n")
    return place


PARTS = Parts(leg, record)


def hio(words: list[str]) -> int:
    """The command line, with the work of a plan taken from a file instead of the plan, and our own guardian."""

    def prepared(_found: Any, _item: Any, _root: Path, job: str) -> Work | list[str]:
        text = Path(os.environ["TINY_WORK"]).read_text()
        return replace(from_text(text), job=job) if text.startswith("{") else text.splitlines()

    sys.argv[1:] = words
    run_plan.prepared = prepared
    launch.GUARDIAN = GUARDIAN  # type: ignore[assignment]
    closing.real_parts = lambda: PARTS
    return cli.run()


def main(words: list[str]) -> int:
    role, rest = words[0], words[1:]
    if role == "hio":
        return hio(rest)
    if role == "client":
        print(ask(int(rest[0])), end="")
        return 0
    if role == "supervisor":
        return supervisor.main(rest, PARTS)
    guardian.GRACE_S = float(os.environ.get("TINY_GRACE", guardian.GRACE_S))
    return guardian.main(rest, PARTS, (MODULE, "supervisor"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
