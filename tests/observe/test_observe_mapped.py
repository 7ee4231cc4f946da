"""The bytes that run, after every way of replacing them (contract 1.6)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from hio_validate.models.capture import Mapped
from hio_validate.observe import mapped, proc
from hio_validate.observe.hashing import HashCache, sha256_of

from .conftest import ROOT, Start, as_nobody, eventually

HASHER = partial(sha256_of, cache=HashCache(None))
FUTURE = 2.0**40
needs_root = pytest.mark.skipif(not ROOT, reason="map_files needs root")


def some_library() -> Path:
    """A library that this process has mapped and that any program can load."""
    return next(Path(file.path) for file in proc.mapped_files(os.getpid()) if "/libm.so" in file.path)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def sleeper(start: Start, place: Path) -> subprocess.Popen[str]:
    """A copy of sleep with a copy of a library preloaded, both in `place`, run by an ordinary user."""
    shutil.copy(shutil.which("sleep") or "", place / "sleeper")
    shutil.copy(some_library(), place / "libown.so")
    env = {"LD_PRELOAD": str(place / "libown.so")}
    process = start([place / "sleeper", "600"], as_nobody=True, env=env)
    eventually(lambda: any("libc" in file.path for file in proc.mapped_files(process.pid)))
    return process


def library(pid: int, since: float = FUTURE) -> dict[str, object]:
    found = mapped.libraries(pid, proc.mapped_files(pid), HASHER, since)
    shown = found["libown.so"].model_dump()
    return {name: shown[name] for name in ("sha256", "how", "note", "path")}


def replace(file: Path) -> str:
    """Another file under the same name, as an update does it; returns the digest of the one before."""
    before = digest(file)
    other = file.with_suffix(".new")
    other.write_bytes(file.read_bytes() + b"another build")
    other.chmod(0o755)
    other.replace(file)
    return before


def test_library_and_executable_in_place(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    seen = mapped.executable(process.pid, HASHER)
    program = place / "sleeper"
    assert seen == Mapped(
        path=str(program), sha256=digest(program), bytes=program.stat().st_size, how="hash", note=None
    )
    own = digest(place / "libown.so")
    expected = {"path": str(place / "libown.so"), "sha256": own, "how": "hash", "note": None}
    assert library(process.pid) == expected
    assert as_nobody(lambda: library(process.pid)) == expected


def test_libraries_hold_the_loader_and_not_the_program(start: Start, place: Path) -> None:
    pid = sleeper(start, place).pid
    names = set(mapped.libraries(pid, proc.mapped_files(pid), HASHER, FUTURE))
    assert any(name.startswith("ld-") for name in names)
    assert "sleeper" not in names


@needs_root
def test_replaced_files_still_give_the_running_bytes(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    program, own = replace(place / "sleeper"), replace(place / "libown.so")
    seen = mapped.executable(process.pid, HASHER)
    assert (seen.sha256, seen.note) == (program, "(deleted), replaced")
    assert library(process.pid) == {
        "path": str(place / "libown.so"),
        "sha256": own,
        "how": "hash",
        "note": "(deleted), replaced",
    }


def test_an_ordinary_user_sees_the_running_executable_and_no_replaced_library(
    start: Start, place: Path
) -> None:
    process = sleeper(start, place)
    program = replace(place / "sleeper")
    replace(place / "libown.so")
    assert as_nobody(lambda: mapped.executable(process.pid, HASHER).sha256) == program
    assert as_nobody(lambda: library(process.pid)) == {
        "path": str(place / "libown.so"),
        "sha256": None,
        "how": "unknown",
        "note": "replaced",
    }


def test_a_deleted_library_is_told(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    own = digest(place / "libown.so")
    (place / "libown.so").unlink()
    seen = as_nobody(lambda: library(process.pid))
    assert (seen["how"], seen["note"]) == ("unknown", "(deleted)")
    if ROOT:
        assert library(process.pid)["sha256"] == own
        assert library(process.pid)["note"] == "(deleted)"


def test_a_library_moved_aside_is_followed(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    own = digest(place / "libown.so")
    (place / "libown.so").rename(place / "libown.so.old")
    shutil.copy(some_library(), place / "libown.so")
    found = as_nobody(
        lambda: (
            mapped.libraries(process.pid, proc.mapped_files(process.pid), HASHER, FUTURE)[
                "libown.so.old"
            ].sha256
        )
    )
    assert found == own


def test_a_replacement_that_is_put_back_by_content_is_still_another_file(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    shutil.copy(place / "libown.so", place / "same")
    (place / "same").replace(place / "libown.so")
    assert as_nobody(lambda: library(process.pid))["note"] == "replaced"


def test_a_pipe_in_the_place_of_a_library_does_not_hang(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    (place / "libown.so").unlink()
    os.mkfifo(place / "libown.so", 0o644)
    assert as_nobody(lambda: library(process.pid))["how"] == "unknown"


def test_a_file_written_after_the_start_is_told(start: Start, place: Path) -> None:
    process = sleeper(start, place)
    since = proc.start_seconds(proc.identity(process.pid).ticks)
    later = since + 3600
    os.utime(place / "libown.so", (later, later))
    assert library(process.pid, since)["note"] == "written after the process started"
    assert library(process.pid, later)["note"] is None


def test_two_libraries_of_one_name_are_both_listed(start: Start, place: Path) -> None:
    (place / "a").mkdir()
    (place / "b").mkdir()
    for folder in ("a", "b"):
        shutil.copy(some_library(), place / folder / "libown.so")
    preload = f"{place}/a/libown.so:{place}/b/libown.so"
    process = start(["sleep", "600"], as_nobody=True, env={"LD_PRELOAD": preload})
    eventually(
        lambda: sum("libown" in file.path and file.executable for file in proc.mapped_files(process.pid)) == 2
    )
    found = mapped.libraries(process.pid, proc.mapped_files(process.pid), HASHER, FUTURE)
    assert {"libown.so", "libown.so (2)"} <= set(found)


def test_a_library_nobody_may_read_is_unknown(start: Start, place: Path) -> None:
    if not ROOT:
        pytest.skip("needs root to take a file away from its user")
    process = sleeper(start, place)
    (place / "libown.so").chmod(0o600)
    seen = as_nobody(lambda: library(process.pid))
    assert (seen["how"], seen["note"]) == ("unknown", "not readable: Permission denied")
