"""Whatever state the files are in: the commit is the named ones, and everything else stays as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hio_validate.checkpoint import planning, standing
from hio_validate.checkpoint.carry_out import carry_out
from tests.small_repo import committed, git, write

pytest.importorskip("detect_secrets")

NAMES = ["a", "b c", "d/e", "d/f", "*", "-g"]
STATES = [
    "as it was",
    "changed",
    "deleted",
    "staged",
    "staged deletion",
    "staged and changed",
    "new",
    "staged new",
]
situations = st.lists(
    st.tuples(st.sampled_from(STATES), st.booleans()), min_size=len(NAMES), max_size=len(NAMES)
)


def _bring_about(root: Path, name: str, state: str) -> None:
    """Put one committed file into a state; the new ones have names of their own."""
    path = f"{name}.new" if "new" in state else name
    if state == "as it was":
        return
    if "deleted" in state or "deletion" in state:
        (root / path).unlink()
    else:
        write(root, {path: f"{state}\n"})
    if "staged" in state:
        git(root, "--literal-pathspecs", "add", "-A", "--", path)
    if state == "staged and changed":
        write(root, {path: "changed again\n"})


def _lines(text: str, without: set[str]) -> list[str]:
    return [line for line in text.split("\0") if line and not any(line.endswith(name) for name in without)]


@given(situations)
@settings(deadline=None, max_examples=12)
def test_the_commit_is_the_named_files_and_the_rest_stays(situation: list[tuple[str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = committed(Path(folder).resolve() / "repo", dict.fromkeys(NAMES, "committed\n"))
        named: dict[str, str] = {}
        for name, (state, is_named) in zip(NAMES, situation, strict=True):
            _bring_about(root, name, state)
            if is_named and state != "staged and changed":
                named[f"{name}.new" if "new" in state else name] = state
        index, status = git(root, "ls-files", "-sz"), git(root, "status", "--porcelain", "-z", "-uall")
        place = standing.look(root)
        plan = planning.plan(place, root, [root / path for path in named], "fix", "why", 2**20)
        assert plan.refusals == ()
        if not plan.has_work:
            return
        carry_out(place, plan)
        changed = {path for path, state in named.items() if state != "as it was"}
        shown = git(root, "show", "--format=", "--name-only", "--no-renames", "-z")
        assert {path for path in shown.split("\0") if path} == changed
        assert _lines(git(root, "status", "--porcelain", "-z", "-uall"), set()) == _lines(status, changed)
        assert _lines(git(root, "ls-files", "-sz"), changed) == _lines(index, changed)
