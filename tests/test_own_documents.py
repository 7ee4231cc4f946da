"""This repository's own documents are right, and each way to falsify them is found at its line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate import engine, history
from hio_validate.diagnostic import Report, Severity
from hio_validate.history.audit import Asked, audit
from hio_validate.history.hidden import NotVerifiable
from hio_validate.repo import load
from hio_validate.rules import RULES
from hio_validate.source import digest_of

ROOT = Path(__file__).parents[1]
ROOM = "manifests/services/lab/gemma-270m"
BASE, CANDIDATE = f"{ROOM}/stacks/base.yaml", f"{ROOM}/stacks/threads-2.yaml"
MATRIX = "matrix/lab/gemma-270m/base-to-threads-2.yaml"
BASELINE = "ledger/lab/gemma-270m/2026/2026-11-29-baseline.yaml"
DECISION = "ledger/lab/gemma-270m/2026/2026-11-29-threads-measured.yaml"
ROWS, RUN = f"{ROOM}/runs/2026-11-29-threads/rows.tsv", f"{ROOM}/runs/2026-11-29-threads/run.yaml"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The documents, committed in a git repository of their own."""
    for room in ("matrix", "ledger", "manifests"):
        shutil.copytree(ROOT / room, tmp_path / room)
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    history.git(tmp_path, "init", "-q")
    history.git(tmp_path, "add", "-A")
    history.git(tmp_path, *identity, "commit", "-q", "--no-verify", "-m", "as recorded")
    return tmp_path


def found(repo: Path, gates: tuple[str, ...] = ()) -> Report:
    return engine.run(load(history.WorkTree(repo)), history.revision(repo), gates=gates)


def edit(repo: Path, file: str, old: str, new: str) -> int:
    """Replace one text; the line where it stood."""
    path = repo / file
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def errors(report: Report) -> set[tuple[str, str, int]]:
    return {(each.rule, each.location.file, each.location.line) for each in report.of(Severity.ERROR)}


def test_they_are_right_and_their_retests_block_deployment(repo: Path) -> None:
    report = found(repo)
    assert errors(report) == set()
    assert report.exit_code == 0
    assert {each.rule for each in report.of(Severity.GATE)} == {"retest-open"}
    older = {(each.rule, each.location.file) for each in report.of(Severity.NOTE)}
    assert older == {("incomplete-decision", DECISION)}, "decided before there was such a rule"
    assert found(repo, gates=("deploy",)).exit_code == 1


def test_a_value_edited_in_a_pinned_stack(repo: Path) -> None:
    pinning = {
        file for file, text in documents(repo).items() if digest_of((repo / BASE).read_bytes()) in text
    }
    edit(repo, BASE, '"--threads", "1"', '"--threads", "3"')
    seen = errors(found(repo))
    assert {BASELINE, RUN} < pinning
    assert {file for rule, file, _ in seen if rule == "pin-mismatch"} == pinning
    assert ("value-mismatch", MATRIX, line_of(repo, MATRIX, "server.threads, from")) in seen


def test_the_semantic_rule_speaks_also_after_the_digests_were_brought_up_to_date(repo: Path) -> None:
    old = digest_of((repo / BASE).read_bytes())
    edit(repo, BASE, '"--threads", "1"', '"--threads", "3"')
    altered = brought_up_to_date(repo, BASE, old)
    seen = errors(found(repo))
    assert ("value-mismatch", MATRIX, line_of(repo, MATRIX, "server.threads, from")) in seen
    assert {RUN, BASELINE, DECISION} < altered
    assert {file for rule, file, _ in seen if rule == "frozen-document-changed"} == altered
    assert not {file for rule, file, _ in seen if rule == "pin-mismatch"}


def documents(repo: Path) -> dict[str, str]:
    """File -> text of every document."""
    rooms = [path for room in ("matrix", "ledger", "manifests") for path in (repo / room).rglob("*.yaml")]
    return {path.relative_to(repo).as_posix(): path.read_text() for path in rooms}


def brought_up_to_date(repo: Path, file: str, old: str) -> set[str]:
    """Every document whose pins follow from a changed one, after its digests were replaced."""
    altered, waiting = set(), [(file, old)]
    while waiting:
        changed, before = waiting.pop(0)
        now = digest_of((repo / changed).read_bytes())
        for other, text in documents(repo).items():
            if before in text:
                waiting.append((other, digest_of(text.encode())))
                (repo / other).write_text(text.replace(before, now))
                altered.add(other)
    return altered


