"""The committed captures are what the lab engine really is: each stack is started again and captured anew."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hio_validate.history import Folder
from hio_validate.repo import load
from tests.lab.serving import LAB, ROOT, SERVICE, command, serving

pytestmark = pytest.mark.lab

STACKS = ["base", "threads-2", "flash-on", "build-11434"]
VOLATILE = {"server.system-libraries"}
"""The host's own libraries move with the host's packages; docs/guide/observing.md lists what is volatile."""


def hio(*arguments: str, repo: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hio_validate", *arguments, "--repo", str(repo)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A copy of the recorded documents, so that new captures stay out of the checkout."""
    for room in ("matrix", "ledger", "manifests"):
        shutil.copytree(ROOT / room, tmp_path / "repo" / room)
    return tmp_path / "repo"


@pytest.mark.parametrize("stack", STACKS)
def test_a_fresh_process_is_what_was_captured(stack: str, repo: Path, tmp_path: Path) -> None:
    argv, port = command(stack)
    with serving(argv, port, tmp_path / "server.log") as server:
        done = hio(
            "capture", "--pid", str(server.pid), "--service", SERVICE, "--stack", stack, "--name", "again",
            "--log", str(server.log), repo=repo,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    committed = f"{stack}-2026-11-29"
    compared = json.loads(
        hio("diff", committed, "again", "--service", SERVICE, "--format", "json", repo=repo).stdout
    )
    assert {each["setting"] for each in compared["differences"]} <= VOLATILE
    assert hio("validate", repo=repo).returncode == 0
    assert_hashes_are_the_installed_files(repo)


def assert_hashes_are_the_installed_files(repo: Path) -> None:
    seen = load(Folder(repo)).find("capture/v1", "again", SERVICE).model.processes["server"]
    own = [seen.executable, *(each for each in seen.libraries.values() if str(LAB) in each.path)]
    assert len(own) >= 8
    for mapped in [*own, seen.artifacts["model"]]:
        assert mapped.how == "hash"
        assert mapped.sha256 == hashlib.sha256(Path(mapped.path).read_bytes()).hexdigest()


def test_the_installed_files_are_those_that_the_lab_build_listed() -> None:
    listed = dict(reversed(line.split("  ")) for line in (LAB / "installed.sha256").read_text().splitlines())
    assert any(name.endswith("bin/llama-server") for name in listed)
    for name, sha256 in listed.items():
        assert hashlib.sha256((LAB / name).read_bytes()).hexdigest() == sha256


def test_the_recorded_builds_are_the_installed_ones() -> None:
    for item in load(Folder(ROOT)).of("engine/v1"):
        folder = LAB / f"llama-{item.name.removeprefix('b')}" / "bin"
        recorded = item.model.identity
        assert hashlib.sha256((folder / "llama-server").read_bytes()).hexdigest() == recorded.executable
        for name, sha256 in recorded.libraries.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
