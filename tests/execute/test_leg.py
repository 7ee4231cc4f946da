"""Why a leg failed: a process that died is named first, by what it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute import leg
from hio_validate.execute.watch import Watch
from tests.execute.conftest import ENVIRONMENT, ceilings, work

KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
LATE = "llama-bench had loaded its model: not within 1 s"


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch("test-of-a-leg", ceilings())
    yield watch
    watch.end_all()


@pytest.mark.parametrize(
    ("method", "code", "told"),
    [
        ("llama-bench", "raise SystemExit(3)", f"llama-bench ended with exit code 3: {LATE}"),
        ("llama-bench", KILLED, f"llama-bench was ended by SIGKILL: {LATE}"),
        ("llama-bench", "", LATE),
        ("http", "raise SystemExit(3)", f"the server ended with exit code 3: {LATE}"),
        ("http", "", f"the server ended with exit code 0: {LATE}"),
    ],
    ids=["code", "signal", "done", "server", "server-that-ended"],
)
def test_a_process_that_died_is_told_as_what_it_is(
    method: str, code: str, told: str, watch: Watch, tmp_path: Path
) -> None:
    one = leg._Leg(work(method=method), 1, 1, watch, tmp_path)
    command = Command(sys.executable, ("-c", code), ENVIRONMENT)
    role = "server" if method == "http" else method
    one.server = watch.start(role, command, tmp_path / "out", tmp_path / "err")
    watch.until(lambda: one.server is not None and one.server.has_ended, 60, "it ended")
    assert one.because(LATE) == told
