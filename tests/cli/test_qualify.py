"""hio qualify: nothing without a word and an approval, one receipt written once, the process ended with hio."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hio_validate.execute import owned
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.execute.conftest import wait_for
from tests.execute.experiment import APPROVAL_FILE, SERVICE, approval, pin, yaml
from tests.execute.place import BASELINE, Place, place, running
from tests.small_repo import sha

ROOT = Path(__file__).parents[2]
HOME = f"manifests/services/{SERVICE}"


class Qualifying:
    """hio at a place, with a state folder of its own."""

    def __init__(self, at: Place, state: Path) -> None:
        self.at, self.state = at, state

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "HIO_STATE": str(self.state)}

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "hio_validate", *words, "--repo", str(self.at.root)]

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*words), capture_output=True, text=True, check=False, env=self.environment
        )

    def approve(self, **more: object) -> None:
        first = (self.at.root / BASELINE).read_text()
        given = {"after": [pin("b0", first)], "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", **more}
        (self.at.root / APPROVAL_FILE).write_text(yaml(approval(**given)))

    def carriers(self) -> list[Path]:
        """Processes that carry the mark of a qualification in this state folder."""
        return [each for each in (self.state / "qualify").glob("*") if owned.carriers(str(each))]


@pytest.fixture
def hio(tmp_path: Path) -> Iterator[Qualifying]:
    at = place(tmp_path)
    with running(at.command(), at.port) as pid:
        at.record(pid)
    made = Qualifying(at, tmp_path / "state")
    yield made
    assert made.carriers() == []


def test_nothing_happens_without_an_approval_and_without_a_word(hio: Qualifying) -> None:
    without = hio("qualify", "base", "--yes")
    assert without.returncode == 1 and "no approval of kind load-test covers base now" in without.stderr
    hio.approve(until="2026-01-01T00:00:00Z")
    assert "yes expired at 2026-01-01T00:00:00Z" in hio("qualify", "base", "--yes").stderr
    hio.approve()
    shown = hio("qualify", "base")
    assert shown.returncode == 0 and "nothing has happened yet; add --yes" in shown.stdout
    assert not list((hio.at.root / HOME).glob("qualifications/*")) and not hio.state.exists()


def test_a_process_of_its_own_is_probed_and_the_receipt_is_written_once(hio: Qualifying) -> None:
    hio.approve()
    done = hio("qualify", "base", "--name", "first", "--yes")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "first: 6 of 6 probes passed" in done.stdout
    repo = load(Folder(hio.at.root))
    receipt = repo.find("qualification/v1", "first", SERVICE)
    assert receipt is not None and receipt.model is not None, receipt
    assert receipt.model.stack == f"base@{hio.at.stack().document.digest}"
    assert receipt.model.build == "b1" and receipt.model.process.artifacts["model"] != "unknown"
    rows = repo.beside(receipt, receipt.model.rows.file)
    assert rows is not None and sha(rows) == receipt.model.rows.sha256
    assert repo.find("capture/v1", "first-qualified", SERVICE) is not None
    again = hio("qualify", "base", "--name", "first", "--yes")
    assert again.returncode == 2 and "a qualification is never replaced" in again.stderr
    judged = hio("validate", "--format", "json")
    assert judged.returncode == 0, judged.stdout


def test_a_failing_probe_is_1_and_stays_on_record(hio: Qualifying) -> None:
    command = hio.at.command(LLAMA_LIKE="forgets")
    with running(command, hio.at.port) as pid:
        strange = hio("qualify", "base", "--port", str(hio.at.port), "--yes")
        assert strange.returncode == 1 and f"nothing was asked of process {pid}" in strange.stderr
        assert "LLAMA_LIKE" in strange.stdout
    with running(hio.at.command(), hio.at.port):
        sound = hio("qualify", "base", "--port", str(hio.at.port), "--yes", "--format", "json")
    said = json.loads(sound.stdout)
    assert (sound.returncode, said["passed"], said["version"]) == (0, True, 1)
    assert {each["verdict"] for each in said["probes"].values()} == {"passed"}


def test_a_program_that_does_not_start_and_a_taken_host_are_told(hio: Qualifying, tmp_path: Path) -> None:
    hio.approve()
    program = tmp_path / "bin" / "llama-server"
    whole = program.read_text()
    program.write_text(whole.split("\n")[0] + "\nraise SystemExit('no memory')\n")
    broken = hio("qualify", "base", "--yes")
    assert broken.returncode == 1 and "its log ends: no memory" in broken.stderr
    program.write_text(whole)
    holding = "import time\nfrom hio_validate.execute import lock\nheld = lock.take()\nprint('x', flush=True)\ntime.sleep(6000)"
    with subprocess.Popen(
        [sys.executable, "-c", holding], env=hio.environment, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline()
        taken = hio("qualify", "base", "--yes")
        holder.kill()
    assert taken.returncode == 1 and "runs on this host: hio runs" in taken.stderr


def test_hio_killed_in_the_middle_leaves_nothing_running(hio: Qualifying) -> None:
    hio.approve()
    hio.at.hold(1)
    with subprocess.Popen(
        hio.words("qualify", "base", "--yes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=hio.environment,
    ) as killed:  # fmt: skip
        assert killed.stderr is not None
        assert any("streaming" in line for line in killed.stderr)
        assert len(hio.carriers()) == 1
        killed.send_signal(signal.SIGKILL)
    wait_for(lambda: not hio.carriers())


def test_a_start_may_take_as_long_as_the_site_says(hio: Qualifying) -> None:
    hio.approve()
    (file,) = (hio.at.root / "manifests/sites").glob("*.yaml")
    site = {key: json.loads(value) for key, value in
            (line.split(": ", 1) for line in file.read_text().splitlines())}  # fmt: skip
    site['"services"']["tiny"]["limits"] = {"start_s": 0.001}
    file.write_text(yaml({json.loads(key): value for key, value in site.items()}))
    late = hio("qualify", "base", "--yes")
    assert late.returncode == 1 and "it is not ready within 0.001 s" in late.stderr
