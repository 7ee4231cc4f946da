"""Deployments of the small engine: a repository, a state folder, who serves, and a watcher that counts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute import jobs, journal, launch, lock, owned
from hio_validate.execute.backends.local import Local
from hio_validate.execute.deploy import deployments, parts, preparing, rolling
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.preparing import Prepared
from hio_validate.execute.deploy.work import Work
from hio_validate.history import Folder
from hio_validate.ledger import Ledger
from hio_validate.observe.sockets import listeners, owner_of
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.execute import tiny
from tests.execute.backends.conftest import begin as begin_keeper
from tests.execute.backends.conftest import install
from tests.execute.conftest import ENGINE, PATIENCE_S, wait_for
from tests.execute.deploy import little, town
from tests.ports import free_port


def engines(port: int) -> list[int]:
    """Processes of the small engine at a port, also those that do not listen yet; all of them ran at one moment."""
    found, wanted = [], [ENGINE.encode(), b"--port", str(port).encode()]
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError), open(f"/proc/{entry}/cmdline", "rb", buffering=0) as file:
                if file.read().split(b"\0", 4)[1:4] == wanted:
                    found.append(owned.identity_of(int(entry)))
    return [who.pid for who in found if who and owned.is_alive(who)]


def listening_at_once(port: int) -> int:
    """How many sockets listen on a port at one moment; one look at all sockets takes several."""
    first = {each.inode for each in listeners() if each.port == port}
    return len(first & {each.inode for each in listeners()}) if len(first) > 1 else len(first)


@dataclass
class Watcher:
    """Counts, as often as it can, who listens on a port and how many processes of the engine there are."""

    port: int
    engines: Callable[[int], list[int]] = engines
    """Processes of the engine at a port."""
    most_listeners: int = 0
    most_processes: int = 0
    samples: int = 0
    ends: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.ends.is_set():
            self.most_listeners = max(self.most_listeners, listening_at_once(self.port))
            self.most_processes = max(self.most_processes, len(self.engines(self.port)))
            self.samples += 1
            time.sleep(0.006)  # as long as a look: what is watched needs the processors too

    def assert_never_two(self) -> None:
        assert self.samples > 3
        assert self.most_listeners <= 1
        assert self.most_processes <= 1


@contextmanager
def watching(port: int, engines: Callable[[int], list[int]] = engines) -> Iterator[None]:
    """Watches a port until the block ends; it must never have seen two."""
    watcher = Watcher(port, engines)
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        yield
    finally:
        watcher.ends.set()
        thread.join()
    watcher.assert_never_two()


@dataclass
class Town:
    """A repository with the service here/small, on this host."""

    root: Path
    state: Path
    port: int
    bare: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def local(self) -> Local:
        return Local(self.state / "services" / town.SERVICE)

    @property
    def view(self) -> View:
        return View(load(Folder(self.root)))

    @property
    def ledger(self) -> Ledger:
        return self.view.ledger(town.SERVICE)

    def work(self, stack: str, **more: Any) -> Work:
        """The work of deploying a stack."""
        made = self.prepared(stack)
        assert made.work and not made.reasons, made.reasons
        return replace(made.work, overwrite=True, **more)

    def prepared(self, stack: str) -> Prepared:
        view = self.view
        item = view.repo.find("stack/v1", stack, town.SERVICE)
        assert item is not None
        return preparing.prepare(
            view, item, town.SERVICE, self.root, self.state, journal.now(), "ana", parts.known_good
        )

    def way_back(self) -> Work:
        view = self.view
        entry = rolling.deployed(view, None)
        return rolling.prepare(view, entry, self.root, self.state, journal.now(), "ana", False)

    def begin(self, work: Work, **environment: str) -> tuple[Deployment, subprocess.Popen[bytes]]:
        """Start the guardian of a work."""
        made = deployments.create(self.state, work, "plan")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            with lock.take() as taken:
                process = launch.start(made.folder, taken, little.GUARDIAN).process
        return made, process

    def hio(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The command line, with the small engine's verification."""
        done = subprocess.run(
            [sys.executable, "-m", little.MODULE, "hio", *words], cwd=self.root, env={**os.environ, **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def carried_out(self, work: Work, **environment: str) -> Deployment:
        """The deployment, after its guardian has ended."""
        made, process = self.begin(work, **environment)
        process.wait(PATIENCE_S)
        wait_for(lambda: not any(owned.is_alive(each) for each in Deployment(made.folder).keepers.values()))
        return Deployment(made.folder)

    def serve(self, how: str, mode: str | None = None) -> None:
        """Have the base serve: `kept`, `bare` (started by somebody), or not at all."""
        command = self.work("base").to.command
        assert command
        if how == "kept":
            install(self.local.folder, command)
            assert begin_keeper(self.local).returncode == 0
        elif how == "bare":
            self.bare.append(
                subprocess.Popen(command.argv, env=dict(command.environment), cwd="/", start_new_session=True)
            )
        if how != "nothing":
            wait_for(lambda: tiny.answers(self.port))

    def mode(self) -> str | None:
        """The peculiarity of what serves: none is the base."""
        words = Path(f"/proc/{owner_of(self.port).pid}/cmdline").read_text().split("\0")
        return words[words.index("--mode") + 1] if "--mode" in words else None

    def tell(self, made: Deployment) -> str:
        made = Deployment(made.folder)
        log = made.folder / launch.LOG
        events = "\n".join(f"{each.at} {each.event} {each.data}" for each in made.events)
        return f"{events}\n{log.read_text() if log.exists() else ''}"

    def end(self) -> None:
        for each in deployments.all_deployments(self.state):
            for who in each.keepers.values():
                owned.send(who, signal.SIGKILL)
        self.local.stop()
        for process in self.bare:
            process.kill()
            process.wait()
        for pid in engines(self.port):
            os.kill(pid, signal.SIGKILL)


Settle = Callable[..., Town]


@pytest.fixture
def settle(tmp_path: Path, state: Path) -> Iterator[Settle]:
    """Builds a town with its candidates; afterwards nothing of it runs."""
    towns: list[Town] = []

    def build(*candidates: str, serves: str = "kept", **place: Any) -> Town:
        port = free_port()
        made = Town(
            town.build(tmp_path / "repo", port, candidates or ("quick",), **place), jobs.state_folder(), port
        )
        towns.append(made)
        made.serve(serves)
        return made

    yield build
    for each in towns:
        each.end()


Watch = Callable[[Town], None]


@pytest.fixture
def watched(settle: Settle) -> Iterator[Watch]:
    """Watches a town until the test ends; it must never have seen two."""
    with ExitStack() as until:
        yield lambda of: until.enter_context(watching(of.port))
