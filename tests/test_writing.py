"""Files are written whole or not at all, whatever fails on the way."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate.writing import create, new_folder, replace

NOBODY = 65534
WRITERS: dict[str, Callable[[Path, bytes], None]] = {"replace": replace, "create": create}
LARGE = 1 << 20


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=sorted(WRITERS))
def write(request: pytest.FixtureRequest) -> Callable[[Path, bytes], None]:
    return WRITERS[request.param]


@pytest.mark.parametrize("content", [b"", b"a: 1\n", b"a: 1\r\nb\0\xff", b"x" * LARGE])
def test_the_bytes_are_written_as_they_are(
    tmp_path: Path, write: Callable[[Path, bytes], None], content: bytes
) -> None:
    write(tmp_path / "x.yaml", content)
    assert (tmp_path / "x.yaml").read_bytes() == content
    assert os.listdir(tmp_path) == ["x.yaml"]


def test_folders_on_the_way_are_made(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    write(tmp_path / "a" / "b" / "x.yaml", b"a: 1\n")
    assert (tmp_path / "a" / "b" / "x.yaml").read_bytes() == b"a: 1\n"


@pytest.mark.parametrize("name", ["-x.yaml", "a b.yaml", "é.yaml", ".x.yaml", "x" * 200 + ".yaml"])
def test_any_name_of_a_file_will_do(tmp_path: Path, write: Callable[[Path, bytes], None], name: str) -> None:
    write(tmp_path / name, b"a: 1\n")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("before", [0o600, 0o640, 0o644, 0o755, 0o444])
def test_replace_keeps_the_mode(tmp_path: Path, before: int) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"old")
    path.chmod(before)
    replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == before


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
@pytest.mark.parametrize("verb", sorted(WRITERS))
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path, verb: str, mask: int, expected: int) -> None:
    told = in_child(
        f"os.umask({mask}); {verb}(Path({str(tmp_path / 'x.yaml')!r}), b'new'); print(oct(os.umask(0)))"
    )
    assert told.stdout == f"{oct(mask)}\n"
    assert mode(tmp_path / "x.yaml") == expected


def test_create_never_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        create(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.yaml"]


@pytest.mark.parametrize("target", ["there.yaml", "nowhere.yaml"])
def test_create_never_writes_through_a_link(tmp_path: Path, target: str) -> None:
    (tmp_path / "there.yaml").write_bytes(b"old")
    (tmp_path / "x.yaml").symlink_to(target)
    with pytest.raises(FileExistsError):
        create(tmp_path / "x.yaml", b"new")
    assert (tmp_path / "there.yaml").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["there.yaml", "x.yaml"]


def test_of_many_who_create_at_once_one_wins_and_the_others_know(tmp_path: Path) -> None:
    path, lost = tmp_path / "x.yaml", []
    start = threading.Barrier(8)

    def attempt(number: int) -> None:
        start.wait()
        try:
            create(path, f"{number}\n".encode() * 1000)
        except FileExistsError:
            lost.append(number)

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = set(range(8)) - set(lost)
    assert path.read_bytes() == f"{winner}\n".encode() * 1000
    assert os.listdir(tmp_path) == ["x.yaml"]


def test_a_reader_sees_the_old_bytes_or_the_new_ones(tmp_path: Path) -> None:
    path, seen, done = tmp_path / "x.yaml", set(), threading.Event()
    old, new = b"a" * LARGE, b"b" * LARGE
    replace(path, old)

    def watch() -> None:
        while not done.is_set():
            seen.add(path.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(10):
        replace(path, new)
        replace(path, old)
    done.set()
    watcher.join()
    assert seen <= {old, new}
    assert old in seen


def in_child(code: str, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, where limits, umask and user may change."""
    program = f"import os, resource, signal\nfrom pathlib import Path\nfrom hio_validate.writing import create, new_folder, replace\n{code}\n"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, preexec_fn=before, check=False
    )


