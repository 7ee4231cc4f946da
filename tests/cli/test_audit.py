"""hio audit and hio audit anchor as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hio_validate.history.audit import RULES as AUDITED
from hio_validate.report import FORMATS
from hio_validate.rules import RULES
from hio_validate.rules.base import Scope
from tests.cli.console import hio, one_sentence
from tests.history.past import BASE, BEGIN, D1, Past, at, entry, pins
from tests.small_repo import ENTRY, FILES, SERVICE, committed, git, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def tampered(root: Path) -> str:
    """Edit the entry and put it back; the short ids' common source, the edit's full id."""
    before = (root / ENTRY).read_text()
    write(root, {ENTRY: before.replace("by: someone", "by: nobody")})
    git(root, "commit", "-q", "-a", "-m", "edit")
    bad = git(root, "rev-parse", "HEAD").strip()
    write(root, {ENTRY: before})
    git(root, "commit", "-q", "-a", "-m", "put back")
    return bad


def test_every_finding_has_a_rule() -> None:
    assert sorted(AUDITED) == sorted(rule.id for rule in RULES if rule.scope is Scope.HISTORY)


def test_a_kept_history_passes_and_says_how_far_back_it_was_seen(repo: Path) -> None:
    said = hio(repo, "audit")
    head = git(repo, "rev-parse", "HEAD")[:10]
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        f"1 commit from the first to {head}, 1 entry, 2 files of captures and runs, 0 anchors: no error\n"
    )


def test_what_validate_cannot_see_is_an_error(repo: Path) -> None:
    bad = tampered(repo)
    assert hio(repo, "validate").code == 0
    said = hio(repo, "audit")
    assert said.code == 1
    assert bad[:10] in said.out and "entry b0 was" in said.out.replace("\n    ", " ")
    assert "[history-altered]" in said.out
    assert "3 commits from the first to" in said.out


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_commit_file_and_entry(repo: Path, format_: str) -> None:
    bad = tampered(repo)
    said = hio(repo, "audit", "--format", format_)
    assert said.code == 1
    assert bad[:10] in said.out and "b0" in said.out and "history-altered" in said.out.replace("\\", "")


def test_sarif_lists_the_rules_of_histories_alone(repo: Path) -> None:
    run = json.loads(hio(repo, "audit", "--format", "sarif").out)["runs"][0]
    assert sorted(rule["id"] for rule in run["tool"]["driver"]["rules"]) == sorted(AUDITED)


def test_what_no_commit_has_is_left_to_validate_and_said(repo: Path) -> None:
    write(repo, {ENTRY: "changed\n", "manifests/sites/new.yaml": "new\n", "README.md": "elsewhere\n"})
    said = hio(repo, "audit")
    assert said.code == 0
    assert "2 uncommitted changes left to hio validate: no error" in said.out


def test_since_leaves_out_what_was_audited_before(repo: Path) -> None:
    tampered(repo)
    last = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "commit", "-q", "--allow-empty", "-m", "later")
    said = hio(repo, "audit", "--since", last)
    assert said.code == 0
    assert said.out.startswith(f"1 commit from {last[:10]} to ")
    assert hio(repo, "audit", "--since", "HEAD~2").code == 1


@pytest.mark.parametrize("since", ["no-such-branch", "--all", "HEAD:ledger", "0" * 40])
def test_since_names_a_commit(repo: Path, since: str) -> None:
    said = hio(repo, "audit", f"--since={since}")
    assert said.code == 2
    assert one_sentence(said) == f"hio: {since} is no commit of this repository"


def test_rooms_in_a_subfolder_are_audited_for_themselves(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo", {f"serving/{path}": content for path, content in FILES.items()})
    write(repo, {ENTRY: "of another root\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "a second root, at the top")
    write(repo, {ENTRY: "changed\n"})
    git(repo, "commit", "-q", "-a", "-m", "changed at the top")
    assert hio(repo / "serving", "audit").code == 0
    assert hio(repo, "audit").code == 1
    bad = tampered(repo / "serving")
    for folder in (repo / "serving", repo / "serving/manifests/sites"):
        said = hio(folder, "audit", "--format", "json")
        assert said.code == 1
        found = json.loads(said.out)["diagnostics"]
        assert {each["location"]["file"] for each in found} == {ENTRY}
        assert any(bad[:10] in each["message"] for each in found)


def test_line_ends_and_attributes_change_no_verdict(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    write(repo, {".gitattributes": "*.yaml text eol=crlf filter=nope diff=nope\n*.tsv binary\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "attributes")
    assert hio(repo, "audit").code == 0
    bad = tampered(repo)
    assert bad[:10] in hio(repo, "audit").out


def test_an_anchor_is_an_entry_that_validates_and_holds(repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD").strip()
    said = hio(repo, "audit", "anchor", "--by", "ada")
    assert said.code == 0
    file = said.out.removeprefix("wrote ").strip()
    assert file.startswith(f"ledger/{SERVICE}/") and f"commit: {head}" in (repo / file).read_text()
    assert hio(repo, "validate").code == 0
    refused = hio(repo, "audit", "anchor")
    assert (refused.code, f"{file} has changes that no commit has" in one_sentence(refused)) == (1, True)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "anchor")
    assert "1 anchor: no error" in hio(repo, "audit").out


@pytest.mark.parametrize("change", ["edited", "staged", "untracked"])
def test_a_dirty_ledger_is_never_anchored(repo: Path, change: str) -> None:
    if change == "untracked":
        write(repo, {f"ledger/{SERVICE}/2027/x.yaml": "new\n"})
    else:
        write(repo, {ENTRY: (repo / ENTRY).read_text() + "# more\n"})
        git(repo, "add", "-A") if change == "staged" else None
    before = sorted(repo.rglob("*"))
    for words in ((), ("--output", "kept.json")):
        said = hio(repo, "audit", "anchor", *words)
        assert said.code == 1
        assert "commit the ledger first" in one_sentence(said)
    assert sorted(repo.rglob("*")) == before


def test_an_anchor_kept_elsewhere_finds_a_rewritten_history(repo: Path, tmp_path: Path) -> None:
    write(repo, {"README.md": "second\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "second")
    kept = tmp_path / "kept.json"
    assert hio(repo, "audit", "anchor", "--output", kept).code == 0
    assert hio(repo, "audit", "anchor", "--output", kept).code == 1
    assert git(repo, "status", "--porcelain") == ""
    assert json.loads(kept.read_text())["hio"] == "anchor/v1"
    assert "1 anchor: no error" in hio(repo, "audit", "--anchor", kept).out
    anchored = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "commit", "-q", "--amend", "-m", "second, rewritten")
    assert hio(repo, "audit").code == 0
    said = hio(repo, "audit", "--anchor", kept)
    assert said.code == 1
    assert anchored[:10] in said.out and "[anchor-lost]" in said.out


@pytest.mark.parametrize("content", ["", "[]", '{"hio": "entry/v1"}', '{"hio": "anchor/v1"}', '{"hio": "anchor/v1", "commit": "x", "services": {"a/b": "c"}}', "\xff"])  # fmt: skip
def test_a_file_that_is_no_anchor_is_refused(repo: Path, content: str) -> None:
    write(repo, {"kept.json": content.encode("latin-1")})
    said = hio(repo, "audit", "--anchor", "kept.json")
    assert said.code == 2
    assert "kept.json" in one_sentence(said)


@pytest.mark.parametrize("words", [("--anchor", "nowhere.json"), ("--signers", "nowhere")])
def test_a_file_that_is_not_there_is_a_matter_of_usage(repo: Path, words: tuple[str, str]) -> None:
    said = hio(repo, "audit", *words)
    assert (said.code, one_sentence(said)) == (2, f"hio: {words[1]} does not exist")


def test_anchors_of_one_service_of_all_and_of_none(tmp_path: Path) -> None:
    past = Past(tmp_path / "repo")
    other = entry("o1", kind="baseline", more=pins("base", BASE), service="lab/other")
    base = "manifests/services/lab/other/stacks/base.yaml"
    past.commit({**BEGIN, base: BASE, "ledger/lab/other/2026/o1.yaml": other})
    root = past.write()
    said = hio(root, "audit", "anchor", "--service", "lab/nope")
    assert said.code == 2
    assert "there are lab/other, lab/tiny" in one_sentence(said)
    assert (
        hio(root, "audit", "--repo", root, "anchor", "--service", "lab/other").out.count(
            "wrote ledger/lab/other/"
        )
        == 1
    )
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    said = hio(root, "audit", "anchor")
    assert said.out.count("wrote ") == 2
    empty = committed(tmp_path / "empty", {"manifests/sites/lab.yaml": "hio: site/v1\nname: lab\n"})
    assert "nothing to anchor" in one_sentence(hio(empty, "audit", "anchor"))
    assert "leave out --since" in one_sentence(hio(root, "audit", "--since", "HEAD", "anchor"))


def test_a_long_audit_fits_a_comment_and_a_pipe(tmp_path: Path) -> None:
    past = Past(tmp_path / "repo")
    past.commit({**BEGIN, **{at(f"e{n}"): entry(f"e{n}", ("d1", D1)) for n in range(300)}})
    past.commit({at(f"e{n}"): None for n in range(300)})
    root = past.write()
    said = hio(root, "audit", "--format", "markdown")
    assert said.code == 1
    assert len(said.out) <= 65_536
    assert json.loads(hio(root, "audit", "--format", "json").out)["summary"]["errors"] == 300
