"""Real processes for the tests of observe/: started here, ended here."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hio_validate.observe.refusal import Unobservable

NOBODY = 65534
ROOT = os.geteuid() == 0

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process; with `ready`, waits until it prints a line. `as_nobody` only changes something as root."""
    running: list[subprocess.Popen[str]] = []

    def begin(
        words: Sequence[str | Path],
        *,
        ready: bool = False,
        as_nobody: bool = False,
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> subprocess.Popen[str]:
        if as_nobody and ROOT:
            more |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        # A session of its own, so that ending it also ends what it forked.
        process = subprocess.Popen(
            [os.fspath(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=dict(os.environ if env is None else env),
            text=True,
            start_new_session=True,
            **more,
        )
        running.append(process)
        _wait_for_its_words(process)
        if ready:
            assert process.stdout is not None
            assert process.stdout.readline(), "the process ended before it was ready"
        return process

    yield begin
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def start_python(start: Start) -> Start:
    """Starts a Python script that prints a line when it is ready, then waits to be killed."""

    def begin(script: str, *words: str, **more: Any) -> subprocess.Popen[str]:
        waiting = script + "\nprint('ready', flush=True)\nimport time\ntime.sleep(600)\n"
        return start([_interpreter(more.get("as_nobody", False)), "-c", waiting, *words], ready=True, **more)

    return begin


def _wait_for_its_words(process: subprocess.Popen[str]) -> None:
    """The kernel shows the arguments of a new program a moment after it has begun."""
    while process.poll() is None and not Path(f"/proc/{process.pid}/cmdline").read_bytes():
        time.sleep(0.001)


def _interpreter(as_nobody: bool) -> str:
    """An interpreter that the process' user may run; root's own may lie in a closed home."""
    if not (as_nobody and ROOT):
        return sys.executable
    found = next(
        (path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if Path(path).exists()), None
    )
    return found or pytest.skip("no interpreter that an ordinary user may run")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can read, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="hio-observe-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(ask: Callable[[], Any]) -> Any:
    """The JSON-able answer of `ask` in a child without privileges; as an ordinary user, simply here."""
    if not ROOT:
        return ask()
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            _answer(ask, sink)
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as answer:
        told = answer.read()
    os.waitpid(child, 0)
    result = json.loads(told or '{"failed": "no answer"}')
    assert "failed" not in result, result["failed"]
    return result["answer"]


def _answer(ask: Callable[[], Any], sink: int) -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, as after an exec
    try:
        told = {"answer": ask()}
    except BaseException:
        told = {"failed": traceback.format_exc()}
    os.write(sink, json.dumps(told).encode())


def eventually(holds: Callable[[], bool], within_s: float = 300.0) -> None:
    """Waits until something holds; what cannot be observed yet does not hold yet."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        with suppress(Unobservable):
            if holds():
                return
        time.sleep(0.02)
    raise AssertionError(f"not within {within_s} s")
