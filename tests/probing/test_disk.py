"""A disk is read, or nothing is said of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.probing.disk import _is_cached, file_system, measured, needed
from hio_validate.probing.extent import MIB, Extent
from hio_validate.probing.refusal import NotMeasured

SHARED_MEMORY = Path("/dev/shm")


def test_the_file_is_read_and_nothing_is_left(tmp_path: Path, tiny: Extent) -> None:
    if file_system(tmp_path) == "tmpfs":
        pytest.skip("temporary files are in memory here")
    _, found = measured(tmp_path, tiny)
    assert (found.quantity, found.unit, len(found.samples)) == ("disk-read", "GB/s", 7)
    assert f"a file of {needed(tiny) // MIB} MiB in {tmp_path} ({file_system(tmp_path)})" in (
        found.method or ""
    )
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(
    not SHARED_MEMORY.is_dir() or file_system(SHARED_MEMORY) != "tmpfs", reason="no tmpfs here"
)
def test_a_folder_in_memory_is_no_disk(tiny: Extent) -> None:
    before = {*SHARED_MEMORY.iterdir()}
    with pytest.raises(NotMeasured, match="could not be avoided"):
        measured(SHARED_MEMORY, tiny)
    assert not [each for each in {*SHARED_MEMORY.iterdir()} - before if each.name.startswith(".hio-probe-")]


def test_a_file_that_was_just_read_is_seen_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(MIB))
    handle = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        os.pread(handle, MIB, 0)
        assert _is_cached(handle, MIB)
    finally:
        os.close(handle)


def test_a_disk_that_is_almost_full_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match=r"MiB are free, a file of \d+ MiB needs twice its size"):
        measured(tmp_path, Extent("huge", 1, 1, 1, None, (1,), 1 << 52, True))


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, tiny: Extent) -> None:
    with pytest.raises(NotMeasured, match=r"disk-read in .*gone: No such file or directory"):
        measured(tmp_path / "gone", tiny)


def test_the_file_system_is_that_of_the_longest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"/dev/a / ext4 rw 0 0\n/dev/b {tmp_path}/data xfs rw 0 0\n/dev/c {tmp_path}/my\\040disk btrfs rw 0 0\n"
    )
    for name in ("data/models", "database", "my disk"):
        (tmp_path / name).mkdir(parents=True)
    found = [file_system(tmp_path / name, mounts) for name in ("data/models", "database", "my disk")]
    assert found == ["xfs", "ext4", "btrfs"]
