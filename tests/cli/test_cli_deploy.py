"""hio deploy as a person calls it: the page, the plan that is kept, what is refused, and a terminal that is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hio_validate.execute import lock, owned
from hio_validate.execute.deploy import deployments
from tests.execute import tiny
from tests.execute.conftest import state, wait_for
from tests.execute.deploy import little, town
from tests.execute.deploy.conftest import Settle, Town, engines, settle
from tests.small_repo import write

__all__ = ["settle", "state"]


def words(text: str) -> str:
    return " ".join(text.split())


def kept_plan(here: Town, stack: str = "quick") -> Path:
    """A plan that was kept."""
    plan = here.root.parent / "plan.json"
    said = here.hio("deploy", stack, "--overwrite", "--out", str(plan))
    assert said.returncode == 0, said.stdout + said.stderr
    return plan


def test_the_page_says_everything_and_does_nothing(settle: Settle) -> None:
    here = settle()
    before = here.local.main()
    said = here.hio("deploy", "quick", "--overwrite")
    assert said.returncode == 0, said.stdout
    assert said.stdout.startswith(f"deploy quick as here/small (127.0.0.1:{here.port}, local)\n")
    assert f"serves now: process {before.pid if before else 0}" in said.stdout
    assert "server.mode  none -> quick" in said.stdout
    assert '+    "--mode",' in said.stdout
    assert "hio did NOT write what is there: it is kept and needs --overwrite" in words(said.stdout)
    assert "approval       yes" in said.stdout and "qualification  q-quick" in said.stdout
    assert "taken back, and base serves again, which is proven, too" in words(said.stdout)
    assert said.stdout.endswith("nothing has happened yet; add --yes to do it\n")
    assert (
        max(map(len, (line for line in said.stdout.splitlines() if "sha256" not in line and "/" not in line)))
        <= 80
    )
    assert here.local.main() == before and not deployments.all_deployments(here.state)
    shape = json.loads(here.hio("deploy", "quick", "--overwrite", "--format", "json").stdout)
    assert (shape["version"], shape["refused"], shape["kind"], shape["exit_code"]) == (1, [], "deploy", 0)
    assert shape["difference"]["differences"][0]["setting"] == "server.mode"


def test_with_yes_it_follows_to_the_end(settle: Settle) -> None:
    here = settle()
    said = here.hio("deploy", "quick", "--overwrite", "--yes")
    assert said.returncode == 0, said.stdout + said.stderr
    lines = [line[10:] for line in said.stdout.splitlines() if line[2:3] == ":"]
    assert lines[0] == "everything it stands on holds" and lines[-1] == "deployed"
    assert here.mode() == "quick"
    (made,) = deployments.all_deployments(here.state)
    page = (made.folder / "rollback.md").read_text()
    assert "hio rollback here/small --yes" in page and "## By hand, if hio is gone" in page
    assert made.name in here.hio("deploy", "--list").stdout
    (listed,) = json.loads(here.hio("deploy", "--list", "--format", "json").stdout)["deployments"]
    assert (listed["deployment"], listed["state"], listed["outcome"]) == (made.name, "closed", "deployed")
    file = here.root / f"{town.ROOM}/rollbacks/{made.name}.yaml"
    assert "rollback/v1" in file.read_text()


def test_what_is_taken_back_is_1(settle: Settle) -> None:
    here, over = settle("sick"), {"LITTLE_OVER": "running"}
    said = here.hio("deploy", "sick", "--overwrite", "--yes", **over)
    assert said.returncode == 1
    assert "FAILED (readiness): readiness: /health does not answer 200 within 300 s" in said.stdout
    assert "it is as it was before, proven by 12 checks" in said.stdout and "rolled back\n" in said.stdout
    again = here.hio("deploy", "sick", "--overwrite", "--yes", "--format", "json", **over)
    shape = json.loads(again.stdout)
    assert (shape["outcome"], shape["failed"]["step"], shape["exit_code"]) == ("rolled-back", "readiness", 1)


def test_a_plan_is_carried_out_once(settle: Settle) -> None:
    here = settle()
    plan = kept_plan(here)
    assert here.hio("deploy", "--plan", str(plan), "--yes").returncode == 0
    assert here.mode() == "quick"
    again = here.hio("deploy", "--plan", str(plan), "--yes")
    assert again.returncode == 1
    assert (
        "was carried out already, as" in again.stderr and "a plan is used once; make it again" in again.stderr
    )
    plan.write_text(json.dumps(json.loads(plan.read_text())))  # spaced otherwise, it is the same plan
    assert "was carried out already" in here.hio("deploy", "--plan", str(plan), "--yes").stderr


def test_a_plan_for_another_host_is_refused(settle: Settle) -> None:
    here = settle()
    plan = kept_plan(here)
    data = json.loads(plan.read_text())
    data["found"]["host"] = "0" * 64
    plan.write_text(json.dumps(data))
    said = here.hio("deploy", "--plan", str(plan), "--yes")
    assert (said.returncode, "was made on another host" in said.stderr) == (1, True)
    assert here.mode() is None


@pytest.mark.parametrize("change", ["process", "file", "ledger"])
def test_a_stale_plan_is_refused(settle: Settle, change: str) -> None:
    here = settle()
    plan = kept_plan(here)
    if change == "process":
        first = here.local.main()
        assert first
        owned.send(first, signal.SIGKILL)
        wait_for(lambda: here.local.main() not in (None, first) and tiny.answers(here.port))
    elif change == "file":
        here.local.launch_file.write_text(here.local.launch_file.read_text() + "\n")
    else:
        text = (here.root / f"ledger/{town.SERVICE}/2026/yes.yaml").read_text()
        more = town.entry(
            "later", [town.pin("yes", text)], kind="opportunity", result_kind="speed", benefit="b", regression="r",
            uncertainty="u", workloads=["w"], next="n",
        )  # fmt: skip
        (here.root / f"ledger/{town.SERVICE}/2026/later.yaml").write_text(more)
    said = here.hio("deploy", "--plan", str(plan), "--yes")
    assert said.returncode == 1, said.stdout
    assert "the plan is stale: " in words(said.stdout)
    assert {"process": "then process", "file": "has other bytes", "ledger": "the ledger has grown (later)"}[
        change
    ] in words(said.stdout)
    assert here.mode() is None and not deployments.all_deployments(here.state)


def test_a_plan_that_somebody_edited_is_refused(settle: Settle) -> None:
    here = settle()
    plan = kept_plan(here)
    data = json.loads(plan.read_text())
    data["to"]["command"]["arguments"].append("sick")
    plan.write_text(json.dumps(data))
    said = here.hio("deploy", "--plan", str(plan), "--yes")
    assert (said.returncode, "is not what these documents come to (to differ)" in words(said.stdout)) == (
        1,
        True,
    )
    plan.write_text("{}")
    assert "is no plan of hio deploy" in here.hio("deploy", "--plan", str(plan)).stderr


def test_bytes_that_hio_did_not_write_need_a_word(settle: Settle) -> None:
    here = settle()
    theirs = here.local.launch_file.read_bytes()
    said = here.hio("deploy", "quick", "--yes")
    assert said.returncode == 1 and "say --overwrite (they are kept)" in words(said.stdout)
    assert here.local.launch_file.read_bytes() == theirs
    assert here.hio("deploy", "quick", "--yes", "--overwrite").returncode == 0
    (made,) = deployments.all_deployments(here.state)
    assert theirs in [each.read_bytes() for each in (made.folder / "files").iterdir()]
    assert "hio did NOT write" not in here.hio("deploy", "quick").stdout


def test_a_key_that_somebody_wrote_into_a_file_is_not_shown(settle: Settle) -> None:
    here = settle()
    with here.local.launch_file.open("a") as file:
        file.write("\nMY_API_KEY=geheim\n")
    said = here.hio("deploy", "quick")
    assert "-MY_API_KEY=withheld" in said.stdout and '"secrets": {}' in said.stdout
    assert "geheim" not in said.stdout + said.stderr


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (f"ledger/{town.SERVICE}/2026/yes.yaml", "no approval of kind deploy covers quick now"),
        (f"matrix/{town.SERVICE}/base-to-quick.yaml", "no matrix accounts for the change from base to quick"),
        (f"{town.ROOM}/qualifications/q-quick.yaml", "nothing says that quick does what serving needs"),
    ],
)
def test_a_gate_that_is_closed_is_told_and_nothing_happens(settle: Settle, file: str, said: str) -> None:
    here = settle()
    (here.root / file).unlink()
    told = here.hio("deploy", "quick", "--overwrite", "--yes")
    assert told.returncode == 1
    assert f"refused: {said}" in words(told.stdout)
    assert here.mode() is None and not deployments.all_deployments(here.state)


def test_a_qualification_that_failed_or_is_about_other_bytes_is_none(settle: Settle) -> None:
    here = settle()
    text = (here.root / f"{town.ROOM}/stacks/quick.yaml").read_text()
    write(here.root, town.qualification("quick", text, healthy=False))
    assert "the qualification q-quick did not pass: identity:" in words(here.hio("deploy", "quick").stdout)
    write(here.root, town.qualification("quick", text + " "))
    assert "q-quick is about other bytes of it" in words(here.hio("deploy", "quick").stdout)
    write(here.root, town.qualification("quick", text))


def test_a_stranger_on_the_port_is_refused(settle: Settle) -> None:
    here = settle(serves="nothing")
    stranger = subprocess.Popen([sys.executable, "-m", "http.server", str(here.port), "--bind", "127.0.0.1"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        wait_for(lambda: "serves now: process" in here.hio("deploy", "quick").stdout)
        told = here.hio("deploy", "quick", "--yes")
        assert told.returncode == 1
        assert f"(process {stranger.pid}) is not base, which serves by the ledger" in words(told.stdout)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_deployment_that_runs_lets_nothing_else_begin(settle: Settle) -> None:
    here = settle()
    with lock.take():
        said = here.hio("deploy", "quick", "--overwrite", "--yes")
    assert (said.returncode, said.stderr) == (1, f"hio: {lock.TAKEN}\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("until", ["everything it stands on holds", "starting", "recorded in"])
def test_a_deployment_outlives_the_terminal(
    settle: Settle, tmp_path: Path, number: signal.Signals, until: str
) -> None:
    here = settle()
    call = [sys.executable, "-m", little.MODULE, "hio", "deploy", "quick", "--overwrite", "--yes"]
    with subprocess.Popen(
        call, cwd=here.root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdout
        assert any(until.encode() in line for line in process.stdout)
        os.killpg(process.pid, number)
    (made,) = deployments.all_deployments(here.state)
    wait_for(lambda: deployments.Deployment(made.folder).state == "closed", lambda: here.tell(made))
    assert here.mode() == "quick" and len(engines(here.port)) == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("deploy",), "say which STACK to deploy"),
        (("deploy", "quick", "--plan", "x"), "say which STACK to deploy"),
        (("deploy", "nothing"), "no readable stack is called nothing"),
        (("deploy", "--recover", "nothing"), "no deployment is called nothing"),
    ],
)
def test_a_slip_is_one_sentence(settle: Settle, call: tuple[str, ...], said: str) -> None:
    done = settle(serves="nothing").hio(*call)
    assert (done.returncode, said in done.stderr, len(done.stderr.splitlines())) == (2, True, 1)


def test_nothing_to_recover_and_nothing_to_take_back_is_said(settle: Settle) -> None:
    here = settle(serves="nothing")
    assert here.hio("deploy", "--recover").stderr == "no deployment left this host unsafe\n"
    assert here.hio("deploy", "--list").stdout == "nothing was deployed on this host\n"
    for asked in ("--list", "--recover"):
        shape = json.loads(here.hio("deploy", asked, "--format", "json").stdout)
        assert shape == {"version": 1, "deployments": [], "exit_code": 0}
    told = here.hio("rollback")
    assert (told.returncode, told.stderr) == (1, "hio: the ledger knows of no deployment\n")
