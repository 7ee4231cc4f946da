"""A service that a keeper of hio keeps, and its end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from hio_validate import launch_file
from hio_validate.command import Command
from hio_validate.execute import owned
from hio_validate.execute.backends.local import Local
from tests.execute import conftest, tiny
from tests.execute.conftest import ROOT, wait_for
from tests.ports import free_port

START = "import sys; from pathlib import Path; from hio_validate.execute.backends.local import Local; " \
    "Local(Path(sys.argv[1])).start(lambda who: print(who.pid))"  # fmt: skip

Kept = Callable[..., tuple[Local, int]]


def install(folder: Path, command: Command, **secrets: str) -> None:
    """Put a launch file into a service's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"version": launch_file.VERSION, **asdict(command), "secrets": secrets}
    (folder / launch_file.NAME).write_text(json.dumps(said))


def begin(local: Local) -> subprocess.CompletedProcess[str]:
    """Start what is installed from a process with one thread, as hio does."""
    return subprocess.run(
        [sys.executable, "-c", START, local.folder], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """Starts a small engine that is kept; afterwards neither it nor its keeper is left."""
    locals_: list[Local] = []

    def start(*modes: str, folder: Path | None = None) -> tuple[Local, int]:
        local, port = Local(folder or tmp_path / f"service-{len(locals_)}"), free_port()
        locals_.append(local)
        install(local.folder, conftest.engine(port, *modes))
        done = begin(local)
        assert done.returncode == 0, done.stderr
        wait_for(lambda: tiny.answers(port))
        return local, port

    yield start
    for local in locals_:
        local.stop()
        assert local.main() is None and not local.is_kept()


def serving(local: Local) -> owned.Identity:
    """The process of the service. Waits for it."""
    wait_for(lambda: local.main() is not None)
    who = local.main()
    assert who
    return who
