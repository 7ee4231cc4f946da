"""/proc of real processes: what is read, and the sentence when it cannot be."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable

from .conftest import ROOT, Start, as_nobody, eventually


def test_a_pid_that_is_gone_is_one_sentence() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(Unobservable, match=rf"^there is no process {ended.pid} \(any more\)$"):
        proc.identity(ended.pid)


def test_zero_is_no_process() -> None:
    with pytest.raises(Unobservable, match="0 is no process id"):
        proc.identity(0)


def test_a_zombie_is_told() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    try:
        while "Z" not in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2][:3]:
            time.sleep(0.01)
        with pytest.raises(Unobservable, match=f"process {child} is a zombie"):
            proc.identity(child)
    finally:
        os.waitpid(child, 0)


def test_a_thread_is_not_its_process(start_python: Start) -> None:
    process = start_python(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[600], daemon=True).start()"
    )
    thread = max(int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir())
    assert thread != process.pid
    with pytest.raises(Unobservable, match=f"{thread} is a thread of process {process.pid}"):
        proc.identity(thread)


@pytest.mark.skipif(not ROOT, reason="needs root to start a process of another user")
def test_a_process_of_another_user_is_told(start: Start) -> None:
    pid = start(["sleep", "600"]).pid

    def ask() -> list[str]:
        reasons = []
        for read in (proc.identity, proc.environ, proc.open_files, proc.mapped_files):
            try:
                read(pid)
            except Unobservable as refused:
                reasons.append(refused.reason)
        return reasons

    reasons = as_nobody(ask)
    assert len(reasons) == 4
    assert all(
        re.fullmatch(rf"process {pid} is not ours to read: its .+ needs user 0 or root", each)
        for each in reasons
    )


@pytest.mark.skipif(not Path("/proc/2/comm").exists(), reason="no kernel threads in sight")
def test_a_kernel_thread_runs_no_program() -> None:
    if not ROOT or Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("pid 2 is no kernel thread that we may read")
    with pytest.raises(Unobservable, match="process 2 runs no program file"):
        proc.identity(2)


def test_argv_keeps_blanks_empty_words_and_odd_bytes(start: Start) -> None:
    words = ["sh", "-c", "echo ready; sleep 600", "", "two words", "line\nfeed", os.fsdecode(b"\xff")]
    process = start(words, ready=True)
    assert proc.argv(process.pid) == [*words[:-1], "\\xff"]


def test_environ_of_a_doubled_name_is_the_first(start: Start) -> None:
    script = (
        "import ctypes, os, sys\n"
        "words = (ctypes.c_char_p * 3)(b'sleep', b'600', None)\n"
        "env = (ctypes.c_char_p * 5)(b'A=1', b'A=2', b'EMPTY=', b'junk without equals', None)\n"
        "print('ready', flush=True)\n"
        "ctypes.CDLL(None).execve(b'/bin/sleep', words, env)\n"
    )
    process = start([sys.executable, "-c", script], ready=True)
    eventually(lambda: proc.argv(process.pid)[0] == "sleep")
    assert proc.environ(process.pid) == {"A": "1", "EMPTY": ""}


def test_mapped_files_count_once_and_name_odd_paths(start_python: Start, place: Path) -> None:
    odd = place / "a model\nwith (deleted)"
    odd.write_bytes(b"x" * 9000)
    process = start_python(
        "import mmap, sys\nfile = open(sys.argv[1], 'rb')\n"
        "keep = [mmap.mmap(file.fileno(), 500, prot=mmap.PROT_READ, offset=at) for at in (0, 8192)]",
        str(odd),
    )
    found = [each for each in proc.mapped_files(process.pid) if each.inode == odd.stat().st_ino]
    assert len(found) == 1
    assert "a model\nwith" in found[0].path
    assert not found[0].executable
    assert len(found[0].ranges) == 2
    assert any(each.executable and "libc" in each.path for each in proc.mapped_files(process.pid))


def test_an_exec_during_a_capture_is_refused(start: Start, place: Path) -> None:
    trigger = place / "go"
    process = start(
        ["sh", "-c", f'echo ready; while [ ! -e "{trigger}" ]; do sleep 0.02; done; exec sleep 600'],
        ready=True,
    )
    with (
        pytest.raises(Unobservable, match="replaced its program during the capture"),
        proc.watch_identity(process.pid),
    ):
        trigger.touch()
        eventually(lambda: proc.argv(process.pid)[0] == "sleep")


def test_an_end_during_a_capture_is_refused(start: Start) -> None:
    process = start(["sleep", "600"])
    with (
        pytest.raises(Unobservable, match=f"process {process.pid} ended during"),
        proc.watch_identity(process.pid),
    ):
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_a_file_that_vanishes_while_reading_is_one_sentence(start: Start) -> None:
    process = start(["sleep", "600"])
    with (
        pytest.raises(Unobservable, match=f"process {process.pid} cannot be read: No such file"),
        proc.watch_identity(process.pid),
    ):
        Path("/proc/self/gone").stat()


def test_a_reused_pid_is_refused(start: Start) -> None:
    now = proc.identity(start(["sleep", "600"]).pid)
    with pytest.raises(Unobservable, match="another one has its id now"):
        proc.check_identity(proc.Identity(now.pid, now.ticks - 1, now.program))


def test_memory_threads_start_and_affinity(start_python: Start) -> None:
    before = int(time.time())
    process = start_python(
        "import os, threading, time\nblock = bytearray(os.urandom(1 << 20) * 16)\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "threading.Thread(target=time.sleep, args=[600], daemon=True).start()"
    )
    seen = proc.memory(process.pid)
    assert seen.anonymous is not None
    assert seen.anonymous > 16 << 20
    assert seen.swap is not None
    only = min(os.sched_getaffinity(0))
    assert proc.affinities(process.pid) == {str(only): 2}
    started = proc.start_seconds(proc.identity(process.pid).ticks)
    assert before - 2 <= started <= time.time() + 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", proc.started_at(proc.identity(process.pid).ticks))
