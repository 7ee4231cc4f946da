"""hio qualify on the real engine: a process of its own, every probe, a receipt that the rules take."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.serving import ROOT, SERVICE, command, serving
from tests.ports import free_port

pytestmark = pytest.mark.lab


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for room in ("matrix", "ledger", "manifests"):
        shutil.copytree(ROOT / room, tmp_path / "repo" / room)
    return tmp_path / "repo"


def hio(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HIO_STATE": str(repo.parent / "state"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "hio_validate", *words, "--repo", str(repo)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


@pytest.mark.parametrize("stack", ["base", "build-11434"])
def test_a_stack_passes_every_probe_and_its_receipt_is_taken(stack: str, repo: Path) -> None:
    hio(repo, "ledger", "append", "approval", "--service", SERVICE, "--approves", "load-test", "--stack", stack,
        "--scope", "probing", "--owner", "lab", "--until", "2099-01-01T00:00:00Z", "--by", "lab")  # fmt: skip
    done = hio(repo, "qualify", stack, "--name", "tried", "--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    probes = json.loads(done.stdout)["probes"]
    assert {name: each["verdict"] for name, each in probes.items()} == dict.fromkeys(probes, "passed")
    assert probes["populated-context"]["found"]["filled-percent"] > 99
    assert hio(repo, "validate").returncode == 0


def test_two_slots_serve_two_conversations_at_once(repo: Path, tmp_path: Path) -> None:
    room = repo / "manifests/services" / SERVICE / "stacks"
    text = (room / "base.yaml").read_text().replace("name: base", "name: two")
    (room / "two.yaml").write_text(text.replace('["--parallel", "1"]', '["--parallel", "2"]'))
    argv, port = command("base", free_port())
    argv[argv.index("--parallel") + 1] = "2"
    with serving(argv, port, tmp_path / "server.log"):
        done = hio(repo, "qualify", "two", "--port", str(port), "--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)["probes"]
    assert found["slots"]["found"]["at-once"] is True
    assert found["populated-context"]["found"]["claimed-tokens"] == 1024
