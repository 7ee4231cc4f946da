"""hio validate as a person or a hook calls it: what is judged, what is printed, with which exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.cli.console import HIO, NOBODY, ROOT, hio, one_sentence
from tests.small_repo import BASE, ENTRY, FILES, MATRIX, ROOM, TWO, committed, git, matrix, stack, write

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def test_a_clean_repository_is_0_and_counts_its_documents(repo: Path) -> None:
    said = hio(repo, "validate")
    assert said.code == 0
    assert said.out.splitlines()[-1].startswith("7 documents, ")
    assert said.err == ""


@pytest.mark.parametrize(("asked", "code"), [((), 0), (("--gate", "deploy"), 1), (("--gate", "tested"), 1)])
def test_a_gate_blocks_only_where_it_is_asked_for(repo: Path, asked: tuple[str, ...], code: int) -> None:
    said = hio(repo, "validate", *asked)
    assert said.code == code
    assert "2 gates" in said.out.splitlines()[-1]


def test_an_error_is_1_with_file_line_and_column(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    said = hio(repo, "validate")
    assert said.code == 1
    assert f"{MATRIX}:7:45: error:" in said.out
    assert "value-mismatch" in said.out


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_the_finding_and_the_exit_code(repo: Path, format_: str) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    said = hio(repo, "validate", "--format", format_)
    assert said.code == 1
    assert "value-mismatch" in said.out
    if format_ == "json":
        assert json.loads(said.out)["summary"]["exit_code"] == 1
    if format_ == "sarif":
        assert json.loads(said.out)["version"] == "2.1.0"
    if format_ == "junit":
        assert ElementTree.fromstring(said.out) is not None


def test_an_empty_folder_is_3_and_says_where_hio_looks(tmp_path: Path) -> None:
    said = hio(tmp_path, "validate")
    assert said.code == 3
    assert "matrix/, ledger/ and manifests/" in said.out
    assert "nothing matched" in said.out.splitlines()[-1]


def test_outside_a_repository_the_folder_is_judged(tmp_path: Path) -> None:
    write(tmp_path)
    assert hio(tmp_path, "validate").code == 0
    write(tmp_path, {MATRIX: matrix(to="3")})
    assert hio(tmp_path, "validate").code == 1


def test_staged_outside_a_repository_is_a_usage_error(tmp_path: Path) -> None:
    write(tmp_path)
    said = hio(tmp_path, "validate", "--staged")
    assert said.code == 2
    assert "no git repository" in one_sentence(said)


@pytest.mark.parametrize("named", ["nope.yaml", f"{MATRIX}/x", "manifests/nope"])
def test_a_missing_path_is_a_usage_error(repo: Path, named: str) -> None:
    said = hio(repo, "validate", named)
    assert said.code == 2
    assert one_sentence(said) == f"hio: {named} does not exist"


def test_a_missing_repository_is_a_usage_error(repo: Path) -> None:
    assert one_sentence(hio(repo, "validate", "--repo", "nope")) == "hio: nope is no folder"


def test_usage_goes_before_findings(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    assert hio(repo, "validate", "--no-such-option").code == 2
    assert hio(repo, "validate", "nope.yaml").code == 2
    assert hio(repo, "validate", "--staged", MATRIX).code == 2


def test_one_file_is_judged_with_what_depends_on_it(repo: Path) -> None:
    write(repo, {TWO: stack("two", 3), "manifests/sites/far.yaml": "hio: site/v1\nname: far\n"})
    said = hio(repo, "validate", TWO)
    assert said.code == 1
    assert f"{MATRIX}:7" in said.out
    assert hio(repo, "validate", "manifests/sites/far.yaml").code == 0


def test_a_folder_means_its_documents(repo: Path) -> None:
    write(
        repo,
        {MATRIX: matrix(to="3"), ".gitignore": "manifests/scratch/\n", "manifests/scratch/x.yaml": "a: ["},
    )
    write(repo, {"manifests/sites/far/far.yaml": "hio: site/v1\nname: far\n"})
    assert hio(repo, "validate", "matrix").code == 1
    assert hio(repo, "validate", "manifests/sites/far").code == 0
    assert hio(repo, "validate", ".").out == hio(repo, "validate").out
    (repo / "empty").mkdir()
    assert hio(repo, "validate", "empty").code == 3


def test_paths_are_meant_from_the_working_directory(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    inside = (repo / MATRIX).parent
    said = hio(inside, "validate", Path(MATRIX).name)
    assert said.code == 1
    assert f"{MATRIX}:7:45" in said.out
    through_a_link = repo.parent / "link"
    through_a_link.symlink_to(repo)
    assert f"{MATRIX}:7:45" in hio(repo.parent, "validate", "--repo", "link", through_a_link / MATRIX).out


def test_a_file_that_is_no_document_is_nothing_to_judge(repo: Path) -> None:
    (repo / "LICENSE").write_text("all: [rights\n")
    said = hio(repo, "validate", "LICENSE")
    assert said.code == 3
    assert "syntax-error" not in said.out


@pytest.mark.skipif(not ROOT, reason="needs to start a process as another user")
def test_an_unreadable_file_is_3_and_the_others_are_judged(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as named:
        folder = write(Path(named), {**FILES, MATRIX: matrix(to="3")})
        folder.chmod(0o755)
        (folder / "manifests/sites/lab.yaml").chmod(0)
        code, out = _as_nobody(folder)
        assert code == 3
        assert "manifests/sites/lab.yaml: Permission denied" in out
        assert "value-mismatch" in out
        (folder / "manifests/sites").chmod(0)
        code, out = _as_nobody(folder)
        assert code == 3
        assert out.startswith("hio: ")
        assert "manifests/sites cannot be listed: Permission denied" in out


_DROP = f"""\
import os
from click.testing import CliRunner
from hio_validate.cli import cli
CliRunner().invoke(cli, ["validate"])
os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})
cli.main(["validate"], prog_name="hio")
"""
"""Run once before the privileges go, so that all is imported: the interpreter may stand where only root reads."""


def _as_nobody(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", _DROP], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_staged_judges_the_index_and_not_the_work_tree(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    git(repo, "add", "-A")
    write(repo)
    assert hio(repo, "validate").code == 0
    assert hio(repo, "validate", "--staged").code == 1
    git(repo, "add", "-A")
    write(repo, {MATRIX: matrix(to="3")})
    said = hio(repo, "validate", "--staged")
    assert (said.code, said.out) == (0, "no staged documents: nothing to check\n")


def test_nothing_staged_is_0_in_every_format(repo: Path) -> None:
    said = hio(repo, "validate", "--staged", "--format", "json")
    assert said.code == 0
    assert json.loads(said.out)["summary"]["exit_code"] == 0
    assert said.err == "no staged documents: nothing to check\n"


def test_staged_in_a_repository_without_documents_is_3(tmp_path: Path) -> None:
    committed(tmp_path / "other", {"README.md": "nothing of ours\n"})
    assert hio(tmp_path / "other", "validate", "--staged").code == 3


def test_a_staged_deletion_is_judged_by_what_it_breaks(repo: Path) -> None:
    git(repo, "rm", "-q", "manifests/sites/lab.yaml")
    assert hio(repo, "validate", "--staged").code == 0
    git(repo, "rm", "-q", TWO)
    said = hio(repo, "validate", "--staged")
    assert said.code == 1
    assert "dangling-reference" in said.out


def test_a_staged_deletion_of_the_last_entry_is_an_error(repo: Path) -> None:
    git(repo, "rm", "-q", ENTRY)
    said = hio(repo, "validate", "--staged")
    assert said.code == 1
    assert "frozen-document-changed" in said.out


@pytest.mark.parametrize("file", [f"{ROOM}/runs/r1/rows.tsv", "manifests/engines/llama-server/b1/help.txt"])
def test_staged_evidence_is_judged_though_it_is_no_document(repo: Path, file: str) -> None:
    (repo / file).write_bytes((repo / file).read_bytes() + b" ")
    git(repo, "add", "-A")
    said = hio(repo, "validate", "--staged")
    assert said.code == 1
    assert "pin-mismatch" in said.out
    assert hio(repo, "validate", file).code == 1


def test_colour_only_on_a_terminal_and_never_with_no_color(repo: Path) -> None:
    script = shutil.which("script")
    if script is None:
        pytest.skip("needs script(1) for a terminal")
    command = " ".join([*HIO, "validate"])

    def on_a_terminal(**env: str) -> str:
        done = subprocess.run(
            [script, "-qec", command, "/dev/null"], cwd=repo, capture_output=True, check=False,
            env={**os.environ, "TERM": "xterm", **env}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout.decode()

    assert "\x1b[" in on_a_terminal()
    assert "\x1b[" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b[" not in hio(repo, "validate").out


def test_a_reader_that_stops_early_is_no_crash(repo: Path) -> None:
    many = "".join(f"      - [--nope-{number}]\n" for number in range(2000))
    write(repo, {BASE: stack("base", more=many)})
    done = subprocess.run(
        " ".join([*HIO, "validate | head -n 1"]), cwd=repo, shell=True, capture_output=True, check=False
    )
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("locale", ["C", "POSIX", "no_SUCH.locale"])
def test_any_locale_and_any_file_name_can_be_printed(repo: Path, locale: str) -> None:
    name = os.fsdecode("manifests/sites/Zürich\n\xff 1.yaml".encode("latin-1"))
    write(repo, {name: "hio: site/v1\nname: übel\n"})
    for format_ in ("text", "json"):
        said = hio(repo, "validate", "--format", format_, env={"LC_ALL": locale, "LANG": locale})
        assert said.code == 1
        assert "misnamed-document" in said.out or "schema-violation" in said.out


@pytest.mark.parametrize("width", ["40", "80"])
def test_no_line_is_wider_than_asked_for(repo: Path, width: str) -> None:
    write(repo, {MATRIX: matrix(to="3", more=f"# {'x' * 200}\n")})
    said = hio(repo, "validate", env={"COLUMNS": width})
    assert max(map(len, said.out.splitlines()[:-1])) <= 80


def test_frozen_judges_only_what_no_later_commit_can_mend(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3"), TWO: "a: [\n"})
    assert hio(repo, "validate").code == 1
    assert hio(repo, "validate", "--frozen").code == 0
    write(repo, {ENTRY: (repo / ENTRY).read_text().replace("someone", "another")})
    said = hio(repo, "validate", "--frozen")
    assert said.code == 1
    assert "frozen-document-changed" in said.out and "value-mismatch" not in said.out
    assert hio(repo, "validate", "--frozen", "ledger").code == 1
    assert hio(repo, "validate", "--frozen", f"{ROOM}/runs").code == 0
    (repo / ENTRY).unlink()
    assert "this entry was committed and is gone" in hio(repo, "validate", "--frozen").out


def test_frozen_without_anything_frozen_is_3_unless_nothing_of_it_is_staged(tmp_path: Path) -> None:
    root = committed(
        tmp_path / "drafts",
        {TWO: stack("two"), "manifests/sites/lab.yaml": FILES["manifests/sites/lab.yaml"]},
    )
    assert hio(root, "validate", "--frozen").code == 3
    write(root, {TWO: "a: [\n"})
    git(root, "add", "-A")
    said = hio(root, "validate", "--staged", "--frozen")
    assert (said.code, said.out) == (0, "no staged entries, runs or captures: nothing to check\n")


def test_a_staged_file_of_the_rooms_that_is_no_document_is_nothing_to_check(repo: Path) -> None:
    write(repo, {"manifests/README.md": "about the lab\n"})
    git(repo, "add", "-A")
    said = hio(repo, "validate", "--staged")
    assert (said.code, said.out) == (0, "no staged documents: nothing to check\n")


def test_a_finding_says_in_which_revision_the_lost_file_is(repo: Path) -> None:
    git(repo, "tag", "v1")
    git(repo, "rm", "-q", ENTRY)
    git(repo, "commit", "-q", "-m", "gone")
    said = hio(repo, "validate", "--changed-from", "v1")
    assert f"restore it: git checkout v1 -- {ENTRY}" in " ".join(said.out.split())
