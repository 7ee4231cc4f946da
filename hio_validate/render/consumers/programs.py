"""Runs a consumer: no shell between, an empty environment, a time limit; and says which version it is."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache

from hio_validate.render.bundle import CannotRender

_LONGEST_S = 60
_PLAIN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


def path_of(program: str) -> str | None:
    """Where a consumer is installed, None where it is not."""
    return shutil.which(program, path=_PLAIN["PATH"])


def run(
    words: Sequence[str],
    *,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
) -> subprocess.CompletedProcess[bytes]:
    """What a consumer answers. Raises CannotRender where it cannot be run or takes too long."""
    try:
        return subprocess.run(
            words, input=given, capture_output=True, timeout=_LONGEST_S, cwd=folder, check=False,
            env={**_PLAIN, **(environment or {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CannotRender(f"{words[0]} did not answer within {_LONGEST_S} s") from None
    except OSError as error:
        raise CannotRender(f"{words[0]} cannot be run: {error.strerror}") from None


@cache
def version(program: str, *words: str) -> str:
    """The first line in which a consumer says its version; its bare name where it says none."""
    lines = run([program, *words]).stdout.decode(errors="replace").splitlines()
    return lines[0].strip() if lines else program
