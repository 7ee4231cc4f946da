"""The way back that a deployment left: carried out once, on its host, over its own files, also when nothing serves."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from hio_validate.execute import owned
from hio_validate.execute.deploy import rolling
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.observe.sockets import listening
from tests.execute.conftest import state, wait_for
from tests.execute.deploy.conftest import Settle, Town, Watch, engines, settle, watched

__all__ = ["settle", "state", "watched"]

EVENTS = (
    "checked",
    "going-back",
    "taken-away",
    "put-back",
    "restoring",
    "restored",
    "recording",
    "entered",
    "recorded",
)


def deployed(settle: Settle, serves: str = "kept") -> Town:
    """A town where quick was deployed over the base."""
    here = settle(serves=serves)
    made = here.carried_out(here.work("quick"))
    assert made.last("closed") == {"outcome": "deployed"}, here.tell(made)
    return here


def assert_taken_back(here: Town, made: Deployment) -> None:
    """The base serves, alone, and the ledger says that it was rolled back once."""
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    assert len(engines(here.port)) == 1 and here.mode() is None
    entry = here.ledger.deployment
    assert entry is not None and entry.model.kind == "rollback"
    assert entry.model.undoes.endswith("deploy-quick") and entry.model.pins.stack.startswith("base@")
    assert len(here.ledger.entries) == 4


@pytest.mark.parametrize("serves", ["kept", "bare"])
def test_what_served_before_serves_again_as_it_did(settle: Settle, watched: Watch, serves: str) -> None:
    here = deployed(settle, serves)
    watched(here)
    assert_taken_back(here, here.carried_out(here.way_back()))
    assert here.local.is_kept() == (serves == "kept")


def test_a_candidate_that_crashed_for_good_is_taken_back(settle: Settle, watched: Watch) -> None:
    here = deployed(settle)
    keeper, main = here.local.keeper(), here.local.main()
    assert keeper and main
    for who in (keeper, main):
        owned.send(who, signal.SIGKILL)
    wait_for(lambda: not listening(here.port))
    watched(here)
    said = here.hio("rollback")
    assert "serves now: nobody listens on port" in said.stdout, said.stderr
    assert here.hio("rollback", "--yes").returncode == 0
    assert here.mode() is None and len(engines(here.port)) == 1


def test_the_first_deployment_is_taken_back_to_nothing(settle: Settle) -> None:
    here = deployed(settle, "nothing")
    made = here.carried_out(here.way_back())
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    assert not engines(here.port) and not here.local.launch_file.exists()
    assert here.ledger.deployment.model.pins.stack is None  # type: ignore[union-attr]


def test_it_is_done_once(settle: Settle) -> None:
    here = deployed(settle)
    assert here.hio("rollback", "here/small", "--yes").returncode == 0
    for words in ((), ("here/small",)):
        again = here.hio("rollback", *words, "--yes")
        assert (again.returncode, "was taken back already, by" in again.stderr) == (1, True)
    (entry,) = [each for each in here.ledger.entries if each.endswith("deploy-quick")]
    named = here.hio("rollback", entry, "--yes")
    assert (named.returncode, "is not what serves by the ledger any more" in named.stderr) == (1, True)
    assert here.mode() is None


def test_another_host_is_refused(settle: Settle, monkeypatch: pytest.MonkeyPatch) -> None:
    here = deployed(settle)
    view, other = here.view, "f" * 64
    monkeypatch.setattr("hio_validate.execute.deploy.found.machine", lambda: other)
    with pytest.raises(rolling.CannotRollBack, match="was carried out on another machine"):
        rolling.prepare(
            view, rolling.deployed(view, None), here.root, here.state, "2026-11-30T00:00:00Z", "ana", False
        )
    assert here.mode() == "quick"


def test_files_that_were_edited_since_are_kept_and_need_a_word(settle: Settle) -> None:
    here = deployed(settle)
    file = here.local.launch_file
    edited = file.read_text().replace('"version": 1', '"version":  1')
    file.write_text(edited)
    said = here.hio("rollback", "--yes")
    assert said.returncode == 1 and "has bytes that hio did not write" in " ".join(said.stdout.split())
    assert here.mode() == "quick"
    assert here.hio("rollback", "--yes", "--overwrite").returncode == 0
    assert here.mode() is None
    kept = [each.read_text() for each in (here.state / "deployments").glob("*rollback*/files/*")]
    assert edited in kept
    assert "quick" not in json.loads(file.read_text())["arguments"]


def test_bytes_that_are_gone_are_told(settle: Settle) -> None:
    here = deployed(settle)
    (folder,) = (here.state / "deployments").iterdir()
    os.rename(folder, here.state / "elsewhere")
    said = here.hio("rollback")
    assert said.returncode == 1 and "the bytes of before are gone" in said.stderr
    os.rename(here.state / "elsewhere", folder)


@pytest.mark.parametrize("where", [f"{when} {event}" for event in EVENTS for when in ("before", "after")])
def test_a_rollback_that_is_interrupted_is_finished(settle: Settle, watched: Watch, where: str) -> None:
    here = deployed(settle)
    watched(here)
    dies = {"LITTLE_GUARDIAN_DIES": "yes"} if where.startswith("after") else {}
    made = here.carried_out(here.way_back(), LITTLE_KILL=f"worker {where}", **dies)
    if dies:
        assert made.state == "unsafe", here.tell(made)
        assert here.hio("deploy", "--recover").returncode == 0, here.tell(made)
    made = Deployment(made.folder)
    if where in ("before checked", "after checked", "before going-back"):
        assert made.last("closed") == {"outcome": "refused"} and here.mode() == "quick"
        assert Path(here.local.launch_file).exists()
    else:
        assert_taken_back(here, made)


def test_an_attempt_that_came_to_nothing_leaves_the_way_back_of_what_serves(
    settle: Settle, watched: Watch
) -> None:
    here = deployed(settle)
    watched(here)
    attempt = here.carried_out(here.work("quick"), LITTLE_KILL="worker after running")
    assert attempt.last("closed") == {"outcome": "rolled-back"}, here.tell(attempt)
    entry = here.ledger.deployment
    assert entry is not None and entry.model.attempted == entry.model.pins.stack and here.mode() == "quick"
    made = here.carried_out(here.way_back())
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    assert here.ledger.deployment.model.undoes.endswith("deploy-quick")  # type: ignore[union-attr]
    assert here.mode() is None and len(engines(here.port)) == 1
