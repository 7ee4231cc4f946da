"""What the console script does where its surroundings are not what a program expects."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.console import HIO
from tests.small_repo import write


@pytest.mark.parametrize("verb", ["validate", "diff base two", "settings base", "explain"])
def test_a_closed_output_is_one_sentence(tmp_path: Path, verb: str) -> None:
    write(tmp_path)
    done = subprocess.run(
        ["sh", "-c", f'"$@" {verb} >&-', "sh", *HIO],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == "hio: standard output is closed: there is nowhere to answer\n"


@pytest.mark.parametrize(("verb", "code"), [("diff base two", 0), ("validate", 0), ("diff base nope", 2)])
def test_without_a_standard_error_the_exit_code_answers(tmp_path: Path, verb: str, code: int) -> None:
    write(tmp_path)
    done = subprocess.run(
        ["sh", "-c", f'"$@" {verb} 2>&-', "sh", *HIO],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "internal error" not in done.stdout
