"""A kept service: it outlives who started it, comes back when it crashes, and is never doubled."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hio_validate.execute import journal, owned
from hio_validate.execute.backends.local import Local
from hio_validate.observe.sockets import listening, owner_of
from tests.execute import conftest, tiny
from tests.execute.backends.conftest import Kept, begin, install, kept, serving
from tests.execute.conftest import wait_for
from tests.ports import free_port

__all__ = ["kept"]


def events(local: Local) -> list[str]:
    return [each.event for each in journal.read(local.folder)]


def test_a_service_outlives_who_started_it_and_ends_when_asked(kept: Kept) -> None:
    local, port = kept()
    who, keeper = serving(local), local.keeper()
    assert owner_of(port).pid == who.pid
    assert keeper and os.getsid(keeper.pid) == keeper.pid and os.getsid(who.pid) == who.pid
    environment = Path(f"/proc/{who.pid}/environ").read_bytes().rstrip(b"\0").split(b"\0")
    assert sorted(environment) == sorted(f"{k}={v}".encode() for k, v in conftest.ENVIRONMENT.items())
    local.stop()
    assert not owned.is_alive(who) and not owned.is_alive(keeper) and not listening(port)
    assert events(local) == ["keeping", "service", "running", "asked-to-end", "ended"]


def test_starting_twice_starts_one(kept: Kept) -> None:
    local, _ = kept()
    who = serving(local)
    assert begin(local).returncode == 0
    assert serving(local) == who
    assert events(local).count("service") == 1


def test_a_crash_is_started_again(kept: Kept) -> None:
    local, port = kept()
    first = serving(local)
    owned.send(first, signal.SIGKILL)
    wait_for(lambda: local.main() not in (None, first))
    wait_for(lambda: tiny.answers(port))
    assert journal.read(local.folder)[3].data["code"] == -signal.SIGKILL


def test_what_is_installed_meanwhile_starts_only_with_the_next_keeper(kept: Kept) -> None:
    local, port = kept()
    other = free_port()
    install(local.folder, conftest.engine(other))
    owned.send(first := serving(local), signal.SIGKILL)
    wait_for(lambda: local.main() not in (None, first) and tiny.answers(port))
    assert not listening(other)


def test_a_killed_keeper_leaves_its_service_and_the_next_one_takes_it_over(kept: Kept) -> None:
    local, port = kept()
    who, keeper = serving(local), local.keeper()
    assert keeper
    owned.send(keeper, signal.SIGKILL)
    wait_for(lambda: not local.is_kept())
    assert local.main() == who and tiny.answers(port)
    assert begin(local).returncode == 0
    assert serving(local) == who and local.is_kept()
    assert events(local) == ["keeping", "service", "running", "keeping", "taken-over"]


def test_stopping_ends_the_service_of_a_killed_keeper(kept: Kept) -> None:
    local, port = kept()
    keeper = local.keeper()
    assert keeper
    owned.send(keeper, signal.SIGKILL)
    wait_for(lambda: not local.is_kept())
    local.stop()
    assert local.main() is None and not listening(port)


def test_a_command_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    local = Local(tmp_path / "service")
    install(local.folder, conftest.Command("/no/such/program", (), {}))
    done = begin(local)
    assert "it cannot be started: /no/such/program: No such file or directory" in done.stderr
    wait_for(lambda: not local.is_kept())


def test_a_secret_is_read_when_the_service_starts_and_is_in_no_file(kept: Kept, tmp_path: Path) -> None:
    local, _ = kept()
    local.stop()
    (tmp_path / "key").write_text("s3cret-s3cret\n")
    port = free_port()
    command = conftest.Command(
        *[(c := conftest.engine(port)).program, c.arguments],
        {**c.environment, "LLAMA_API_KEY": "${secret:key}"},
    )
    install(local.folder, command, key=f"file:{tmp_path / 'key'}")
    assert begin(local).returncode == 0
    wait_for(lambda: tiny.answers(port))
    assert "s3cret-s3cret" in Path(f"/proc/{serving(local).pid}/environ").read_text()
    assert not [each for each in local.folder.iterdir() if b"s3cret" in each.read_bytes()]