def full_disk() -> None:
    """No file may grow beyond 64 KiB, as if the disk were full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


@pytest.mark.parametrize("verb", sorted(WRITERS))
@pytest.mark.parametrize("existing", [True, False])
def test_a_failing_disk_leaves_the_old_bytes_and_nothing_else(
    tmp_path: Path, verb: str, existing: bool
) -> None:
    if existing:
        (tmp_path / "x.yaml").write_bytes(b"old")
    done = in_child(f"{verb}(Path({str(tmp_path / 'x.yaml')!r}), b'x' * {LARGE})", full_disk)
    assert "OSError: [Errno 27] File too large" in done.stderr
    assert os.listdir(tmp_path) == ["x.yaml"] * existing
    assert not existing or (tmp_path / "x.yaml").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("verb", sorted(WRITERS))
def test_a_folder_of_others_is_left_as_it_is(tmp_path_factory: pytest.TempPathFactory, verb: str) -> None:
    folder = tmp_path_factory.mktemp("others")
    (folder / "x.yaml").write_bytes(b"old")
    folder.chmod(0o755)
    # The folders above are closed to others, so the child opens this one first and then gives up its rights.
    name = "x.yaml" if verb == "replace" else "y.yaml"
    done = in_child(
        f"os.chdir({str(folder)!r}); os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); {verb}(Path({name!r}), b'new')"
    )
    assert "PermissionError" in done.stderr
    assert os.listdir(folder) == ["x.yaml"]
    assert (folder / "x.yaml").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_left_as_it_is(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    (tmp_path / "x.yaml").write_bytes(b"old")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            write(tmp_path / "x.yaml", b"new")
        assert os.listdir(tmp_path) == ["x.yaml"]
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("verb", sorted(WRITERS))
@pytest.mark.parametrize("when", ["fsync", "chmod"])
def test_a_crash_on_the_way_leaves_the_old_bytes(tmp_path: Path, verb: str, when: str) -> None:
    """SIGKILL at the moment when the new bytes are written and the old ones still stand."""
    path = tmp_path / "x.yaml"
    path.write_bytes(b"old") if verb == "replace" else None
    done = in_child(
        textwrap.dedent(f"""
        os.{when} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        {verb}(Path({str(path)!r}), b"new")
        """)
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old" if verb == "replace" else not path.exists()


def test_an_interrupt_on_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"old")
    for verb in WRITERS:
        done = in_child(
            textwrap.dedent(f"""
            os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)
            {verb}(Path({str(tmp_path / "x.yaml")!r}), b"new")
            """)
        )
        assert "KeyboardInterrupt" in done.stderr
        assert os.listdir(tmp_path) == ["x.yaml"]
        assert (tmp_path / "x.yaml").read_bytes() == b"old"


def test_what_stands_in_the_way_is_an_os_error(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write(tmp_path / "file" / "x.yaml", b"new")
    with pytest.raises(OSError):
        write(tmp_path / "folder", b"new")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path / "folder") == []


def _fill(folder: Path) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"2")


def test_a_new_folder_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "room" / "new"
    with new_folder(target, tmp_path) as waiting:
        _fill(waiting)
        assert not target.exists() and waiting.parent == tmp_path
    assert sorted(os.listdir(target)) == ["a", "b"] and os.listdir(tmp_path) == ["room"]
    assert mode(target) == 0o777 & ~_umask() and mode(target / "a") == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_nothing_is_left_of_a_folder_that_could_not_be_filled(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "new", tmp_path) as waiting:
        _fill(waiting)
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("before", [True, False], ids=["before", "meanwhile"])
def test_a_folder_that_is_there_is_never_replaced(tmp_path: Path, before: bool) -> None:
    target = tmp_path / "there"

    def come() -> None:
        target.mkdir()
        (target / "mine").write_bytes(b"mine")

    if before:
        come()
    with pytest.raises(FileExistsError) as caught, new_folder(target, tmp_path) as waiting:
        _fill(waiting)
        if not before:
            come()
    assert caught.value.filename == str(target)
    assert os.listdir(tmp_path) == ["there"] and os.listdir(target) == ["mine"]


def test_a_file_in_the_place_of_the_folder_is_not_said_to_be_the_file(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "a" / "b.yaml", b"x")
