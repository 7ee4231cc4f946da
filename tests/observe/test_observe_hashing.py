"""Hashing: right, bounded, and remembered only where that is safe."""

from __future__ import annotations

import hashlib
import json
import os
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.hashing import HashCache, Stamp, default_cache, sha256_of, stamp
from hio_validate.observe.refusal import Unobservable

FORGED = "f" * 64


def old_file(folder: Path, content: bytes = b"model") -> Path:
    """A file whose timestamps lie well behind; ctime cannot be set, so the tests move the clock instead."""
    file = folder / "file"
    file.write_bytes(content)
    return file


def hash_of(file: Path, cache: HashCache) -> str:
    with file.open("rb") as handle:
        return sha256_of(handle, cache)


def later(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    now = time.time_ns()
    monkeypatch.setattr("hio_validate.observe.hashing.time.time_ns", lambda: now + seconds * 10**9)


@given(st.binary(max_size=5000))
def test_it_is_the_sha256_of_the_bytes(content: bytes) -> None:
    with os.fdopen(os.memfd_create("x"), "w+b") as file:
        file.write(content)
        file.flush()
        assert sha256_of(file, HashCache(None)) == hashlib.sha256(content).hexdigest()


def test_progress_and_bounded_memory(tmp_path: Path) -> None:
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(48 << 20)
    calls: list[tuple[int, int]] = []
    tracemalloc.start()
    with big.open("rb") as file:
        sha256_of(file, HashCache(None), lambda done, total: calls.append((done, total)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert calls[-1] == (48 << 20, 48 << 20)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_a_settled_file_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, path = old_file(tmp_path), tmp_path / "cache" / "hashes.json"
    later(monkeypatch, 10)
    cache = HashCache(path)
    first = hash_of(file, cache)
    cache.save()
    text = path.read_text().replace(first, FORGED)
    path.write_text(text)
    assert hash_of(file, HashCache(path)) == FORGED, "the remembered digest was not used"
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_a_file_changed_within_the_clock_step_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, path = old_file(tmp_path), tmp_path / "hashes.json"
    written = file.stat().st_mtime_ns
    monkeypatch.setattr("hio_validate.observe.hashing.time.time_ns", lambda: written + 2 * 10**9)
    cache = HashCache(path)
    hash_of(file, cache)
    cache.save()
    assert not path.exists()


def test_a_racy_entry_that_is_there_is_not_trusted(tmp_path: Path) -> None:
    file, path = old_file(tmp_path), tmp_path / "hashes.json"
    with file.open("rb") as handle:
        of = stamp(handle)
    path.write_text(json.dumps({"hashes": {of.key: [FORGED, max(of.mtime_ns, of.ctime_ns) + 1]}}))
    assert hash_of(file, HashCache(path)) == hashlib.sha256(b"model").hexdigest()


def test_a_timestamp_in_the_future_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = old_file(tmp_path)
    os.utime(file, (2**33, 2**33))
    later(monkeypatch, 10)
    cache = HashCache(tmp_path / "hashes.json")
    hash_of(file, cache)
    cache.save()
    assert not (tmp_path / "hashes.json").exists()


@pytest.mark.parametrize("change", ["device", "inode", "size", "mtime_ns", "ctime_ns"])
def test_every_part_of_the_stamp_counts(change: str) -> None:
    parts = {"device": 1, "inode": 2, "size": 3, "mtime_ns": 4, "ctime_ns": 5}
    cache = HashCache(None)
    cache.put(Stamp(**parts), FORGED, 10**12)
    assert cache.get(Stamp(**parts)) == FORGED
    assert cache.get(Stamp(**{**parts, change: 9})) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"hashes": [1]}',
        b'{"hashes": {"a": 1}}',
        b'{"hashes": {"a": ["x", 1]}}',
        b"\xff\0",
    ],
)
def test_a_damaged_cache_is_ignored(tmp_path: Path, content: bytes) -> None:
    file, path = old_file(tmp_path), tmp_path / "hashes.json"
    path.write_bytes(content)
    assert hash_of(file, HashCache(path)) == hashlib.sha256(b"model").hexdigest()


def test_a_cache_that_others_may_write_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, path = old_file(tmp_path), tmp_path / "hashes.json"
    later(monkeypatch, 10)
    cache = HashCache(path)
    first = hash_of(file, cache)
    cache.save()
    path.write_text(path.read_text().replace(first, FORGED))
    path.chmod(0o666)
    assert hash_of(file, HashCache(path)) == first


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HIO_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_cache().path == tmp_path / ".cache/hio/hashes.json"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().path == tmp_path / "xdg/hio/hashes.json"
    monkeypatch.setenv("HIO_CACHE_DIR", str(tmp_path / "own"))
    assert default_cache().path == tmp_path / "own/hashes.json"
    monkeypatch.setenv("HIO_CACHE_DIR", "")
    assert default_cache().path is None


def test_it_works_without_a_writable_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = old_file(tmp_path)
    (tmp_path / "file-not-folder").touch()
    later(monkeypatch, 10)
    cache = HashCache(tmp_path / "file-not-folder" / "hashes.json")
    assert hash_of(file, cache) == hashlib.sha256(b"model").hexdigest()
    cache.save()


def test_two_writers_keep_each_others_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch, 10)
    path = tmp_path / "hashes.json"
    first, second = HashCache(path), HashCache(path)
    for name, cache in (("a", first), ("b", second)):
        file = tmp_path / name
        file.write_text(name)
        hash_of(file, cache)
    first.save()
    second.save()
    assert len(json.loads(path.read_text())["hashes"]) == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "hashes.json"]


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = old_file(tmp_path, b"x" * (3 << 20))

    def meddle(done: int, total: int) -> None:
        os.utime(file, ns=(done, done))

    with file.open("rb") as handle, pytest.raises(Unobservable, match=r"^changed while it was read$"):
        sha256_of(handle, HashCache(None), meddle)


def test_a_device_is_no_file() -> None:
    with Path("/dev/zero").open("rb") as handle, pytest.raises(Unobservable, match="not a regular file"):
        sha256_of(handle, HashCache(None))
