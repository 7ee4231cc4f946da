"""One matrix, resolved: which row covers which setting, and what still must be covered and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hio_validate.history import Folder
from hio_validate.inheritance import Inheritance
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.small_repo import BASE, ENTRY, FILES, MATRIX, SERVICE, TWO, matrix, pin, stack, write


def _resolved(root: Path, files: Mapping[str, str | bytes] | None = None) -> Inheritance | None:
    view = View(load(Folder(write(root, {**FILES, **(files or {})}))))
    return view.inheritance(next(view.repo.of("matrix/v1")))


def _required(root: Path, files: Mapping[str, str | bytes] | None = None) -> dict[str, str]:
    found = _resolved(root, files)
    assert found is not None
    return {each.compared.address: each.why for each in found.required()}


@pytest.mark.parametrize("file", [BASE, TWO])
@pytest.mark.parametrize("content", ["a: [", "hio: stack/v1\n"])
def test_a_side_that_cannot_be_read_resolves_to_nothing(tmp_path: Path, file: str, content: str) -> None:
    assert _resolved(tmp_path, {file: content}) is None


@pytest.mark.parametrize("name", ["threads", "t", "server.threads", "LLAMA_ARG_THREADS"])
def test_a_row_covers_its_setting_by_any_name(tmp_path: Path, name: str) -> None:
    found = _resolved(tmp_path, {MATRIX: matrix().replace("server.threads", name)})
    assert found is not None
    assert [each.name for each in found.covered] == [name]
    assert found.covered_addresses == {"server.threads"}
    assert found.missing() == []


def test_every_kind_of_row_covers_with_its_place_and_its_disposition(tmp_path: Path) -> None:
    more = "  - preserved: [port]\n  - {bundle: both, disposition: retest, members: [batch-size, ctx-size], question: why}\n"
    found = _resolved(tmp_path, {MATRIX: matrix(more=more)})
    assert found is not None
    assert [(each.name, each.path, each.disposition) for each in found.covered] == [
        ("server.threads", ("rows", 0, "factor"), "retest"),
        ("port", ("rows", 1, "preserved", 0), "preserved"),
        ("batch-size", ("rows", 2, "members", 0), "retest"),
        ("ctx-size", ("rows", 2, "members", 1), "retest"),
    ]


def test_a_row_about_what_no_side_has_covers_nothing(tmp_path: Path) -> None:
    found = _resolved(tmp_path, {MATRIX: matrix().replace("server.threads", "server.nope")})
    assert found is not None
    assert [each.compared for each in found.covered] == [None]
    assert [each.compared.address for each in found.missing()] == ["server.threads"]


def test_what_differs_and_what_the_parent_sets_is_required_once(tmp_path: Path) -> None:
    more = '      - ["--batch-size", "64"]\n'
    assert _required(tmp_path, {BASE: stack("base", 1, more), TWO: stack("two", 2, more)}) == {
        "server.threads": "it differs",
        "server.batch-size": "the parent sets it",
    }


def test_followers_and_places_are_not_required(tmp_path: Path) -> None:
    found = _required(tmp_path, {TWO: stack("two", 2, '      - ["--host", "0.0.0.0"]\n')})
    assert found == {"server.threads": "it differs"}


def test_a_default_that_moved_between_builds_is_required(tmp_path: Path) -> None:
    engine, text = (
        FILES[f"manifests/engines/llama-server/b1/{name}"] for name in ("engine.yaml", "help.txt")
    )
    files = {
        "manifests/engines/llama-server/b2/engine.yaml": engine.replace("name: b1", "name: b2"),
        "manifests/engines/llama-server/b2/help.txt": text.replace("(default: 2048)", "(default: 512)"),
        TWO: stack("two").replace("build: b1", "build: b2"),
    }
    assert _required(tmp_path, files) == {
        "server.batch-size": "the build moved its default",
        "server.build": "its identity differs",
        "server.threads": "the parent sets it",
    }


def _decided(kind: str, factor: str) -> str:
    return (
        f'hio: entry/v1\nid: n1\nservice: {SERVICE}\nafter: ["{pin("b0", FILES[ENTRY])}"]\nby: someone\n'
        f'at: "2026-01-02T00:00:00Z"\nkind: {kind}\nfactor: {factor}\n'
    )


@pytest.mark.parametrize(
    ("kind", "factor", "as_of", "why"),
    [
        ("negative-control", "port", "", "n1 excluded it"),
        ("increment", "port", "", "n1 accepted it"),
        ("increment", "port", "as_of: [b0]\n", None),
        ("increment", "port", "as_of: [n1]\n", "n1 accepted it"),
        ("negative-control", "host", "", None),
        ("increment", "host", "", "n1 accepted it"),
        ("increment", "host", "as_of: [b0]\n", None),
    ],
)
def test_what_the_ledger_decided_is_required_as_of_the_tips_where_a_side_sets_it(
    tmp_path: Path, kind: str, factor: str, as_of: str, why: str | None
) -> None:
    files = {ENTRY.replace("b0", "n1"): _decided(kind, factor), MATRIX: as_of + matrix()}
    assert _required(tmp_path, files).get(f"server.{factor}") == why


def _lost(root: Path, factor: str, *later: str, **changed: str) -> dict[str, tuple[str, str]]:
    """Address -> both values of what was accepted and neither side sets, with these entries after the increment."""
    files: dict[str, str] = {ENTRY.replace("b0", "n1"): _decided("increment", factor), **changed}
    before = "n1"
    for number, body in enumerate(later, 2):
        after = pin(before, files[ENTRY.replace("b0", before)])
        text = (
            _decided("KIND", "x").replace("id: n1", f"id: n{number}").replace("kind: KIND\nfactor: x\n", body)
        )
        before = f"n{number}"
        files[ENTRY.replace("b0", before)] = text.replace(pin("b0", FILES[ENTRY]), after)
    found = _resolved(root, files)
    assert found is not None
    return {
        each.compared.address: (each.compared.from_, each.compared.to)
        for each in found.missing()
        if each.lost
    }


@pytest.mark.parametrize(
    ("factor", "lost"),
    [
        ("batch-size", {"server.batch-size": ("2048", "2048")}),
        ("server.GGML_NUMA", {"server.GGML_NUMA": ("absent", "absent")}),
        ("GGML_NUMA", {}),
        ("server.build", {}),
        ("port", {}),
    ],
    ids=["by default", "a variable", "could be a bundle", "an identity", "set"],
)
def test_an_accepted_increment_that_neither_side_sets_is_lost(
    tmp_path: Path, factor: str, lost: dict[str, tuple[str, str]]
) -> None:
    assert _lost(tmp_path, factor) == lost


def test_what_a_later_control_undid_or_a_later_baseline_left_out_is_not_lost(tmp_path: Path) -> None:
    control = "kind: negative-control\nfactor: server.ctx-size\n"
    renewed = f'kind: baseline\npins: {{stack: "{pin("base", FILES[BASE])}"}}\n'
    assert _lost(tmp_path / "undone", "ctx-size", control) == {}
    assert _lost(tmp_path / "renewed", "ctx-size", renewed) == {}
    assert _lost(tmp_path / "again", "ctx-size", renewed, "kind: increment\nfactor: ctx-size\n")


def test_what_was_accepted_after_the_matrix_was_pinned_is_not_lost(tmp_path: Path) -> None:
    files = {MATRIX: matrix(), ENTRY.replace("b0", "d1"): (
        f'hio: entry/v1\nid: d1\nservice: {SERVICE}\nafter: ["{pin("b0", FILES[ENTRY])}"]\nby: someone\n'
        'at: "2026-01-02T00:00:00Z"\nkind: decision\ndecision: deploy\n'
        f'pins: {{matrix: "{pin("base-to-two", matrix())}"}}\n'
    )}  # fmt: skip
    assert _lost(tmp_path, "ctx-size", **files) == {}


def test_a_row_about_a_setting_that_no_side_has_any_more_covers_it(tmp_path: Path) -> None:
    row = "  - {factor: GGML_NUMA, from: absent, to: absent, disposition: retest}\n"
    assert _lost(tmp_path, "server.GGML_NUMA", **{MATRIX: matrix(more=row)}) == {}


def test_sides_without_a_learned_build_are_named(tmp_path: Path) -> None:
    found = _resolved(tmp_path, {TWO: stack("two", 2).replace("    build: b1\n", "")})
    assert found is not None
    assert found.sides_without_defaults() == ["candidate"]
