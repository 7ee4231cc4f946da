"""Hostile histories, each a small one built with git: every attack is named with its commit, its file and the entry."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.history.anchors import Anchor
from hio_validate.history.audit import Asked, audit
from tests.history.past import (
    B0,
    BASE,
    BEGIN,
    CAPTURES,
    D1,
    D2,
    STACKS,
    YEAR,
    File,
    Past,
    at,
    entry,
    pins,
    run_git,
)
from tests.small_repo import ROOM, ROWS, RUN, SERVICE, pin, stack

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
R1 = f"{ROOM}/runs/r1"
C1 = f"{CAPTURES}/c1.yaml"


class Named(NamedTuple):
    """What a finding must say: the commit by its mark, the file, and further words."""

    commit: int
    path: str
    words: str
    rule: str = "history-altered"


Attack = Callable[[Past], list[Named]]
ATTACKS: list[Attack] = []


def attack(build: Attack) -> Attack:
    """A history that must be found out."""
    ATTACKS.append(build)
    return build


def found(root: Path, asked: Asked = Asked()) -> tuple[Diagnostic, ...]:  # noqa: B008
    """The findings, judged by the rules."""
    done = audit(root, asked)
    return engine.of_history(done.found, done.documents, done.audited).diagnostics


def names(finding: Diagnostic, wanted: Named, past: Past) -> bool:
    commit = past.ids.get(wanted.commit, "")[:10]
    return (
        finding.rule == wanted.rule
        and finding.severity is Severity.ERROR
        and re.sub("^(refs/replace/).*", r"\1", finding.location.file) == wanted.path
        and commit in finding.message
        and wanted.words in finding.message
    )


@attack
def entry_edited(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    past.commit({"README.md": "later\n"})
    return [Named(bad, at("b0"), "entry b0 was edited in commit")]


@attack
def entry_deleted(past: Past) -> list[Named]:
    past.commit(BEGIN)
    past.commit({at("d1"): D1})
    bad = past.commit({at("d1"): None})
    return [Named(bad, at("d1"), "entry d1 was deleted in commit")]


@attack
def entry_moved_to_another_year(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None, at("b0", "2025"): B0})
    return [Named(bad, at("b0"), f"entry b0 was moved to {at('b0', '2025')} in commit")]


@attack
def entry_renamed(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None, at("b1"): B0})
    return [Named(bad, at("b0"), f"entry b0 was moved to {at('b1')}")]


@attack
def entry_renamed_in_case_only(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None, at("B0"): B0})
    return [
        Named(
            bad, at("b0"), f"entry b0 was renamed to {at('B0')}, which differs in upper and lower case only"
        )
    ]


@attack
def entry_replaced_by_a_link(past: Past) -> list[Named]:
    past.commit({**BEGIN, "elsewhere.yaml": B0})
    bad = past.commit({at("b0"): File(b"../../../../elsewhere.yaml", "120000")})
    return [Named(bad, at("b0"), "entry b0 was replaced by a symbolic link")]


@attack
def entry_replaced_by_a_submodule(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): File(b"1" * 40, "160000")})
    return [Named(bad, at("b0"), "entry b0 was replaced by a submodule")]


@attack
def ledger_replaced_by_a_submodule(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None, YEAR: File(b"1" * 40, "160000")})
    return [Named(bad, at("b0"), f"entry b0 was replaced, with its folder, by a submodule {YEAR}")]


@attack
def ledger_replaced_by_a_link(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None, "ledger": File(b"/somewhere", "120000")})
    return [Named(bad, at("b0"), "entry b0 was replaced, with its folder, by a symbolic link ledger")]


@attack
def entry_added_as_a_link(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("d1"): File(b"/etc/hostname", "120000")})
    past.commit({"README.md": "later\n"})
    return [Named(bad, at("d1"), "entry d1 was added as a symbolic link")]


@attack
def ledger_added_as_a_submodule(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({"ledger/rack": File(b"1" * 40, "160000")})
    return [Named(bad, "ledger/rack", "was added as a submodule")]


@attack
def entry_made_executable(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): File(B0.encode(), "100755")})
    return [Named(bad, at("b0"), "entry b0 got the mode 100755 (it was 100644)")]


@attack
def entry_turned_into_an_lfs_pointer(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): POINTER})
    return [Named(bad, at("b0"), "entry b0 was replaced by a Git LFS pointer")]


@attack
def rows_added_as_an_lfs_pointer(past: Past) -> list[Named]:
    bad = past.commit({**BEGIN, f"{R1}/run.yaml": RUN, f"{R1}/rows.tsv": POINTER})
    past.commit({"README.md": "later\n"})
    return [Named(bad, f"{R1}/rows.tsv", "file rows.tsv of run r1 was added as a Git LFS pointer")]


@attack
def entry_added_as_an_lfs_pointer(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("d1"): POINTER})
    return [Named(bad, at("d1"), "entry d1 was added as a Git LFS pointer")]


@attack
def entry_edited_and_reverted(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    back = past.commit({at("b0"): B0})
    return [Named(bad, at("b0"), "entry b0 was edited"), Named(back, at("b0"), "gave it back the bytes")]


@attack
def entry_deleted_and_added_again(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None})
    past.commit({at("b0"): B0})
    return [Named(bad, at("b0"), "entry b0 was deleted")]


@attack
def entry_deleted_and_added_again_with_other_bytes(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): None})
    past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    return [Named(bad, at("b0"), "it is back at HEAD, with other bytes")]


@attack
def merge_with_strategy_ours_drops_what_the_other_had(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    theirs = past.commit({at("d1"): D1}, first)
    ours = past.commit({at("d2"): D2}, first)
    bad = past.commit({}, ours, theirs)
    return [Named(bad, at("d1"), "entry d1 was deleted in the merge")]


@attack
def merge_with_strategy_theirs_drops_our_own(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    theirs = past.commit({at("d1"): D1}, first)
    ours = past.commit({at("d2"): D2}, first)
    bad = past.commit({}, ours, theirs, tree=past.tree(theirs))
    return [Named(bad, at("d2"), "entry d2 was deleted in the merge")]


@attack
def merge_edits_what_both_parents_have(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    theirs = past.commit({at("d1"): D1}, first)
    ours = past.commit({at("d2"): D2}, first)
    bad = past.merge({at("b0"): B0.replace("by: ada", "by: eve")}, ours, theirs)
    return [Named(bad, at("b0"), "no parent has it as the merge has it")]


@attack
def merge_deletes_what_both_parents_have(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    theirs = past.commit({at("d1"): D1}, first)
    ours = past.commit({at("d2"): D2}, first)
    bad = past.merge({at("b0"): None}, ours, theirs)
    return [Named(bad, at("b0"), "no parent has it as the merge has it")]


@attack
def octopus_drops_one_of_three(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    sides = [past.commit({at(id_): entry(id_, ("b0", B0))}, first) for id_ in ("x1", "x2", "x3")]
    bad = past.merge({at("x3"): None}, *sides)
    return [Named(bad, at("x3"), "entry x3 was deleted in the merge")]


@attack
def octopus_edits_what_one_of_three_added(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    sides = [past.commit({at(id_): entry(id_, ("b0", B0))}, first) for id_ in ("x1", "x2", "x3")]
    bad = past.merge({at("x2"): entry("x2", ("b0", B0)).replace("by: ada", "by: eve")}, *sides)
    return [Named(bad, at("x2"), "entry x2 was edited in the merge")]


@attack
def edit_on_a_branch_that_was_merged(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")}, first)
    ours = past.commit({at("d2"): D2}, first)
    past.commit({at("b0"): B0.replace("by: ada", "by: eve")}, ours, bad)
    return [Named(bad, at("b0"), "entry b0 was edited in commit")]


@attack
def root_without_history_merged_over_an_entry(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    orphan = past.commit({at("b0"): B0.replace("by: ada", "by: eve")}, -1)
    bad = past.commit({}, orphan, first)
    return [Named(bad, at("b0"), "entry b0 was edited in the merge")]


@attack
def tampering_in_a_commit_of_another_time(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")}, at=1000)
    past.commit({at("b0"): B0}, at=4_000_000_000)
    past.commit({"README.md": "later\n"}, at=2000)
    return [Named(bad, at("b0"), "entry b0 was edited")]


@attack
def whole_ledger_deleted(past: Past) -> list[Named]:
    past.commit({**BEGIN, "README.md": "here\n"})
    bad = past.commit(dict.fromkeys(BEGIN))
    return [
        Named(bad, at("b0"), "entry b0 was deleted"),
        Named(bad, f"{STACKS}/base.yaml", "pinned by entry b0"),
    ]


@attack
def entry_of_an_odd_name_edited(past: Past) -> list[Named]:
    odd = 'ledger/lab/tiny/2026/new\nline "quoted" \\ ü.yaml'
    past.commit({**BEGIN, odd: D1})
    bad = past.commit({odd: D2})
    return [Named(bad, odd, "was edited")]


@attack
def pinned_stack_edited(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({f"{STACKS}/base.yaml": stack("base", 9)})
    return [Named(bad, f"{STACKS}/base.yaml", "stack base, pinned by entry b0, was edited")]


@attack
def pinned_stack_edited_and_put_back(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({f"{STACKS}/base.yaml": stack("base", 9)})
    again = past.commit({f"{STACKS}/base.yaml": stack("base", 8)})
    back = past.commit({f"{STACKS}/base.yaml": BASE})
    words = "stack base, pinned by entry b0, was edited"
    return [Named(each, f"{STACKS}/base.yaml", words) for each in (bad, again, back)]


@attack
def pinned_stack_deleted(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({f"{STACKS}/base.yaml": None})
    return [Named(bad, f"{STACKS}/base.yaml", "stack base, pinned by entry b0, was deleted")]


@attack
def pinned_stack_renamed(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({f"{STACKS}/base.yaml": None, f"{STACKS}/other.yaml": BASE})
    return [Named(bad, f"{STACKS}/base.yaml", "stack base, pinned by entry b0, was moved to")]


@attack
def stack_edited_in_the_commit_that_pins_its_old_bytes(past: Past) -> list[Named]:
    past.commit({f"{STACKS}/base.yaml": BASE})
    bad = past.commit({f"{STACKS}/base.yaml": stack("base", 9), at("b0"): B0})
    return [Named(bad, f"{STACKS}/base.yaml", "stack base, pinned by entry b0, was edited")]


@attack
def merge_takes_other_bytes_than_a_branch_pinned(past: Past) -> list[Named]:
    first = past.commit({f"{STACKS}/base.yaml": BASE})
    theirs = past.commit({at("b0"): B0}, first)
    ours = past.commit({f"{STACKS}/base.yaml": stack("base", 9)}, first)
    bad = past.merge({}, ours, theirs)
    return [Named(bad, f"{STACKS}/base.yaml", "stack base, pinned by entry b0, was edited in the merge")]


@attack
def pinned_stack_deleted_together_with_the_entry_that_pins_it(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({f"{STACKS}/base.yaml": None, at("b0"): None})
    return [
        Named(bad, f"{STACKS}/base.yaml", "pinned by entry b0"),
        Named(bad, at("b0"), "entry b0 was deleted"),
    ]


@attack
def pinned_capture_deleted(past: Past) -> list[Named]:
    capture = "hio: capture/v1\nname: c1\n"
    past.commit(
        {
            **BEGIN,
            C1: capture,
            at("d1"): entry(
                "d1", ("b0", B0), more="decision: keep-research\n" + pins("c1", capture, "capture")
            ),
        }
    )
    bad = past.commit({C1: None})
    return [Named(bad, C1, "capture c1, pinned by entry d1, was deleted")]


@attack
def capture_that_nothing_pins_edited(past: Past) -> list[Named]:
    past.commit({**BEGIN, C1: "hio: capture/v1\nname: c1\n"})
    bad = past.commit({C1: "hio: capture/v1\nname: c1\nabout: better\n"})
    return [Named(bad, C1, "capture c1 was edited")]


@attack
def rows_of_a_run_edited(past: Past) -> list[Named]:
    past.commit({**BEGIN, f"{R1}/run.yaml": RUN, f"{R1}/rows.tsv": ROWS})
    bad = past.commit({f"{R1}/rows.tsv": ROWS.replace("24", "42")})
    return [Named(bad, f"{R1}/rows.tsv", "file rows.tsv of run r1 was edited")]


@attack
def log_of_a_run_deleted(past: Past) -> list[Named]:
    past.commit({**BEGIN, f"{R1}/run.yaml": RUN, f"{R1}/logs/a.log": "it crashed\n"})
    bad = past.commit({f"{R1}/logs/a.log": None})
    return [Named(bad, f"{R1}/logs/a.log", "file logs/a.log of run r1 was deleted")]


@attack
def matrix_pinned_by_a_deployment_edited(past: Past) -> list[Named]:
    matrix = "hio: matrix/v1\nname: base-to-two\n"
    path = "matrix/lab/tiny/base-to-two.yaml"
    deployment = entry(
        "g1",
        ("b0", B0),
        kind="deployment",
        more=f'site: lab\npins: {{matrix: "{pin("base-to-two", matrix)}"}}\n',
    )
    past.commit({**BEGIN, path: matrix, at("g1"): deployment})
    bad = past.commit({path: matrix + "rows: []\n"})
    return [Named(bad, path, "matrix base-to-two, pinned by entry g1, was edited")]


@attack
def stack_pinned_from_another_service_edited(past: Past) -> list[Named]:
    other = entry(
        "o1",
        kind="baseline",
        more=f'pins: {{stack: "lab/tiny/{pin("draft", stack("draft", 2))}"}}\n',
        service="lab/other",
    )
    past.commit({**BEGIN, "ledger/lab/other/2026/o1.yaml": other})
    bad = past.commit({f"{STACKS}/draft.yaml": stack("draft", 3)})
    return [Named(bad, f"{STACKS}/draft.yaml", "stack draft, pinned by entry o1, was edited")]


@attack
def redaction_of_other_bytes_excuses_nothing(past: Past) -> list[Named]:
    past.commit({**BEGIN, at("d1"): D1})
    redacts = f"redacts: [{{file: {at('d1')}, digest: sha256:{'0' * 64}}}]\n"
    bad = past.commit({at("d1"): None, at("x1"): entry("x1", ("b0", B0), kind="redaction", more=redacts)})
    return [Named(bad, at("d1"), "entry d1 was deleted")]


@attack
def redacted_bytes_still_stand_somewhere(past: Past) -> list[Named]:
    past.commit({**BEGIN, at("d1"): D1})
    redacts = f"redacts: [{{file: {at('d1')}, digest: {pin('', D1)[1:]}}}]\n"
    redaction = entry("x1", ("b0", B0), kind="redaction", more=redacts)
    past.commit({at("d1"): None, at("x1"): redaction, "notes/copy.txt": D1})
    return [Named(0, at("x1"), "still stand at HEAD, in notes/copy.txt", "redaction-incomplete")]


@attack
def anchored_commit_rewritten(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    past.commit({at("a1"): entry("a1", ("b0", B0), kind="anchor", more=f"commit: {'a' * 40}\n")}, first)
    return [Named(0, at("a1"), "the anchored commit aaaaaaaaaa is not in this repository", "anchor-lost")]


@attack
def anchored_tip_lost(past: Past) -> list[Named]:
    past.commit(BEGIN)
    anchor = entry("a1", ("b0", B0), ("gone", "never seen"), kind="anchor", more=f"commit: {'a' * 40}\n")
    past.commit({at("a1"): anchor})
    return [Named(0, at("a1"), "entry gone of lab/tiny", "anchor-lost")]


@attack
def graft_hides_the_commit(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    back = past.commit({at("b0"): B0})

    def graft() -> None:
        file = past.root / ".git/info/grafts"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# a comment\n{past.ids[back]} {past.ids[first]}\n")
        assert past.git("rev-list", "--count", "HEAD") == "2"

    past.afterwards.append(graft)
    return [
        Named(bad, at("b0"), "entry b0 was edited"),
        Named(back, ".git/info/grafts", "a graft gives commit", "history-hidden"),
        Named(bad, ".git/info/grafts", "git shows 2 commits here, the true history has 3", "history-hidden"),
    ]


@attack
def replace_ref_hides_the_commit(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    back = past.commit({at("b0"): B0, "README.md": "later\n"})
    past.afterwards.append(lambda: past.git("replace", "--graft", f":{back}", f":{first}"))
    past.afterwards.append(lambda: past.git("pack-refs", "--all"))
    return [
        Named(bad, at("b0"), "entry b0 was edited"),
        Named(back, "refs/replace/", "the true history has 3", "history-hidden"),
    ]


@attack
def replace_ref_shows_other_bytes_of_an_entry(past: Past) -> list[Named]:
    past.commit(BEGIN)

    def replace() -> None:
        other = past.git("hash-object", "-w", "--stdin", stdin=B0.replace("by: ada", "by: eve"))
        past.git("replace", past.git("rev-parse", f"HEAD:{at('b0')}"), other)
        assert "by: eve" in past.git("show", f"HEAD:{at('b0')}")

    past.afterwards.append(replace)
    return [Named(0, "refs/replace/", f"in place of {at('b0')}", "history-hidden")]


@attack
def replaced_tree_hides_a_deletion(past: Past) -> list[Named]:
    past.commit({**BEGIN, at("d1"): D1})
    bad = past.commit({at("d1"): None})
    past.afterwards.append(
        lambda: past.git("replace", f"{past.ids[bad]}^{{tree}}", f"{past.ids[bad]}~1^{{tree}}")
    )
    return [Named(bad, at("d1"), "entry d1 was deleted")]


def forged_graph(past: Past, bad: int, tree: bytes) -> None:
    """A commit-graph with a sound checksum in which a commit has another tree."""
    run_git(past.root, "commit-graph", "write", "--reachable")
    file = past.root / ".git/objects/info/commit-graph"
    own = bytes.fromhex(past.git("rev-parse", f"{past.ids[bad]}^{{tree}}"))
    raw = file.read_bytes()[:-20]
    assert raw.count(own) == 1
    raw = raw.replace(own, tree)
    file.chmod(0o644)
    file.write_bytes(raw + sha1(raw).digest())


@attack
def commit_graph_that_hides_the_commit(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    past.commit({at("b0"): B0})

    def forge() -> None:
        forged_graph(past, bad, bytes.fromhex(past.git("rev-parse", "HEAD^{tree}")))
        assert past.ids[bad] not in run_git(past.root, "log", "--format=%H", "--", at("b0")).stdout

    past.afterwards.append(forge)
    return [
        Named(bad, at("b0"), "entry b0 was edited"),
        Named(0, ".git/objects/info/commit-graph", "does not say what the commits say", "history-hidden"),
    ]


@attack
def commit_graph_that_leads_to_a_tree_that_is_not_there(past: Past) -> list[Named]:
    past.commit(BEGIN)
    bad = past.commit({at("b0"): B0.replace("by: ada", "by: eve")})
    past.afterwards.append(lambda: forged_graph(past, bad, b"\1" * 20))
    return [
        Named(bad, at("b0"), "entry b0 was edited"),
        Named(0, ".git/objects/info/commit-graph", "does not say what the commits say", "history-hidden"),
    ]


@attack
def settings_that_hide_merges_and_add_noise(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    theirs = past.commit({at("d1"): D1}, first)
    ours = past.commit({at("d2"): D2}, first)
    bad = past.commit({}, ours, theirs)
    settings = {"log.diffMerges": "off", "log.showRoot": "false", "diff.renames": "copies", "color.ui": "always",
                "diff.relative": "true", "diff.orderFile": "/nonexistent", "diff.ignoreSubmodules": "all",
                "log.showSignature": "true", "core.quotePath": "true", "log.abbrevCommit": "true",
                "format.pretty": "oneline", "log.date": "relative", "diff.noprefix": "true", "log.mailmap": "true"}  # fmt: skip
    past.afterwards += [
        lambda name=name, value=value: past.git("config", name, value) for name, value in settings.items()
    ]
    return [Named(bad, at("d1"), "entry d1 was deleted in the merge")]


@attack
def submodule_change_that_settings_would_ignore(past: Past) -> list[Named]:
    past.commit({**BEGIN, at("d1"): File(b"1" * 40, "160000")})
    bad = past.commit({at("d1"): File(b"2" * 40, "160000")})
    past.afterwards.append(lambda: past.git("config", "diff.ignoreSubmodules", "all"))
    return [Named(bad, at("d1"), "entry d1 was replaced by a submodule")]


@attack
def rooms_moved_to_the_top_and_an_entry_edited_on_the_way(past: Past) -> list[Named]:
    past.commit({f"serving/{path}": content for path, content in BEGIN.items()})
    edited = {**BEGIN, at("b0"): B0.replace("by: ada", "by: eve")}
    bad = past.commit({**dict.fromkeys(past.tree(1)), **edited})
    return [Named(bad, at("b0"), f"entry b0 was moved here from serving/{at('b0')} and edited")]


@attack
def history_rewritten_and_an_anchor_kept_elsewhere(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    past.commit({at("d1"): D1})
    past.commit({at("d1"): D1.replace("by: ada", "by: eve")}, first)

    def remember() -> None:
        past.asked = Asked(anchors=[Anchor("kept.json", past.ids[2], {SERVICE: [pin("d1", D1)]})])

    past.afterwards.append(remember)
    return [
        Named(2, "kept.json", "is no ancestor of HEAD: history was rewritten", "anchor-lost"),
        Named(2, "kept.json", "entry d1 of lab/tiny, a tip when", "anchor-lost"),
    ]


@attack
def history_rewritten_since_the_last_audit(past: Past) -> list[Named]:
    first = past.commit(BEGIN)
    past.commit({at("d1"): D1})
    past.commit({at("d2"): D2}, first)

    def remember() -> None:
        past.asked = Asked(since=past.ids[2])

    past.afterwards.append(remember)
    return [Named(2, ".", "is no ancestor of HEAD", "anchor-lost")]


@pytest.mark.parametrize("build", ATTACKS, ids=lambda build: build.__name__)
def test_an_attack_is_named(build: Attack, tmp_path: Path) -> None:
    past = Past(tmp_path / "repo")
    wanted = build(past)
    past.write()
    seen = found(past.root, past.asked)
    for each in wanted:
        assert any(names(finding, each, past) for finding in seen), (each, seen)


def test_a_repository_of_sha256_ids_is_audited_the_same_way(tmp_path: Path) -> None:
    past = Past(tmp_path / "repo", ids_are="sha256")
    wanted = [*entry_edited(past), *pinned_stack_deleted(past)]
    past.write()
    assert all(len(id_) == 64 for id_ in past.ids.values())
    seen = found(past.root)
    assert all(any(names(finding, each, past) for finding in seen) for each in wanted)


def test_there_are_many_attacks() -> None:
    assert len(ATTACKS) >= 40
