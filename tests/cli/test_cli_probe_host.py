"""hio probe host: asked, it measures this machine; not asked, it says what it would do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hio_validate.cli import probe_host
from hio_validate.execute import lock
from hio_validate.models.ceilings import Ceilings
from tests.cli.console import HIO, hio
from tests.observe.conftest import eventually
from tests.probing.conftest import TINY
from tests.small_repo import committed

KEPT = "manifests/ceilings"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "state"))
    return committed(tmp_path / "repo")


@pytest.fixture
def probe(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command in this process, which measures as little as there is."""
    monkeypatch.setattr(probe_host, "QUICK", TINY)

    def run(*words: str) -> Result:
        return CliRunner().invoke(probe_host.host, ["--quick", "--repo", str(repo), *words])

    return run


def test_without_yes_it_says_what_it_would_do_and_measures_nothing(repo: Path) -> None:
    said = hio(repo, "probe", "host", "--write")
    assert said.code == 0
    for word in ("threads", "time       up to 90 s", "memory", "disk       512 MiB", "load", "listening"):
        assert word in said.out
    assert said.out.endswith("nothing has been measured yet; --yes measures, --yes --write keeps it, too\n")
    assert max(map(len, said.out.splitlines())) <= 80
    assert not (repo / KEPT).exists()


def test_without_yes_json_says_that_nothing_was_measured(repo: Path) -> None:
    said = json.loads(hio(repo, "probe", "host", "--quick", "--format", "json").out)
    assert (said["version"], said["measured"], said["ceilings"], said["wrote"]) == (1, False, None, None)
    assert said["before"]["time"] == "up to 20 s"


def test_it_is_measured_kept_and_judged_and_never_replaced(probe: Callable[..., Result], repo: Path) -> None:
    pytest.importorskip("numpy")
    done = probe("--yes", "--write", "--name", "here", "--format", "json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["measured"], said["wrote"]) == (True, f"{KEPT}/here.yaml")
    assert Ceilings.model_validate(said["ceilings"]).how == "measured"
    written = (repo / KEPT / "here.yaml").read_bytes()
    assert b"# Measured by hio probe host; never edited." in written
    judged = hio(repo, "validate", f"{KEPT}/here.yaml")
    assert judged.code == 0, judged.out
    again = probe("--yes", "--write", "--name", "here")
    assert again.exit_code == 1
    assert again.stderr == f"hio: {KEPT}/here.yaml exists and a measurement is never replaced; give another --name\n"  # fmt: skip
    assert (repo / KEPT / "here.yaml").read_bytes() == written


def test_what_is_not_written_is_shown_and_the_name_is_the_hosts_and_the_date(
    probe: Callable[..., Result], repo: Path
) -> None:
    pytest.importorskip("numpy")
    done = probe("--yes")
    assert done.exit_code == 0, done.output
    short = probe_host.probing.machine().host.id
    assert short is not None
    assert f"nothing was kept; --write keeps it as {KEPT}/{short[:12]}-20" in done.stdout
    assert "memory-read-1" in done.stdout and "GB/s" in done.stdout
    assert not (repo / KEPT).exists()


def test_where_a_trial_runs_nothing_is_measured(probe: Callable[..., Result]) -> None:
    with lock.take():
        done = probe("--yes")
        asked = probe()
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"hio: {lock.TAKEN}\n"
    assert asked.exit_code == 0
    assert "warning: --yes would be refused: another trial or deployment runs" in asked.stdout


def test_no_trial_begins_while_it_measures(
    probe: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    def refuses(*_: Any) -> Ceilings:
        taken.append(lock.is_taken())
        raise probe_host.CannotProbe("nothing could be measured: a test")

    monkeypatch.setattr(probe_host.probing, "ceilings", refuses)
    done = probe("--yes")
    assert (taken, done.exit_code) == ([True], 3)
    assert done.stderr.endswith("hio: nothing could be measured: a test\n")
    assert not lock.is_taken()


@pytest.mark.parametrize(("load", "warned"), [(0.5, False), (0.51, True)])
def test_a_load_above_a_half_is_warned_of(
    probe: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, load: float, warned: bool
) -> None:
    found = replace(probe_host.probing.machine(), load=load)
    monkeypatch.setattr(probe_host.probing, "machine", lambda: found)
    assert ("warning: the load is 0.51, above 0.5" in probe().stdout) is warned


@pytest.mark.parametrize("name", ["../up", "a b", "", "x" * 101, "n\n"])
def test_a_name_that_is_none_is_refused_before_anything_is_measured(repo: Path, name: str) -> None:
    said = hio(repo, "probe", "host", "--yes", "--name", name)
    assert said.code == 2
    assert "is no name" in said.err and said.out == ""


def test_a_disk_that_cannot_be_written_is_refused(
    probe: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = os.access
    monkeypatch.setattr(  # root may write everywhere
        os,
        "access",
        lambda path, mode: allowed(path, mode) and (os.fspath(path), mode) != (str(tmp_path), os.W_OK),
    )
    done = probe("--disk", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr == (
        f"hio: --disk {tmp_path} cannot be written: expected a folder where a file can be made for a moment\n"
    )


def test_a_missing_library_is_named_with_the_extra(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/numpy.py").write_text("raise ModuleNotFoundError('no numpy', name='numpy')\n")
    paths = os.pathsep.join([str(tmp_path / "without"), *sys.path])
    said = hio(repo, "probe", "host", "--yes", "--write", env={"PYTHONPATH": paths})
    assert said.code == 3
    assert said.err.splitlines()[-1] == "hio: numpy is not installed, and measuring needs it: pip install 'hio-validate[estimate]'"  # fmt: skip
    assert not (repo / KEPT).exists()


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_interrupted_it_leaves_no_document_no_file_and_no_process(repo: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    disk = tmp_path / "disk"
    disk.mkdir()
    child = subprocess.Popen(
        [*HIO, "probe", "host", "--yes", "--quick", "--write", "--disk", disk], cwd=repo, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert child.stderr is not None
    assert any("of at most 20 s" in line for line in child.stderr)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = child.communicate(timeout=600)
    assert child.returncode == 130, err
    assert err.splitlines()[-1] == "hio: interrupted: nothing was kept"
    assert "Traceback" not in err and out == ""
    assert not (repo / KEPT).exists() and not [*disk.iterdir()]
    eventually(lambda: not _has_members(child.pid))  # what was asked to end may take a moment
