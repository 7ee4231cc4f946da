"""One trial a host: the lock has one name, but for the state folders of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.execute import lock


@pytest.mark.parametrize("chosen", ["", "/srv/hio", "/home/a/state", "/tmpfiles/a", "/var/tmpfiles"])
def test_a_state_folder_of_a_host_has_the_lock_of_the_host(
    chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    assert lock.name_for(chosen) == lock.name_for(None)


def test_state_folders_of_tests_stay_among_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    one, other = lock.name_for(str(tmp_path / "one")), lock.name_for(str(tmp_path / "other"))
    assert len({one, other, lock.name_for(None)}) == 3
    assert lock.name_for(f"{tmp_path}/x/../one/") == one


def test_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "one"))
    with lock.take():
        assert lock.is_taken()
        monkeypatch.setenv("HIO_STATE", str(tmp_path / "other"))
        assert not lock.is_taken()
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "one"))
    assert not lock.is_taken()
