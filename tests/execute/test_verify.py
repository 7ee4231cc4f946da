"""The live process against its stack: a real process, sound at first, then wrong in one thing after the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute.verified import Check, Verification
from hio_validate.execute.verify import POINTS, verify
from tests.execute.experiment import SERVICE, yaml
from tests.execute.place import ENGINE, Place, place, running
from tests.ports import free_port


def looked(
    at: Place, pid: int, command: Command | None = None, *, files: Sequence[Path] = (), port: int | None = None,
    secrets: Mapping[str, str] | None = None,
) -> Verification:  # fmt: skip
    return verify(
        at.repo, SERVICE, at.stack(), pid, port=port or at.port, command=command or at.command(), files=files,
        deadline_s=600.0, secrets=secrets,
    )  # fmt: skip


def named(found: Verification, name: str) -> Check:
    return next(each for each in found.checks if each.name == name)


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def test_a_process_of_the_stack_is_proven_in_every_point(here: Place, tmp_path: Path) -> None:
    with running(here.command(), here.port) as pid:
        here.record(pid)
        found = looked(here, pid, files=[tmp_path / "model.gguf"])
    assert [each for each in found.checks if each.verdict != "equal"] == []
    assert found.is_proven
    libraries = {each.name for each in found.checks if each.name.startswith("library ")}
    seen = {each.name for each in found.checks} - libraries - {f"started after {tmp_path / 'model.gguf'}"}
    assert libraries and seen == {*POINTS} - {"libraries"}
    assert found.process is not None and found.process.pid == pid


def test_what_nothing_is_recorded_of_is_not_observable(here: Place) -> None:
    with running(here.command(), here.port) as pid:
        found = looked(here, pid)
    names = {each.name for each in found.not_observable}
    assert "executable" in names and names <= {"executable", *(n for n in names if n.startswith("library "))}
    assert named(found, "model").declared.endswith("(the file at its path)")
    assert not found.differing and not found.is_proven


def _another_word(command: Command) -> Command:
    words = list(command.arguments)
    words[words.index("--threads") + 1] = "2"
    return replace(command, arguments=tuple(words))


WRONG: dict[str, tuple[Callable[[Command], Command], set[str]]] = {
    "a word": (_another_word, {"argv", "server.threads", "server.threads-batch"}),
    "a word more": (lambda c: replace(c, arguments=(*c.arguments, "--batch-size", "64")), {"argv", "server.batch-size"}),
    "a variable's value": (
        lambda c: replace(c, environment={**c.environment, "LANG": "C"}),
        {"environ"},
    ),
    "a variable more": (
        lambda c: replace(c, environment={**c.environment, "LD_BIND_NOW": "1"}),
        {"environ", "server.LD_BIND_NOW"},
    ),
    "a setting in the environment": (
        lambda c: replace(c, environment={**c.environment, "LLAMA_ARG_BATCH": "64"}),
        {"environ", "server.batch-size"},
    ),
    "not healthy": (
        lambda c: replace(c, environment={**c.environment, "LLAMA_LIKE": "sick"}),
        {"environ", "server.LLAMA_LIKE", "/health"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_process_that_is_otherwise_differs_in_exactly_that(here: Place, what: str) -> None:
    change, differing = WRONG[what]
    with running(here.command(), here.port) as pid:
        here.record(pid)
    with running(change(here.command()), here.port) as pid:
        found = looked(here, pid)
    assert {each.name for each in found.differing} == differing
    assert not found.is_proven


def test_other_bytes_differ_by_their_records(here: Place, tmp_path: Path) -> None:
    with running(here.command(), here.port) as pid:
        here.record(pid)
    model = tmp_path / "model.gguf"
    model.write_bytes(model.read_bytes() + b"more")
    engine = {"hio": "engine/v1", "name": "b1", "family": "llama-server",
              "identity": {"kind": "native", "executable": "0" * 64}}  # fmt: skip
    (here.root / ENGINE).write_text(yaml(engine))
    with running(here.command(), here.port) as pid:
        found = looked(here, pid)
    assert {"model", "executable"} <= {each.name for each in found.differing}
    assert named(found, "executable").declared == f"{'0' * 64} (build b1)"
    assert named(found, "model").declared.endswith("(capture live)")


def test_a_file_that_was_replaced_since_is_told(here: Place, tmp_path: Path) -> None:
    with running(here.command(), here.port) as pid:
        here.record(pid)
        model = tmp_path / "model.gguf"
        shutil.copy(model, tmp_path / "new")
        (tmp_path / "new").replace(model)
        found = looked(here, pid)
    assert {each.name for each in found.checks if each.verdict != "equal"} >= {"files on disk"}
    assert "model" in named(found, "files on disk").observed


def test_configuration_that_is_younger_than_the_process_differs(here: Place, tmp_path: Path) -> None:
    file = tmp_path / "env"
    with running(here.command(), here.port) as pid:
        file.write_text("A=1\n")
        os.utime(file, (0, 0))  # its contents claim to be old; its inode knows when they came
        found = looked(here, pid, files=[file, tmp_path / "gone"])
    assert named(found, f"started after {file}").verdict == "differs"
    assert named(found, f"started after {tmp_path / 'gone'}").verdict == "not observable"


def test_another_port_and_a_second_owner_of_the_socket_differ(here: Place) -> None:
    other = free_port()
    words = [str(other) if word == str(here.port) else word for word in here.command().arguments]
    with running(replace(here.command(), arguments=tuple(words)), other) as pid:
        found = looked(here, pid)
        assert named(found, "socket").verdict == "differs"
        assert named(found, "/health").verdict == "equal"  # it is asked where it does listen
        assert named(found, "server.port").verdict == "differs"
    with running(here.command(), here.port) as pid:
        sharing = (
            "import os, socket, sys, time\n"
            f"fd = os.pidfd_open({pid})\n"
            "import ctypes\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            f"got = [libc.syscall(438, fd, n, 0) for n in range(3, 12)]\n"
            "print('ready', flush=True)\n"
            "time.sleep(6000)\n"
        )
        with subprocess.Popen([sys.executable, "-c", sharing], stdout=subprocess.PIPE, text=True) as thief:
            assert thief.stdout is not None and thief.stdout.readline() == "ready\n"
            try:
                found = looked(here, pid)
            finally:
                thief.kill()
        socket = named(found, "socket")
        if str(thief.pid) not in socket.observed:
            pytest.skip("a descriptor of another process cannot be taken here")
        assert socket.verdict == "differs" and not found.is_proven


def test_a_process_that_is_gone_is_observable_in_nothing(here: Place) -> None:
    with running(here.command(), here.port) as pid:
        pass
    found = looked(here, pid)
    assert {each.name for each in found.checks} == {*POINTS}
    assert {each.verdict for each in found.checks} == {"not observable"}
    assert not found.is_proven


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look as another user")
def test_a_process_of_another_user_is_observable_in_nothing(here: Place) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from hio_validate.execute.verify import verify\n"
        "from tests.execute.place import SERVICE, Place\n"
        f"at = Place(Path({str(here.root)!r}), {here.port})\n"
        "repo, stack, command = at.repo, at.stack(), at.command()\n"  # what another user could not read
        "os.setuid(65534)\n"
        "found = verify(repo, SERVICE, stack, int(sys.argv[1]), port=at.port, command=command)\n"
        "print(sorted({each.verdict for each in found.checks}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "HIO_CACHE_DIR": ""}
    with running(here.command(), here.port) as pid:
        done = subprocess.run([sys.executable, "-c", script, str(pid)], env=environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
    assert done.stdout.strip() == "['not observable']", done.stderr
