"""The one place that waits: exits, limits, gaps, what is left below, with injected readings where the host has none."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute import owned
from hio_validate.execute.watch import Abort, Watch, samples_table
from hio_validate.observe.readings import Activity, Reading
from tests.execute.conftest import ENVIRONMENT, ceilings, wait_for
from tests.execute.test_ceilings import CALM


class Injected:
    """Readings that a test gives."""

    def __init__(self, *readings: Reading) -> None:
        self.left = list(readings)

    def read(self, trial: Collection[int]) -> Reading:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


def python(code: str) -> Command:
    return Command(sys.executable, ("-c", code), ENVIRONMENT)


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch("test-of-the-watch", ceilings())
    yield watch
    watch.end_all()


def test_an_exit_is_told_with_code_and_last_words(watch: Watch, tmp_path: Path) -> None:
    code = "import sys; print('no such model', file=sys.stderr); sys.exit(3)"
    child = watch.start("server", python(code), tmp_path / "out", tmp_path / "err")
    with pytest.raises(
        Abort, match=r"the server ended with exit code 3 before it is ready; its log ends: no such model"
    ):
        watch.until(lambda: False, 60, "it is ready", (child,))
    assert child.has_ended
    assert watch.end(child) == "ended with exit code 3"


def test_an_exit_code_is_given_once_it_is_there(watch: Watch, tmp_path: Path) -> None:
    child = watch.start("client", python("import sys; sys.exit(5)"), tmp_path / "out", tmp_path / "err")
    assert watch.exit_of(child, 60, "the client is done") == 5


def test_how_a_child_died_is_told_once_it_has(watch: Watch, tmp_path: Path) -> None:
    living = watch.start("server", python("import time; time.sleep(600)"), tmp_path / "out", tmp_path / "err")
    assert watch.died(living, within_s=0) is None
    os.kill(living.pid, signal.SIGKILL)
    assert watch.died(living, within_s=60) == "was ended by SIGKILL"


def test_a_client_that_fails_because_its_server_died_says_how_the_server_did(
    watch: Watch, tmp_path: Path
) -> None:
    server = watch.start("server", python("import sys; sys.exit(7)"), tmp_path / "out", tmp_path / "err")
    client = watch.start("client", python("import sys; sys.exit(1)"), tmp_path / "out", tmp_path / "err")
    wait_for(lambda: client.has_ended and server.has_ended)  # nobody can say any more who was first
    with pytest.raises(Abort, match=r"^the server ended with exit code 7 before the answer$"):
        watch.exit_of(client, 60, "the answer", (server,))


def test_a_client_that_fails_while_its_server_serves_has_its_exit_code(watch: Watch, tmp_path: Path) -> None:
    living = python("import time; time.sleep(600)")
    server = watch.start("server", living, tmp_path / "out", tmp_path / "err")
    client = watch.start("client", python("import sys; sys.exit(1)"), tmp_path / "out", tmp_path / "err")
    assert watch.exit_of(client, 60, "the answer", (server,)) == 1


def test_one_that_is_on_its_way_to_its_end_is_waited_for(watch: Watch, tmp_path: Path) -> None:
    living = python("import time; time.sleep(600)")
    server = watch.start("server", living, tmp_path / "out", tmp_path / "err")
    assert not owned.is_ending(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    wait_for(lambda: owned.is_ending(server.pid))
    assert watch.died(server, within_s=0) == "was ended by SIGKILL"


def test_what_ignores_term_is_killed_with_all_it_started(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hio_validate.execute.watch._TERM_S", 0.2)
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True);"
        "print('ready', flush=True); time.sleep(600)"
    )
    child = watch.start("server", python(code), tmp_path / "out", tmp_path / "err")
    wait_for(lambda: (tmp_path / "out").read_text() == "ready\n")
    below = owned.alive_below(child.pid)
    assert len(below) == 1
    assert watch.end(child) == "ended by hio (SIGKILL)"
    assert not any(owned.is_alive(each) for each in below)


def test_a_program_that_is_not_there_is_an_abort(watch: Watch, tmp_path: Path) -> None:
    with pytest.raises(Abort, match=r"the server cannot be started \(/nowhere/engine\): No such file"):
        watch.start("server", Command("/nowhere/engine", (), {}), tmp_path / "out", tmp_path / "err")


@pytest.mark.parametrize(
    ("limit", "reading", "said"),
    [
        ({"swap": 1 << 20}, {"swap": 2 << 20}, "swapped out"),
        ({"temperature_c": 80.0}, {"temperature_c": 90.0}, "90.0 °C"),
        ({"device_memory": 1 << 30}, {"device_memory": 2 << 30}, "device memory"),
    ],
)
def test_an_injected_reading_above_its_ceiling_ends_the_wait(
    limit: dict[str, float], reading: dict[str, float], said: str
) -> None:
    high = replace(CALM, **reading)  # type: ignore[arg-type]
    watch = Watch("test", ceilings(**limit), Injected(replace(CALM, device_memory=0), high))
    watch.begin_leg()
    with pytest.raises(Abort, match=said) as ended:
        watch.until(lambda: False, 60, "nothing")
    assert (ended.value.outcome, ended.value.resumable) == ("aborted", False)


def test_a_time_out_may_be_resumed(watch: Watch) -> None:
    with pytest.raises(Abort, match=r"the answer: not within 0.1 s") as ended:
        watch.until(lambda: False, 0.1, "the answer")
    assert (ended.value.outcome, ended.value.resumable) == ("aborted", True)


def test_samples_of_a_leg_are_a_table_and_a_new_leg_begins_anew() -> None:
    reading = replace(CALM, services=(Activity("lab/other", 7, 1.5, 0, 2, None),))
    watch = Watch("test", ceilings(sample_s=0.01), Injected(reading))
    watch.begin_leg()
    watch.until(lambda: len(watch.samples) >= 3, 60, "three samples")
    watch.end_leg()
    header, *rows = [line.split("\t") for line in samples_table(watch.samples).splitlines()]
    assert header[-5:] == [
        f"lab/other:{each}" for each in ("pid", "cpu_s", "queued_bytes", "connections", "swap")
    ]
    assert len(rows) >= 3
    assert {len(row) for row in rows} == {len(header)}
    assert rows[0][-5:] == ["7", "1.500", "0", "2", ""]
    watch.begin_leg()
    assert len(watch.samples) == 1
    assert samples_table([]).startswith("at\t")
