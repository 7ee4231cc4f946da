"""The console script as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HIO = [sys.executable, "-m", "hio_validate"]
NOBODY = 65534
ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class Said:
    """What one call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


def hio(cwd: Path, *words: str | Path, env: Mapping[str, str] | None = None, **more: Any) -> Said:
    """Run hio in a folder. Whatever happens, no traceback and no internal error may be seen."""
    done = subprocess.run(
        [*HIO, *map(str, words)], cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=600, **more,
    )  # fmt: skip
    said = Said(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in said.all, said.all
    assert "internal error" not in said.all, said.all
    return said


def one_sentence(said: Said) -> str:
    """The only line on standard error, for a refusal."""
    lines = said.err.splitlines()
    assert len(lines) == 1, said.err
    assert lines[0].startswith("hio: ")
    return lines[0]
