"""The two libraries of a llama.cpp build that hold its kernels, checked against the hashes that were recorded of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hio_validate.observe.hashing import default_cache, sha256_of
from hio_validate.probing.refusal import CannotProbe


@dataclass(frozen=True)
class Kernels:
    """libggml-base and libggml-cpu."""

    base: Path
    cpu: Path


def kernels_of(program: Path, recorded: Mapping[str, str], chosen: str | None = None) -> Kernels:
    """The libraries beside a program, whose bytes are those of `recorded` (file name -> SHA-256). Raises CannotProbe.

    `chosen` is which libggml-cpu, where the build has one for each kind of processor (GGML_CPU_ALL_VARIANTS).
    """
    folder = Path(os.path.realpath(program)).parent
    base = _one(folder, "libggml-base*.so*", None)
    cpu = _one(folder, "libggml-cpu*.so*", chosen)
    for path in (base, cpu):
        _check(path, recorded)
    return Kernels(base, cpu)


def _one(folder: Path, pattern: str, chosen: str | None) -> Path:
    found = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
    if chosen is not None:
        found = [path for path in found if path.name == chosen]
    if len(found) == 1:
        return found[0]
    if not found:
        what = chosen or pattern.partition("*")[0]
        raise CannotProbe(
            f"{folder} has no {what}: expected a llama.cpp build with shared libraries beside its program"
        )
    raise CannotProbe(
        f"{folder} has several: {', '.join(path.name for path in found)}; say which with --library"
    )


def _check(path: Path, recorded: Mapping[str, str]) -> None:
    expected = recorded.get(path.name)
    if expected is None:
        raise CannotProbe(
            f"no hash of {path.name} is recorded for this build, neither in its engine document nor in a capture; "
            "hio engine learn --binary records one"
        )
    try:
        with path.open("rb") as file:
            found = sha256_of(file, default_cache())
    except OSError as error:
        raise CannotProbe(f"{path} cannot be read: {error.strerror}") from None
    if found != expected:
        raise CannotProbe(f"{path} is of another build: expected sha256 {expected[:12]}…, got {found[:12]}…")
