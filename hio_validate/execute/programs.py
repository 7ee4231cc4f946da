"""The programs of a job by their bytes, so that one that is replaced meanwhile is noticed before it is started."""

from __future__ import annotations

import os
from pathlib import Path

from hio_validate.execute.work import Work
from hio_validate.observe.hashing import HashCache, default_cache, sha256_of
from hio_validate.observe.refusal import Unobservable


def digests(work: Work, cache: HashCache | None = None) -> dict[str, str]:
    """Path -> SHA-256 of every arm's program and of the shared libraries beside it. Raises Unobservable.

    Libraries that lie elsewhere are the business of the capture that each leg takes.
    """
    known = default_cache() if cache is None else cache
    found: dict[str, str] = {}
    for program in sorted({arm.command.program for arm in work.arms.values()}):
        for path in _files(Path(program)):
            try:
                with path.open("rb") as file:
                    found[str(path)] = sha256_of(file, known)
            except OSError as error:
                raise Unobservable(f"{path} cannot be read: {error.strerror}") from None
    known.save()
    return found


def replaced(before: dict[str, str], now: dict[str, str]) -> str | None:
    """The first file that is another one now, in words; None where all are the same."""
    for path in sorted(before.keys() | now.keys()):
        if before.get(path) != now.get(path):
            return f"{path} {'is gone' if path not in now else 'is new' if path not in before else 'has other bytes'}"
    return None


def _files(program: Path) -> list[Path]:
    folder = Path(os.path.realpath(program)).parent
    beside = [each for each in folder.glob("*.so*") if each.is_file() and not each.is_symlink()]
    return [program, *sorted(beside)]
