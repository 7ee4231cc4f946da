"""New files of a verb: all or none, and nothing that is there is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.cli.new_files import create, create_all


def test_a_file_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(tmp_path / "a" / "b.yaml", b"x\n", "already", "a/b.yaml")
    assert (tmp_path / "a" / "b.yaml").read_bytes() == b"x\n"
    assert capsys.readouterr().out == "wrote a/b.yaml\n"


def test_what_is_there_stays_and_ends_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_bytes(b"old\n")
    with pytest.raises(SystemExit) as ended:
        create(tmp_path / "a.yaml", b"new\n", "and is never replaced")
    assert ended.value.code == 1
    assert (tmp_path / "a.yaml").read_bytes() == b"old\n"
    assert f"{tmp_path / 'a.yaml'} exists and is never replaced" in capsys.readouterr().err


def test_of_several_files_none_is_written_where_one_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b").write_bytes(b"old\n")
    with pytest.raises(SystemExit) as ended:
        create_all(tmp_path, [("a", b"1"), ("b", b"2"), ("c", b"3")], "give another name")
    assert ended.value.code == 1
    assert [each.name for each in tmp_path.iterdir()] == ["b"]
    assert "b exists and stays as it is; give another name" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        create(tmp_path / "a" / "b", b"x", "already")
    assert ended.value.code == 3
    assert capsys.readouterr().err.count("\n") == 1
