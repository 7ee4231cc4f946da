"""`hio diff STACK PID` is the check for drift: empty exactly for a process that was started from the stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.serving import ROOT, command, serving
from tests.lab.test_recapture import VOLATILE, hio

pytestmark = pytest.mark.lab


def told(stack: str, pid: int) -> tuple[int, set[str]]:
    """Exit code, and the settings that differ beside what no stack can say."""
    said = hio("diff", stack, str(pid), "--exit-code", "--format", "json", repo=ROOT)
    assert not said.stderr, said.stderr
    differences = json.loads(said.stdout)["differences"]
    assert {each["setting"] for each in differences} >= {*VOLATILE, "server.artifact.model"}
    return said.returncode, {
        each["setting"] for each in differences if each["group"] != "observed on one side only"
    }


@pytest.mark.parametrize("stack", ["base", "build-11434"])
def test_a_process_of_the_stack_shows_no_drift_and_one_of_another_does(stack: str, tmp_path: Path) -> None:
    argv, port = command(stack)
    with serving(argv, port, tmp_path / "server.log") as server:
        assert told(stack, server.pid) == (0, set())
        code, settings = told("threads-2", server.pid)
    assert (code, "server.threads" in settings) == (1, True)


def test_another_port_and_model_path_are_drift(tmp_path: Path) -> None:
    argv, port = command("base", port=18435)
    model = tmp_path / "elsewhere.gguf"
    at = argv.index("--model") + 1
    model.symlink_to(argv[at])
    argv[at] = str(model)
    with serving(argv, port, tmp_path / "server.log") as server:
        assert told("base", server.pid) == (1, {"server.model", "server.port"})
