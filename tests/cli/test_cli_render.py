"""hio render as a person and as a job of CI calls it: pages of 80 columns, exit codes, and files that are never lost."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.render.rendered import STACK_FILE, documents, with_parent
from tests.small_repo import write

PLACE = {"targets": {"systemd": {"user": "llama"}}}
UNIT = "hio-tiny.service"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write(tmp_path / "repo", with_parent(documents([["--x", "a b"]], {"A": "1"}, PLACE)))
    return tmp_path / "repo"


def test_a_page_says_who_read_each_file_back_and_nothing_is_written(repo: Path) -> None:
    before = sorted(path for path in repo.rglob("*"))
    said = hio(repo, "render", "base", "--target", "systemd")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0].startswith("here/tiny: base (")
    assert lines[0].endswith(") for systemd")
    assert any(line.startswith(UNIT) and "/etc/systemd/system/" in line for line in lines)
    assert lines[-1] == "Nothing was written: --out FOLDER writes them, --stdout FILE shows one."
    assert max(map(len, lines)) <= 80
    assert sorted(path for path in repo.rglob("*")) == before


def test_one_file_is_printed_and_nothing_else(repo: Path) -> None:
    said = hio(repo, "render", "base", "--target", "local", "--stdout", "launch.json")
    assert json.loads(said.out)["arguments"][-1] == "a b"
    wrong = hio(repo, "render", "base", "--target", "local", "--stdout", "unit")
    assert wrong.code == 2
    assert one_sentence(wrong) == "hio: local has no file unit: it has launch.json, environment"


def test_a_program_gets_every_digest(repo: Path) -> None:
    shape = json.loads(
        hio(repo, "render", "base", "--target", "local", "--root", "/srv/s", "--format", "json").out
    )
    assert shape["version"] == 1
    assert shape["files"]["launch.json"]["install"] == "/srv/s/launch.json"
    assert shape["files"]["launch.json"]["mode"] == "0600"
    assert shape["stamp"]["stack"].startswith("base@sha256:")
    assert shape["exit_code"] == 0


def test_files_are_written_with_their_modes_and_found_as_they_are(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = hio(repo, "render", "base", "--target", "systemd", "--out", out)
    assert said.code == 0, said.err
    assert stat.S_IMODE((out / "ready.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((out / "environment").stat().st_mode) == 0o600
    checked = hio(repo, "render", "base", "--target", "systemd", "--check", out)
    assert checked.code == 0
    assert checked.out.splitlines()[0].endswith(": all as rendered")


def test_what_hio_wrote_is_replaced_when_the_stack_changes(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    stack = repo / STACK_FILE
    stack.write_text(stack.read_text().replace("a b", "c d"))
    checked = hio(repo, "render", "base", "--target", "local", "--check", out)
    assert checked.code == 1
    assert "written by hio from other documents" in checked.out
    assert '+    "c d"' in checked.out
    assert '-    "a b"' in checked.out
    assert hio(repo, "render", "base", "--target", "local", "--out", out).code == 0
    assert "c d" in (out / "launch.json").read_text()
    assert not list(out.glob("*.edited-*"))


def test_what_somebody_edited_is_shown_and_kept(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (out / "launch.json").write_text("mine\n")
    (out / "environment").unlink()
    refused = hio(repo, "render", "base", "--target", "local", "--out", out)
    assert refused.code == 1
    assert "-mine" in refused.out
    assert "Nothing was written:" in refused.out
    assert (out / "launch.json").read_text() == "mine\n"
    assert not (out / "environment").exists(), "all or nothing"
    forced = hio(repo, "render", "base", "--target", "local", "--out", out, "--overwrite")
    assert forced.code == 0
    (kept,) = out.glob("launch.json.edited-*")
    assert kept.read_text() == "mine\n"
    assert kept.name in forced.out
    assert json.loads((out / "launch.json").read_text())["version"] == 1


def test_a_file_that_was_there_before_hio_is_nobody_s_to_replace(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "elsewhere").write_text("theirs\n")
    (out / "environment").symlink_to(tmp_path / "elsewhere")
    assert hio(repo, "render", "base", "--target", "local", "--out", out).code == 1
    assert hio(repo, "render", "base", "--target", "local", "--out", out, "--overwrite").code == 0
    assert (tmp_path / "elsewhere").read_text() == "theirs\n"
    assert not (out / "environment").is_symlink()


def test_a_link_is_told_apart_from_a_file_and_what_it_leads_to_is_not_shown(
    repo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (tmp_path / "elsewhere").write_text("theirs alone\n")
    for leads_to in (tmp_path / "elsewhere", tmp_path / "nowhere"):
        (out / "environment").unlink()
        (out / "environment").symlink_to(leads_to)
        for words in (["--check", out], ["--out", out]):
            said = hio(repo, "render", "base", "--target", "local", *words)
            assert said.code == 1
            assert f"environment is a symbolic link to {leads_to}" in said.out
            assert "theirs alone" not in said.all
        assert (out / "environment").is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_a_link_to_the_very_bytes_is_left_alone(repo: Path, tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (out / "environment").rename(kept)
    kept.chmod(0o640)
    (out / "environment").symlink_to(kept)
    said = hio(repo, "render", "base", "--target", "local", "--out", out)
    assert said.code == 0, said.err
    assert (out / "environment").is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_a_copy_of_what_was_edited_is_readable_for_nobody_else(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (out / "environment").write_text("export X=mine\n")
    hio(repo, "render", "base", "--target", "local", "--out", out, "--overwrite")
    (kept,) = out.glob("environment.edited-*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        "export MY_API_KEY='geheim'",
        '    "MY_API_KEY": "geheim",',
        "- MY_API_KEY: geheim",
        "X=hf_abcdefghijklmnopqrstgeheim",
        "--api-key=geheim",
        "--api-key geheim",
        '    "--api-key",\n    "geheim",',
    ],
)
def test_a_key_that_somebody_wrote_into_a_file_is_not_shown(repo: Path, tmp_path: Path, line: str) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (out / "environment").write_text(f"before\n{line}\nafter\n")
    for words in (["--check", out], ["--out", out], ["--check", out, "--format", "json"]):
        said = hio(repo, "render", "base", "--target", "local", *words)
        assert said.code == 1
        assert "withheld" in said.out
        assert "before" in said.out
        assert "geheim" not in said.all


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    os.mkfifo(out / "environment")
    for word in ("--check", "--out"):
        said = hio(repo, "render", "base", "--target", "local", word, out)
        assert said.code == 3
        assert "environment: this is no regular file; move it away" in one_sentence(said)


def test_installed_files_are_compared_where_a_deployment_puts_them(repo: Path, tmp_path: Path) -> None:
    root = tmp_path / "state"
    nothing = hio(repo, "render", "base", "--target", "local", "--root", root, "--check-installed")
    assert nothing.code == 1
    assert "not there" in nothing.out
    hio(repo, "render", "base", "--target", "local", "--out", root)
    written = hio(repo, "render", "base", "--target", "local", "--root", root, "--check-installed")
    assert written.code == 0
    nowhere = hio(repo, "render", "base", "--target", "local", "--check-installed")
    assert nowhere.code == 3
    assert "installs no file here" in one_sentence(nowhere)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["other", "--target", "local"], 2, "no readable stack is called other"),
        (
            ["base", "--target", "env"],
            2,
            "--dialect belongs to --target env, which needs one: systemd, docker",
        ),
        (["base", "--target", "local", "--dialect", "sh"], 2, "--dialect belongs to --target env"),
        (["base", "--target", "local", "--root", "here"], 2, "--root here is no absolute path"),
        (["base", "--target", "local", "--out", "a", "--check", "b"], 2, "exclude each other"),
        (["base", "--target", "kubernetes"], 1, "names no image"),
        (
            ["here/tiny/base", "--target", "local", "--service", "here/other"],
            1,
            "does not know the service other",
        ),
    ],
)
def test_a_refusal_is_one_sentence(repo: Path, words: list[str], code: int, sentence: str) -> None:
    said = hio(repo, "render", *words)
    assert (said.code, said.out) == (code, "")
    assert sentence in one_sentence(said)


def test_every_reason_is_told_at_once(tmp_path: Path) -> None:
    write(
        tmp_path, documents([["--x", "a\0b"]], {"HF_TOKEN": "hf_abcdefghijklmnopqrst", "K": "x ${secret:k}"})
    )
    said = hio(tmp_path, "render", "base", "--target", "local")
    assert said.code == 1
    assert len(said.err.splitlines()) == 4
    assert "hf_abc" not in said.all


def test_a_folder_that_cannot_be_read_is_no_answer(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = hio(repo, "render", "base", "--target", "local", "--check", tmp_path / "file")
    assert said.code == 3
    assert "Not a directory" in one_sentence(said)


def test_what_was_edited_is_shown_without_what_a_terminal_would_obey(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hio(repo, "render", "base", "--target", "local", "--out", out)
    (out / "environment").write_bytes(b"\x1b[31mred\xff\n")
    said = hio(repo, "render", "base", "--target", "local", "--check", out, env={"COLUMNS": "80"})
    assert said.code == 1
    assert "\x1b" not in said.out
    assert "\\x1b[31mred" in said.out
