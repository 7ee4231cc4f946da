"""`hio validate ONE_FILE` says of that file exactly what judging the whole repository says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Diagnostic, Report
from hio_validate.history import Folder
from hio_validate.repo import documents_in, load
from hio_validate.surroundings import around
from tests.rules.cases import BaseFolder, Case, cases
from tests.small_repo import (
    BASE,
    ENGINE,
    ENTRY,
    FILES,
    HELP,
    MATRIX,
    ROOM,
    SERVICE,
    TWO,
    pin,
    sha,
    stack,
    write,
)

ENGINE_FILE = "manifests/engines/llama-server/b2/engine.yaml"
HELP_FILE = "manifests/engines/llama-server/b2/help.txt"


def _of(report: Report, file: str) -> set[Diagnostic]:
    return {found for found in report.diagnostics if found.location.file == file}


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_one_file_is_judged_as_in_the_whole_repository(case: Case) -> None:
    tree = Folder(case.folder)
    base = case.folder / "before"
    before = BaseFolder(base) if base.exists() else None
    whole = engine.run(load(tree), before)
    for file in documents_in(tree):
        read, focus = around(tree, {file})
        alone = engine.run(read, before, focus=focus)
        assert _of(alone, file) == _of(whole, file), file
        assert {each for each in alone.suppressed if each.diagnostic.location.file == file} == {
            each for each in whole.suppressed if each.diagnostic.location.file == file
        }
        assert all(found in whole.diagnostics for found in alone.diagnostics), "no finding that is not there"


MOVED = HELP.replace("(default: 2048)", "(default: 512)")


@pytest.mark.parametrize("file", [HELP_FILE, ENGINE_FILE])
def test_what_depends_through_several_steps_is_judged_too(tmp_path: Path, file: str) -> None:
    """help.txt -> engine -> stack -> matrix: a default that moved concerns a matrix that never names the build."""
    other = ENGINE.replace("name: b1", "name: b2")
    two = stack("two", 2).replace("build: b1", "build: b2")
    files = {
        HELP_FILE: MOVED,
        ENGINE_FILE: other.replace(sha(HELP), sha(MOVED)),
        TWO: two,
    }
    tree = Folder(write(tmp_path, {**FILES, **files}))
    whole = engine.run(load(tree))
    moved = {
        found
        for found in whole.diagnostics
        if found.location.file == MATRIX and "batch-size" in found.message
    }
    assert moved
    read, focus = around(tree, {file})
    alone = engine.run(read, focus=focus)
    assert moved <= set(alone.diagnostics)


def test_an_entry_concerns_the_matrices_of_its_service(tmp_path: Path) -> None:
    later = ENTRY.replace("b0", "n1")
    control = (
        f'hio: entry/v1\nid: n1\nservice: {SERVICE}\nafter: ["{pin("b0", FILES[ENTRY])}"]\nby: someone\n'
        'at: "2026-01-02T00:00:00Z"\nkind: negative-control\nfactor: server.port\n'
    )
    tree = Folder(write(tmp_path, {**FILES, later: control}))
    whole = engine.run(load(tree))
    assert "undocumented-difference" in {found.rule for found in whole.diagnostics}
    read, focus = around(tree, {later})
    alone = engine.run(read, focus=focus)
    assert set(alone.diagnostics) == set(whole.diagnostics)


def test_a_name_inside_another_word_is_no_dependence(tmp_path: Path) -> None:
    tree = Folder(write(tmp_path))
    site = "manifests/sites/la.yaml"
    assert around(tree, {site})[1] == {site}
    read, focus = around(tree, {"LICENSE"})
    assert (read.items, focus) == ((), {"LICENSE"})


def test_a_site_concerns_what_its_place_holders_fill(tmp_path: Path) -> None:
    """It says what ${host} stands for, in stacks and in the matrices between them."""
    tree = Folder(write(tmp_path))
    site = "manifests/sites/lab.yaml"
    assert around(tree, {site})[1] == {site, BASE, TWO, MATRIX}
    assert site in {item.file for item in around(tree, {MATRIX})[0].items}


def test_a_stack_concerns_what_asks_the_service(tmp_path: Path) -> None:
    """A fixture names no stack, and its sampling chain is that of the engines of its service."""
    fixture, elsewhere = f"{ROOM}/fixtures/tides.yaml", "manifests/services/desk/tiny/fixtures/tides.yaml"
    tree = Folder(write(tmp_path, {**FILES, fixture: "hio: fixture/v1\n", elsewhere: "hio: fixture/v1\n"}))
    assert fixture in around(tree, {BASE})[1] and elsewhere not in around(tree, {BASE})[1]
    assert {BASE, TWO} <= {item.file for item in around(tree, {fixture})[0].items}
    assert not {BASE, TWO} & {item.file for item in around(tree, {elsewhere})[0].items}


PLAN = f"{ROOM}/plans/p1.yaml"


@pytest.mark.parametrize(
    "file",
    [ENTRY, "manifests/sites/lab.yaml", f"{ROOM}/runs/r1/run.yaml", f"{ROOM}/plans/p2.yaml"],
)
def test_a_plan_is_judged_with_ledger_site_runs_and_other_plans(tmp_path: Path, file: str) -> None:
    """None of them is named by it, and each can contradict it."""
    other = f"{ROOM}/plans/p2.yaml"
    tree = Folder(
        write(tmp_path, {**FILES, PLAN: "hio: plan/v1\nname: p1\n", other: "hio: plan/v1\nname: p2\n"})
    )
    assert {PLAN, other} <= around(tree, {file})[1]
    elsewhere = "manifests/services/desk/tiny/runs/r9/run.yaml"
    assert PLAN not in around(tree, {elsewhere})[1]
