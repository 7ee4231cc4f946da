"""hio verify on the real engine: proven for the stack that was started, in exactly its differences for another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.serving import ROOT, command, serving
from tests.lab.test_recapture import hio
from tests.ports import free_port

pytestmark = pytest.mark.lab


def told(stack: str, port: int) -> tuple[int, dict[str, set[str]]]:
    """Exit code, and the names of the checks by verdict."""
    said = hio("verify", stack, "--port", str(port), "--format", "json", repo=ROOT)
    assert not said.stderr, said.stderr
    found: dict[str, set[str]] = {"differs": set(), "not observable": set(), "equal": set()}
    for each in json.loads(said.stdout)["checks"]:
        found[each["verdict"]].add(each["name"])
    return said.returncode, found


@pytest.mark.parametrize(("stack", "other"), [("base", "flash-on"), ("build-11434", "base")])
def test_each_stack_is_proven_and_no_other_one(stack: str, other: str, tmp_path: Path) -> None:
    argv, port = command(stack, free_port())
    with serving(argv, port, tmp_path / "server.log"):
        mine, another = told(stack, port), told(other, port)
    assert mine[0] == 0 and not mine[1]["differs"] and not mine[1]["not observable"]
    assert {"libggml-cpu" in name for name in mine[1]["equal"]} == {True, False}
    assert another[0] == 1
    expected = (
        {"argv", "server.flash-attn"} if other == "flash-on" else {"program", "executable", "server.build"}
    )
    assert another[1]["differs"] >= expected
