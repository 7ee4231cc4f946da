"""hio verify: the table, the codes and the line for a cron job, of a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.execute.place import Place, place, running

ROOT = Path(__file__).parents[2]


def hio(*words: str, at: Place) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "hio_validate", *words, "--repo", str(at.root)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    """A place whose stack was recorded as it ran."""
    at = place(tmp_path)
    with running(at.command(), at.port) as pid:
        at.record(pid)
    yield at


def test_a_process_of_the_stack_is_proven_and_the_equal_points_are_folded(here: Place) -> None:
    with running(here.command(), here.port) as pid:
        short, long_ = hio("verify", "base", at=here), hio("verify", "base", "--all", at=here)
        brief = hio("verify", "base", "--brief", "--pid", str(pid), at=here)
        data = hio("verify", "base", "--format", "json", at=here)
    assert (short.returncode, long_.returncode, brief.returncode, data.returncode) == (0, 0, 0, 0)
    assert brief.stdout == short.stdout.split("\n\n")[0].replace("\n  ", " ") + "\n"
    assert f"base on here/tiny, process {pid}: proven, all " in brief.stdout
    assert "affinity" not in short.stdout and "affinity" in long_.stdout
    assert all(len(line) <= 80 for line in long_.stdout.splitlines())
    said = json.loads(data.stdout)
    assert (said["version"], said["proven"], said["pid"]) == (1, True, pid)
    assert said["counts"] == {"differs": 0, "not observable": 0, "equal": len(said["checks"])}


def test_drift_is_1_and_what_could_not_be_seen_is_3_and_stands_apart(here: Place, tmp_path: Path) -> None:
    with running(replace(here.command(), environment={"LD_BIND_NOW": "1"}), here.port):
        drift = hio("verify", "base", "--file", str(tmp_path / "gone"), at=here)
    with running(here.command(), here.port):
        unseen = hio("verify", "base", "--file", str(tmp_path / "gone"), at=here)
    assert (drift.returncode, unseen.returncode) == (1, 3)
    differs, rest = drift.stdout.split("NOT OBSERVABLE")
    assert "LD_BIND_NOW=1" in differs and "started after" in rest
    assert "DIFFERS" not in unseen.stdout and "not proven, 1 not observable" in unseen.stdout


def test_nobody_at_the_port_is_drift_and_a_place_that_nobody_knows_is_3(here: Place) -> None:
    nobody = hio("verify", "base", at=here)
    assert nobody.returncode == 1 and f"a process at port {here.port}" in nobody.stdout
    unit = hio("verify", "base", "--unit", "none.service", at=here)
    assert unit.returncode == 1 and "none.service" in unit.stdout
    (here.root / "manifests/sites/here.yaml").write_text("hio: site/v1\nname: here\n")
    lost = hio("verify", "base", at=here)
    assert (lost.returncode, lost.stdout) == (3, "") and "no site says where here/tiny runs" in lost.stderr
    for words in (
        ("--pid", "1", "--unit", "a.service"),
        ("--watch", "1", "--format", "json"),
        ("--pid", "0"),
    ):
        assert hio("verify", "base", *words, at=here).returncode == 2
    assert hio("verify", "nothing", at=here).returncode == 2


def test_watching_tells_only_what_changes_until_it_is_interrupted(here: Place) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [
        sys.executable,
        "-m",
        "hio_validate",
        "verify",
        "base",
        "--watch",
        "0.1",
        "--repo",
        str(here.root),
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as watching:
        assert watching.stdout is not None
        assert "DRIFT" in watching.stdout.readline()
        with running(here.command(), here.port) as pid:
            assert f"Z process {pid} in the place of none" in watching.stdout.readline()
            assert any(line.endswith("Z socket: equal\n") for line in watching.stdout)
            watching.send_signal(signal.SIGINT)
            watching.communicate(timeout=600)
    assert watching.returncode in (0, 1, 3)
