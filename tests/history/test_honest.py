"""Honest histories: whatever people do to drafts, branches and ledgers that only grow gives no finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate.diagnostic import Severity
from tests.history.past import B0, BASE, BEGIN, CAPTURES, D1, D2, STACKS, File, Past, at, entry, pins
from tests.history.test_hostile import found
from tests.small_repo import ROOM, ROWS, RUN, pin, stack

Work = Callable[[Past], object]
WORKS: list[Work] = []
DRAFT = f"{STACKS}/draft.yaml"
C1 = f"{CAPTURES}/c1.yaml"
CAPTURE = "hio: capture/v1\nname: c1\n"


def work(build: Work) -> Work:
    """A history in which nothing is wrong."""
    WORKS.append(build)
    return build


@work
def two_branches_that_both_append_merged_and_closed(past: Past) -> None:
    first = past.commit(BEGIN)
    one = past.commit({at("d1"): D1}, first)
    two = past.commit({at("d2"): D2}, first)
    past.merge({}, one, two)
    past.commit({at("m1"): entry("m1", ("d1", D1), ("d2", D2), kind="merge", more="")})


@work
def merge_that_closes_both_tips_itself(past: Past) -> None:
    first = past.commit(BEGIN)
    one = past.commit({at("d1"): D1}, first)
    two = past.commit({at("d2"): D2}, first)
    past.merge({at("m1"): entry("m1", ("d1", D1), ("d2", D2), kind="merge", more="")}, one, two)


@work
def criss_cross_merges(past: Past) -> None:
    first = past.commit(BEGIN)
    one = past.commit({at("d1"): D1, DRAFT: stack("draft", 3)}, first)
    two = past.commit({at("d2"): D2}, first)
    left, right = past.merge({}, one, two), past.merge({}, two, one)
    past.merge({DRAFT: stack("draft", 4)}, left, right)


@work
def octopus_of_three(past: Past) -> None:
    first = past.commit(BEGIN)
    past.merge({}, *(past.commit({at(id_): entry(id_, ("b0", B0))}, first) for id_ in ("x1", "x2", "x3")))


@work
def branch_rebased_before_publication(past: Past) -> None:
    first = past.commit(BEGIN)
    past.commit({at("d2"): D2, DRAFT: stack("draft", 3)}, first)
    ours = past.commit({at("d1"): D1}, first)
    past.commit({at("d2"): entry("d2", ("d1", D1)), DRAFT: stack("draft", 3)}, ours)


@work
def draft_edited_reverted_renamed_and_deleted(past: Past) -> None:
    past.commit(BEGIN)
    past.commit({DRAFT: stack("draft", 3)})
    past.commit({DRAFT: stack("draft", 2)})
    past.commit({DRAFT: None, f"{STACKS}/other.yaml": stack("other", 2)})
    past.commit({f"{STACKS}/Other.yaml": stack("Other", 2), f"{STACKS}/other.yaml": None})
    past.commit({f"{STACKS}/Other.yaml": None})


@work
def drafts_squashed(past: Past) -> None:
    first = past.commit(BEGIN)
    past.commit({DRAFT: stack("draft", 3)})
    past.commit({DRAFT: stack("draft", 4)})
    past.commit({DRAFT: stack("draft", 4), "matrix/lab/tiny/base-to-draft.yaml": "hio: matrix/v1\n"}, first)


@work
def draft_edited_until_it_is_pinned(past: Past) -> None:
    past.commit({DRAFT: stack("draft", 2)})
    past.commit({DRAFT: stack("draft", 3)})
    past.commit({at("b1"): entry("b1", kind="baseline", more=pins("draft", stack("draft", 3)))})


@work
def draft_edited_in_the_commit_that_pins_its_new_bytes(past: Past) -> None:
    past.commit({DRAFT: stack("draft", 2)})
    past.commit(
        {
            DRAFT: stack("draft", 3),
            at("b1"): entry("b1", kind="baseline", more=pins("draft", stack("draft", 3))),
        }
    )


@work
def draft_edited_on_one_branch_and_pinned_on_the_other_which_wins(past: Past) -> None:
    first = past.commit({f"{STACKS}/base.yaml": BASE})
    theirs = past.commit({at("b0"): B0}, first)
    ours = past.commit({f"{STACKS}/base.yaml": stack("base", 9)}, first)
    past.merge({}, theirs, ours)


@work
def entry_committed_before_the_stack_it_pins(past: Past) -> None:
    past.commit({f"{STACKS}/base.yaml": stack("base", 9)})
    past.commit({at("b0"): B0})
    past.commit({f"{STACKS}/base.yaml": BASE})


@work
def capture_that_nothing_pins_deleted(past: Past) -> None:
    past.commit({**BEGIN, C1: CAPTURE})
    past.commit({C1: None})


@work
def capture_that_nothing_pins_deleted_on_one_branch(past: Past) -> None:
    first = past.commit({**BEGIN, C1: CAPTURE})
    one = past.commit({C1: None}, first)
    two = past.commit({at("d2"): D2}, first)
    past.commit({at("d2"): D2}, one, two)


@work
def stack_of_another_service_with_the_same_bytes_deleted(past: Past) -> None:
    twin = "manifests/services/lab/other/stacks/base.yaml"
    past.commit({**BEGIN, twin: BASE})
    past.commit({twin: None})


@work
def copy_under_another_name_deleted(past: Past) -> None:
    past.commit({**BEGIN, f"{STACKS}/copy.yaml": BASE})
    past.commit({f"{STACKS}/copy.yaml": None})


@work
def pin_merely_mentioned_in_a_sentence(past: Past) -> None:
    said = (
        f'because: "compared with {pin("draft", stack("draft", 2))}, which lost"\ndecision: keep-research\n'
    )
    past.commit({**BEGIN, at("d1"): entry("d1", ("b0", B0), more=said)})
    past.commit({DRAFT: stack("draft", 3)})


@work
def sites_engines_and_files_elsewhere_edited(past: Past) -> None:
    files = (
        "manifests/sites/lab.yaml",
        "manifests/engines/llama-server/b1/engine.yaml",
        "src/ledger/x.yaml",
        "ledger/README.md",
    )
    past.commit({**BEGIN, **dict.fromkeys(files, "a: 1\n")})
    past.commit(dict.fromkeys(files, "a: 2\n"))
    past.commit(dict.fromkeys(files))


@work
def rooms_of_another_root_moved_and_deleted(past: Past) -> None:
    past.commit({**BEGIN, **{f"tests/one/{path}": content for path, content in BEGIN.items()}})
    past.commit({f"tests/two/{at('b0')}": B0, f"tests/one/{at('b0')}": None})
    past.commit({f"tests/two/{at('b0')}": None})


@work
def file_that_was_executable_from_the_beginning(past: Past) -> None:
    past.commit({**BEGIN, at("d1"): File(D1.encode(), "100755")})
    past.commit({"README.md": "later\n"})


@work
def root_without_history_merged(past: Past) -> None:
    first = past.commit(BEGIN)
    orphan = past.commit({"ledger/lab/other/2026/o1.yaml": entry("o1", service="lab/other")}, -1)
    past.merge({}, first, orphan)


@work
def correction_of_an_entry(past: Past) -> None:
    past.commit({**BEGIN, at("d1"): D1})
    past.commit({at("x1"): entry("x1", ("d1", D1), kind="correction", more="corrects: d1\n")})


@work
def run_with_its_rows_and_more_runs_later(past: Past) -> None:
    past.commit({**BEGIN, f"{ROOM}/runs/r1/run.yaml": RUN, f"{ROOM}/runs/r1/rows.tsv": ROWS})
    past.commit({f"{ROOM}/runs/r2/run.yaml": RUN.replace("r1", "r2"), f"{ROOM}/runs/r2/rows.tsv": ROWS})


@work
def anchors_of_what_is_there(past: Past) -> None:
    first = past.commit(BEGIN)
    past.commit({at("d1"): D1}, first)
    past.write()
    anchor = entry("a1", ("d1", D1), kind="anchor", more=f"commit: {past.ids[2]}\n")
    past.commit({at("a1"): anchor})


@work
def clocks_that_run_backwards(past: Past) -> None:
    past.commit(BEGIN, at=4_000_000_000)
    past.commit({at("d1"): D1, DRAFT: stack("draft", 3)}, at=1000)
    past.commit({DRAFT: stack("draft", 2)}, at=3_000_000_000)


@work
def commits_without_any_change(past: Past) -> None:
    past.commit(BEGIN)
    past.commit({})
    one, two = past.commit({}, 2), past.commit({}, 2)
    past.merge({}, one, two)


@pytest.mark.parametrize("build", WORKS, ids=lambda build: build.__name__)
def test_honest_work_gives_no_finding(build: Work, tmp_path: Path) -> None:
    past = Past(tmp_path / "repo")
    build(past)
    past.write()
    assert found(past.root) == ()


def test_a_redaction_of_exactly_these_bytes_is_a_note(tmp_path: Path) -> None:
    past = Past(tmp_path / "repo")
    first = past.commit({**BEGIN, at("d1"): D1})
    redacts = f"redacts: [{{file: {at('d1')}, digest: {pin('', D1)[1:]}}}]\n"
    clean = past.commit({at("d1"): None}, first)
    side = past.commit({at("d2"): D2}, first)
    past.commit({at("d2"): D2}, clean, side)
    past.commit({at("x1"): entry("x1", ("b0", B0), kind="redaction", more=redacts)})
    past.write()
    (note,) = found(past.root)
    assert note.severity is Severity.NOTE
    assert note.location.file == at("d1")
    assert past.ids[clean][:10] in note.message and "redacted by entry x1" in note.message


def test_there_is_much_honest_work() -> None:
    assert len(WORKS) >= 20
