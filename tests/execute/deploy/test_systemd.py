"""The systemd backend against a stand-in for systemctl that really starts the unit's command; systemd is never started."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.observe.sockets import listening
from tests.execute.conftest import ROOT, state
from tests.execute.deploy import systemctl
from tests.execute.deploy.conftest import Settle, Town, Watch, engines, settle, watched

__all__ = ["settle", "state", "watched"]

UNIT = "small.service"
Units = Callable[..., Town]


@pytest.fixture
def units(settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Units:
    """A town whose service is a unit, which is not installed yet."""

    def build(*candidates: str, backend: str = "systemd") -> Town:
        programs, folder = tmp_path / "programs", tmp_path / "units"
        programs.mkdir()
        folder.mkdir()
        program = programs / "systemctl"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} {systemctl.__file__} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        monkeypatch.setenv("STANDIN_UNITS", str(folder))
        where = {"folder": str(tmp_path / "etc"), "units": str(folder)}
        user = {"user": "daemon"} if backend == "systemd" else {}
        return settle(
            *candidates, serves="nothing", backend=backend, unit=UNIT, targets={backend: {**user, **where}}
        )

    return build


def calls(made: Deployment) -> list[str]:
    """The words of every call of systemctl that changed something."""
    lines = [json.loads(line) for line in (made.folder / "systemctl.jsonl").read_text().splitlines()]
    assert all(line["code"] == 0 for line in lines)
    return [" ".join(line["argv"]) for line in lines if "show" not in line["argv"]]


@pytest.mark.parametrize("backend", ["systemd", "systemd-user"])
def test_a_unit_is_installed_switched_and_taken_back(
    units: Units, watched: Watch, tmp_path: Path, backend: str
) -> None:
    here = units(backend=backend)
    ctl = "systemctl --user" if backend == "systemd-user" else "systemctl"
    watched(here)
    first = here.carried_out(here.work("base"))
    assert first.last("closed") == {"outcome": "deployed"}, here.tell(first)
    assert calls(first) == [f"{ctl} daemon-reload", f"{ctl} start {UNIT}"]
    made = here.carried_out(here.work("quick"))
    assert here.mode() == "quick", here.tell(made)
    assert calls(made) == [f"{ctl} stop {UNIT}", f"{ctl} daemon-reload", f"{ctl} start {UNIT}"]
    assert "--mode" in (tmp_path / "units" / UNIT).read_text()
    back = here.carried_out(here.way_back())
    assert back.last("closed") == {"outcome": "rolled-back"}, here.tell(back)
    assert here.mode() is None and "--mode" not in (tmp_path / "units" / UNIT).read_text()
    assert calls(back) == [f"{ctl} stop {UNIT}", f"{ctl} daemon-reload", f"{ctl} start {UNIT}"]


def test_what_is_not_proven_is_taken_back_to_nothing(units: Units, tmp_path: Path) -> None:
    here = units("forgets")
    made = here.carried_out(here.work("forgets"))
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    assert not listening(here.port) and not (tmp_path / "units" / UNIT).exists()


@pytest.mark.parametrize(
    "where", ["after installed", "after stopping", "before begun", "after begun", "after proven"]
)
def test_worker_and_guardian_that_are_killed_leave_one_unit(units: Units, watched: Watch, where: str) -> None:
    here = units()
    assert here.carried_out(here.work("base")).last("closed") == {"outcome": "deployed"}
    watched(here)
    made = here.carried_out(here.work("quick"), LITTLE_KILL=f"worker {where}", LITTLE_GUARDIAN_DIES="yes")
    assert made.state == "unsafe"
    assert here.hio("deploy", "--recover").returncode == 0, here.tell(made)
    assert len(engines(here.port)) == 1
    assert here.mode() == ("quick" if where == "after proven" else None)
    assert here.ledger.deployment.name == made.name  # type: ignore[union-attr]


def test_a_unit_file_that_somebody_edited_needs_a_word(units: Units, tmp_path: Path) -> None:
    here = units()
    assert here.carried_out(here.work("base")).last("closed") == {"outcome": "deployed"}
    unit = tmp_path / "units" / UNIT
    unit.write_text(unit.read_text() + "# mine\n")
    said = here.hio("deploy", "quick", "--yes")
    assert said.returncode == 1 and "-# mine" in said.stdout
    assert here.hio("deploy", "quick", "--yes", "--overwrite").returncode == 0
    kept = [each.read_text() for each in (here.state / "deployments").glob("*quick/files/*")]
    assert any("# mine" in each for each in kept)


def test_a_systemctl_that_fails_is_told_and_the_old_one_serves(units: Units, tmp_path: Path) -> None:
    here = units()
    first = here.carried_out(here.work("base"))
    assert first.last("closed") == {"outcome": "deployed"}, here.tell(first)
    program = tmp_path / "programs/systemctl"
    once = 'case "$*" in start*) test -f "$STANDIN_UNITS/once" || { touch "$STANDIN_UNITS/once"; echo "Job failed." >&2; exit 1; };; esac'
    program.write_text(program.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{once}\n"))
    made = here.carried_out(here.work("quick"))
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    assert made.last("failed") == {
        "step": "start", "found": {"start": f"systemctl start {UNIT} failed: Job failed."},
    }  # fmt: skip
    assert here.mode() is None
