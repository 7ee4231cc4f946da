"""Wherever a job is interrupted, it goes on with the legs that are left, or says why it may not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.execute import owned, pinned, recovery
from hio_validate.execute.work import Approved, Service, Work
from hio_validate.observe.sockets import owner_of
from tests.execute import tiny
from tests.execute.conftest import Begin, Trial, ceilings, work
from tests.execute.experiment import (
    APPROVAL_FILE,
    PLAN_FILE,
    ROOM,
    approval,
    fixture,
    pin,
    plan,
    prepared,
    stack,
    yaml,
)
from tests.execute.interruption import ORDER, WHERE, assert_only_the_rest_ran, goes_on, interrupted
from tests.small_repo import write

Serving = Callable[..., Service]


@pytest.mark.parametrize("where", WHERE)
def test_it_goes_on_after_an_interruption(begin: Begin, serving: Serving, tmp_path: Path, where: str) -> None:
    loading = tmp_path / "loading"
    own = serving(f"while:{loading}")
    trial = interrupted(begin, work(order=ORDER, port=own.port, during="stop", serving=own), where, loading)
    before = trial.job
    assert before.state == "closed", trial.tell()
    assert_only_the_rest_ran(before, goes_on(trial), WHERE[where])
    assert trial.job.last("restored")["proven"]
    assert owned.identity_of(owner_of(own.port).pid)


def test_after_the_last_leg_nothing_is_left_to_go_on_with(begin: Begin, serving: Serving) -> None:
    own = serving()
    trial = begin(work(port=own.port, during="stop", serving=own))
    trial.hold(tiny.RECORDING)
    trial.reaches("restored")
    os.kill(trial.supervisor, signal.SIGKILL)
    trial.release(tiny.RECORDING)
    assert trial.ends().last("closed")["outcome"] == "completed"
    assert why_not(trial) == "all its legs ran"


def test_a_death_after_the_last_leg_takes_nothing_from_the_legs(begin: Begin) -> None:
    trial = begin(work())
    trial.ends()
    journal = trial.folder / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"ended"' not in line and '"closed"' not in line))
    assert trial.job.state == "unsafe"
    recovery.recover(trial.job, tiny.PARTS)
    assert trial.job.last("closed")["outcome"] == "completed"
    assert why_not(trial) == "all its legs ran"


def why_not(trial: Trial) -> str:
    said = recovery.why_not_resumable(trial.job, tiny.PARTS)
    assert said
    return said


def stopped(begin: Begin, what: Work) -> Trial:
    """A trial that somebody stopped in its first leg."""
    trial = begin(what, held=True)
    trial.is_in_leg(1)
    os.kill(trial.supervisor, signal.SIGTERM)
    trial.ends()
    return trial


def test_one_that_is_complete_does_not_go_on(begin: Begin) -> None:
    trial = begin(work())
    trial.ends()
    assert why_not(trial) == "all its legs ran"


def test_one_that_a_ceiling_ended_does_not_go_on(begin: Begin) -> None:
    trial = begin(work(modes=("grow",), ceilings=ceilings(memory=200 << 20)))
    trial.ends()
    assert "it was not interrupted but aborted" in why_not(trial)


def test_one_of_another_boot_does_not_go_on(begin: Begin) -> None:
    trial = stopped(begin, work())
    journal = trial.folder / "journal.jsonl"
    journal.write_text(journal.read_text().replace(owned.boot_id(), "another"))
    assert "this host was started anew since" in why_not(trial)


def test_one_with_other_work_does_not_go_on(begin: Begin) -> None:
    trial = stopped(begin, work())
    (trial.folder / "work.json").write_text((trial.folder / "work.json").read_text() + "\n")
    assert "its work has other bytes" in why_not(trial)


def test_one_whose_approval_expired_does_not_go_on(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    approved = Approved("yes@sha256:0", "load-test", "2099-01-01T00:00:00Z")
    trial = stopped(begin, work(approvals=(approved,)))
    assert recovery.why_not_resumable(trial.job, tiny.PARTS) is None
    monkeypatch.setattr(recovery, "now", lambda: "2099-01-01T00:00:00Z")
    assert why_not(trial) == "the approval yes (load-test) expired at 2099-01-01T00:00:00Z"


def test_one_whose_program_was_replaced_does_not_go_on(begin: Begin, tmp_path: Path) -> None:
    what = work()
    command = what.arms["one"].command
    program = tmp_path / "engine"
    program.write_text(f'#!/bin/sh\nexec {command.program} "$@"\n')
    program.chmod(0o755)
    arm = replace(what.arms["one"], command=replace(command, program=str(program)))
    trial = stopped(begin, replace(what, arms={"one": arm}))
    program.write_text(program.read_text() + "# another\n")
    assert why_not(trial) == f"a program is not what it was: {program} has other bytes"


def test_one_that_left_the_host_unsafe_is_recovered_first(begin: Begin) -> None:
    trial = begin(work(), held=True)
    trial.is_in_leg(1)
    supervisor = trial.supervisor
    os.kill(supervisor, signal.SIGSTOP)
    trial.guardian.kill()
    os.kill(supervisor, signal.SIGKILL)
    trial.ends()
    assert why_not(trial) == "it left this host unsafe; hio runs --recover job comes first"


EDITS = {
    "the plan threads": {PLAN_FILE: yaml(plan(question="is another question asked now?"))},
    "the stack base": {f"{ROOM}/stacks/base.yaml": yaml(stack(more=[["--mlock"]]))},
    "the fixture tides": {f"{ROOM}/fixtures/tides.yaml": yaml(fixture(seed=2))},
    "the entry yes": {APPROVAL_FILE: yaml(approval(scope="everything"))},
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_document_is_another_plan(begin: Begin, tmp_path: Path, what: str) -> None:
    planned = prepared(tmp_path / "repo")
    assert isinstance(planned, Work), planned
    assert pinned.changed(planned) is None
    trial = stopped(begin, work())
    write(tmp_path / "repo", EDITS[what])
    real = replace(tiny.PARTS, changed=lambda _work: pinned.changed(planned))
    said = recovery.why_not_resumable(trial.job, real)
    assert said == (
        f"{what} has other bytes than those that were used; "
        "an edited document is another plan: restore it, or run the other one"
    )


def test_a_plan_that_is_gone_and_a_withdrawn_approval_are_told(tmp_path: Path) -> None:
    planned = prepared(tmp_path / "repo")
    assert isinstance(planned, Work), planned
    correction = {"hio": "entry/v1", "id": "no", "service": planned.service, "after": [pin("yes", yaml(approval()))],
                  "kind": "correction", "by": "owner", "at": "2026-11-29T01:00:00Z", "corrects": "yes"}  # fmt: skip
    write(tmp_path / "repo", {"ledger/here/tiny/2026/no.yaml": yaml(correction)})
    assert pinned.changed(planned) == "the approval yes (load-test) was corrected by no"
    (tmp_path / "repo" / PLAN_FILE).unlink()
    assert (pinned.changed(planned) or "").startswith("the plan threads is gone; ")
