"""Who a process is, and that a signal reaches nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from hio_validate.command import Command
from hio_validate.execute import owned
from tests.execute.conftest import PATIENCE_S, wait_for

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEP) as process:
        yield process
        process.kill()


def test_another_start_or_another_boot_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    who = owned.identity_of(sleeper.pid)
    assert who is not None
    for other in (replace(who, ticks=who.ticks - 1), replace(who, boot="another")):
        assert not owned.is_alive(other)
        assert not owned.send(other, signal.SIGKILL)
        assert owned.wait_for_end(other, 0)
    assert sleeper.poll() is None
    assert owned.identity_from(who.as_data()) == who
    assert owned.send(who, signal.SIGKILL)
    assert owned.wait_for_end(who, PATIENCE_S)
    assert not owned.is_alive(who)  # although nobody reaped it


def test_a_trial_process_dies_with_its_parent_and_carries_its_job() -> None:
    code = (
        "import sys; from hio_validate.execute import owned; from hio_validate.execute.work import Command\n"
        f"child = owned.spawn(Command({sys.executable!r}, ('-c', 'import time; time.sleep(600)'), {{}}), 'the-job',"
        " sys.stderr.buffer, sys.stderr.buffer)\n"
        "print(child.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout
        child = owned.identity_of(int(parent.stdout.readline()))
        assert child is not None
        wait_for(lambda: child in owned.carriers("the-job"))
        assert os.getpgid(child.pid) == child.pid
        parent.kill()
    assert owned.wait_for_end(child, PATIENCE_S)


def test_what_started_more_is_ended_with_all_of_it() -> None:
    forks = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", forks]) as process:
        wait_for(lambda: len(owned.alive_below(process.pid)) == 1)
        who = owned.identity_of(process.pid)
        assert who
        everyone = owned.alive_below(process.pid) | {who}
        left = owned.end(lambda: {each for each in everyone if owned.is_alive(each)}, reaping=False)
        assert not left


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        owned.spawn(Command("/nowhere/engine", (), {}), "job", sys.stderr.buffer, sys.stderr.buffer)
