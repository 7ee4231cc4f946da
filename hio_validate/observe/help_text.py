"""Runs a binary's own --help, the one thing hio executes to learn a build's settings.

Invariant: nothing but the help is asked, in an environment without the caller's settings, and the program
is ended when its time is up.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hio_validate.models.family import Family
from hio_validate.observe.refusal import Unobservable
from hio_validate.settings.family import recognised

TIME_LIMIT_S = 60.0
"""vLLM imports its whole stack before it prints its help."""


def is_the_program(binary: Path, family: Family) -> bool:
    """Whether a file is the family's own program; an interpreter would run whatever `serve` means to it here."""
    return recognised([os.path.realpath(binary)]) == family.name


def help_of(binary: Path, family: Family) -> str:
    """What the binary prints. Raises Unobservable where it does not start, fails or says nothing."""
    command = [str(binary.absolute()), *family.help_command]
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "LANG") if name in os.environ
    }
    try:
        done = subprocess.run(
            command, cwd="/", env={**kept, "COLUMNS": "10000", "NO_COLOR": "1"}, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=TIME_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unobservable(f"{' '.join(command)} did not end within {TIME_LIMIT_S:.0f} s") from None
    except OSError as error:
        raise Unobservable(f"{binary} does not start: {error.strerror}") from None
    said = done.stdout.decode("utf-8", errors="replace")
    if done.returncode or not said.strip():
        complaint = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        why = complaint[-1] if complaint else "it printed nothing"
        raise Unobservable(f"{' '.join(command)} ended with exit code {done.returncode}: {why}")
    return said
