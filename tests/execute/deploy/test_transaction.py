"""A switch, to its end or back, and whoever dies at whatever event: one service serves, and the ledger says which."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Severity
from hio_validate.execute import preflight
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import BACK, FORWARD
from hio_validate.observe.sockets import listening
from tests.execute.conftest import state
from tests.execute.deploy import town
from tests.execute.deploy.conftest import Settle, Town, Watch, engines, settle, watched

__all__ = ["settle", "state", "watched"]


def assert_one_serves(here: Town, made: Deployment, mode: str | None) -> None:
    """Exactly one process serves, it is the one that the ledger names, and the repository is without error."""
    assert made.state == "closed", here.tell(made)
    assert len(engines(here.port)) == 1, here.tell(made)
    assert here.mode() == mode, here.tell(made)
    said = here.ledger.deployment
    assert said is not None, here.tell(made)
    stack = said.model.pins.candidate if said.model.kind == "deployment" else said.model.pins.stack
    assert stack.partition("@")[0] == (mode or "base")
    assert said.name == made.name
    assert [each.event for each in made.events].count("recorded") == 1
    assert len(here.ledger.entries) == 3
    assert not list(engine.run(here.view.repo).of(Severity.ERROR))


@pytest.mark.parametrize("serves", ["kept", "bare", "nothing"])
def test_a_candidate_serves_and_the_ledger_says_so(settle: Settle, watched: Watch, serves: str) -> None:
    here = settle(serves=serves)
    watched(here)
    made = here.carried_out(here.work("quick"))
    assert_one_serves(here, made, "quick")
    assert here.local.is_kept()
    assert [each.event for each in made.events if each.event in FORWARD] == list(FORWARD)
    entry = here.ledger.deployment.model  # type: ignore[union-attr]
    assert entry.checks["prefix-reuse"] == "passed"
    for role in (
        "matrix",
        "parent",
        "candidate",
        "capture",
        "rollback",
        "approval",
        "qualification",
        "rollback_plan",
    ):
        assert getattr(entry.pins, role), role


@pytest.mark.parametrize("serves", ["kept", "bare", "nothing"])
def test_what_is_not_proven_is_taken_back(settle: Settle, watched: Watch, serves: str) -> None:
    here = settle("forgets", serves=serves)
    watched(here)
    made = here.carried_out(here.work("forgets"))
    assert made.state == "closed", here.tell(made)
    entry = here.ledger.deployment.model  # type: ignore[union-attr]
    assert entry.attempted.startswith("forgets@")
    assert entry.failed == {
        "step": "verification",
        "prefix-reuse": "the second of two equal requests took no token from the cache",
    }
    if serves == "nothing":
        assert not listening(here.port) and not engines(here.port)
        assert entry.pins.stack is None and entry.checks == {"nothing serves, as before": "passed"}
    else:
        assert_one_serves(here, made, None)
        assert here.local.is_kept() == (serves == "kept")
    names = [each for each in BACK if each != "restoring" or serves != "nothing"]
    assert [each.event for each in made.events if each.event in BACK] == names


KILLED = [
    f"{when} {event}"
    for event in FORWARD
    for when in ("before", "after")
    if f"{when} {event}" != "after closed"
]
TAKEN_BACK = [
    f"{when} {event}" for event in BACK for when in ("before", "after") if f"{when} {event}" != "after closed"
]


def stands(where: str) -> bool:
    """Whether a deployment that is interrupted there stands: from the event `proven` on."""
    when, event = where.split()
    return FORWARD.index(event) >= FORWARD.index("proven") + (when == "before" and event == "proven")


def is_untouched(where: str) -> bool:
    """Whether nothing of the host was changed when it was interrupted there."""
    when, event = where.split()
    return FORWARD.index(event) < FORWARD.index("installing") + (when == "before" and event == "installing")


@pytest.mark.parametrize("where", KILLED)
def test_a_worker_that_is_killed_leaves_one_service(settle: Settle, watched: Watch, where: str) -> None:
    here = settle()
    watched(here)
    made = here.carried_out(here.work("quick"), LITTLE_KILL=f"worker {where}")
    if is_untouched(where):
        assert made.state == "closed" and made.last("closed") == {"outcome": "refused"}, here.tell(made)
        assert here.mode() is None and here.ledger.deployment is None and here.local.is_kept()
    else:
        assert_one_serves(here, made, "quick" if stands(where) else None)
        assert here.local.is_kept()


@pytest.mark.parametrize("where", TAKEN_BACK)
def test_a_worker_that_is_killed_on_the_way_back_leaves_one_service(
    settle: Settle, watched: Watch, where: str
) -> None:
    here = settle("forgets")
    watched(here)
    made = here.carried_out(here.work("forgets"), LITTLE_KILL=f"worker {where}")
    assert_one_serves(here, made, None)
    assert here.local.is_kept()


BOTH_KILLED = [each for each in KILLED if each.startswith("before")]
"""Where a step was done and is not on record; tests/lab/test_deploy.py kills them where it is."""


@pytest.mark.parametrize("where", BOTH_KILLED)
def test_worker_and_guardian_that_are_killed_leave_a_host_that_recovers(
    settle: Settle, watched: Watch, where: str
) -> None:
    here = settle(serves="bare")
    watched(here)
    made = here.carried_out(here.work("quick"), LITTLE_KILL=f"worker {where}", LITTLE_GUARDIAN_DIES="yes")
    assert made.state == "unsafe", here.tell(made)
    assert len(engines(here.port)) <= 1
    assert f"since {made.name}" in (preflight.refused(here.state) or "")
    said = here.hio("deploy", "--recover")
    assert said.returncode == 0, said.stderr + here.tell(made)
    made = Deployment(made.folder)
    assert preflight.refused(here.state) is None
    if is_untouched(where):
        assert made.last("closed") == {"outcome": "refused"} and here.mode() is None
        assert len(engines(here.port)) == 1 and here.ledger.deployment is None
    else:
        assert_one_serves(here, made, "quick" if stands(where) else None)


@pytest.mark.parametrize("where", ["before taken-away", "after put-back", "after restoring", "after entered"])
def test_a_recovery_that_is_killed_is_recovered(settle: Settle, watched: Watch, where: str) -> None:
    here = settle()
    watched(here)
    made = here.carried_out(
        here.work("quick"), LITTLE_KILL="worker after running", LITTLE_GUARDIAN_DIES="yes"
    )
    killed = here.hio("deploy", "--recover", LITTLE_KILL=f"hio {where}")
    assert killed.returncode == -signal.SIGKILL
    assert Deployment(made.folder).state == "unsafe"
    assert here.hio("deploy", "--recover").returncode == 0
    assert_one_serves(here, Deployment(made.folder), None)


def test_the_keeper_of_the_old_one_is_gone(settle: Settle, tmp_path: Path) -> None:
    here = settle()
    before = here.local.keeper()
    made = here.carried_out(here.work("quick"))
    assert_one_serves(here, made, "quick")
    assert here.local.keeper() != before
    assert town.SERVICE in here.ledger.service


def test_what_serves_already_is_started_anew_or_left_as_it_was(settle: Settle, watched: Watch) -> None:
    here = settle(serves="bare")
    watched(here)
    made = here.carried_out(here.work("base"), LITTLE_KILL="worker after running")
    assert made.last("closed") == {"outcome": "rolled-back"}, here.tell(made)
    entry = here.ledger.deployment.model  # type: ignore[union-attr]
    assert entry.attempted == entry.pins.stack and entry.failed["step"] == "running"
    assert here.mode() is None and not here.local.is_kept()