def test_an_argv_value_edited_in_a_candidate(repo: Path) -> None:
    edit(repo, f"{ROOM}/stacks/flash-on.yaml", '"--flash-attn", "on"', '"--flash-attn", "off"')
    matrix = "matrix/lab/gemma-270m/base-to-flash-on.yaml"
    assert ("value-mismatch", matrix, line_of(repo, matrix, "server.flash-attn, from")) in errors(found(repo))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda text, row: text.replace(row, ""), "undocumented-difference"),
        (lambda text, row: text.replace(row, row + row), "duplicate-row"),
        (lambda text, row: text.replace('to: "2"', 'to: "4"'), "value-mismatch"),
    ],
    ids=["deleted", "doubled", "its value changed"],
)
def test_a_matrix_row(repo: Path, change: Callable[[str, str], str], rule: str) -> None:
    text = (repo / MATRIX).read_text()
    row = next(line for line in text.splitlines(keepends=True) if "server.threads, from" in line)
    (repo / MATRIX).write_text(change(text, row))
    at = (
        line_of(repo, MATRIX, "rows:")
        if rule == "undocumented-difference"
        else line_of(repo, MATRIX, row.strip()[:20])
    )
    assert errors(found(repo)) == {(rule, MATRIX, at + (rule == "duplicate-row"))}


@pytest.mark.parametrize("file", [BASELINE, DECISION], ids=["the first entry", "the last entry"])
def test_an_entry_edited_or_deleted(repo: Path, file: str) -> None:
    text = (repo / file).read_text()
    (repo / file).write_text(text.replace("by: ", "by: not-"))
    assert ("frozen-document-changed", file, 1) in errors(found(repo))
    (repo / file).unlink()
    assert ("frozen-document-changed", file, 0) in errors(found(repo))


def test_a_raw_row_edited(repo: Path) -> None:
    text = (repo / ROWS).read_text()
    row = text.splitlines()[1].split("\t")
    row[3] = str(float(row[3]) * 1.5)
    (repo / ROWS).write_text(text.replace(text.splitlines()[1], "\t".join(row)))
    seen = errors(found(repo))
    assert ("pin-mismatch", RUN, line_of(repo, RUN, "raw:")) in seen
    assert ("frozen-document-changed", ROWS, 1) in seen
    assert ("recomputed-mismatch", DECISION, line_of(repo, DECISION, "change_percent")) in seen


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("hio: matrix/v1\n", "hio: matrix/v1\nowner: ada\n", "schema-violation", 3),
        ("parent: base\n", "parent: base\nparent: flash-on\n", "duplicate-key", 6),
        ("candidate: threads-2\n", "candidat: threads-2\n", "schema-violation", 6),
    ],
    ids=["added", "doubled", "misspelt"],
)
def test_a_key(repo: Path, old: str, new: str, rule: str, line: int) -> None:
    edit(repo, MATRIX, old, new)
    assert (rule, MATRIX, line) in errors(found(repo))


def test_an_empty_directory_could_not_be_checked(tmp_path: Path) -> None:
    assert engine.run(load(history.Folder(tmp_path))).exit_code == 3


def test_a_rule_that_raises_leaves_the_others_their_say(repo: Path) -> None:
    edit(repo, MATRIX, 'to: "2"', 'to: "4"')

    def broken(*_: object) -> None:
        raise RuntimeError("broken on purpose")

    rules = [rule._replace(check=broken) if rule.id == "undecided-row" else rule for rule in RULES]
    report = engine.run(load(history.WorkTree(repo)), history.revision(repo), rules)
    assert report.exit_code == 3
    assert {"internal-error", "value-mismatch"} <= {each.rule for each in report.diagnostics}


def line_of(repo: Path, file: str, text: str) -> int:
    lines = (repo / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_no_commit_ever_altered_them() -> None:
    try:
        top = history.top_of(ROOT)
        done = audit(ROOT, Asked()) if top == ROOT.resolve() else None
    except (NotVerifiable, history.GitError) as error:
        pytest.skip(str(error))
    if done is None:
        pytest.skip("no git keeps this folder")
    assert done.found == ()
    assert done.audited.entries >= 2
