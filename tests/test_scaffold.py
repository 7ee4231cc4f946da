"""A scaffolded matrix covers exactly what must be covered, and an update keeps what a person wrote."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate import engine, scaffold
from hio_validate.history import Folder
from hio_validate.inheritance import Inheritance, inheritance
from hio_validate.ledger import Ledger, ledgers
from hio_validate.models import reader
from hio_validate.repo import Repo, item_of, load
from hio_validate.settings.knowledge import Settings
from hio_validate.source import read
from hio_validate.source.dump import dump
from tests.small_repo import ENTRY, FILES, MATRIX, ROOM, SERVICE, matrix, pin, stack, write

ABOUT_ROWS = {"undocumented-difference", "value-mismatch", "duplicate-row", "preserved-but-different", "unknown-setting",
              "undecided-row", "schema-violation", "syntax-error", "dangling-reference"}  # fmt: skip

Given = dict[str, str]
_FLAGS = {
    "--threads": ["1", "2", "16"],
    "-t": ["4"],
    "--threads-batch": ["1", "2"],
    "--ctx-size": ["0", "2048"],
    "--batch-size": ["512", "2048"],
    "--host": ["127.0.0.1", "0.0.0.0"],
    "--port": ["80", "8080"],
    "--model": ["/models/a.gguf", "${model}"],
    "--not-learned": ["5319E7", "a: b", 'quo"te', "#"],
}
_ENV = {
    "LLAMA_ARG_THREADS": ["3"],
    "LLAMA_ARG_CTX_SIZE": ["4096"],
    "OMP_NUM_THREADS": ["1", "2"],
    "GGML_X": ["yes", "~"],
}


def _chosen(table: Mapping[str, list[str]]) -> st.SearchStrategy[Given]:
    return st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in table.items()}
    )


@st.composite
def _stacks(draw: st.DrawFn, name: str) -> str:
    """A stack with some flags, variables, implicit facts, and perhaps without a known build."""
    data = {
        "hio": "stack/v1",
        "name": name,
        "processes": {
            "server": {
                "engine": "llama-server",
                **({"build": "b1"} if draw(st.booleans()) else {}),
                "argv": [list(pair) for pair in draw(_chosen(_FLAGS)).items()],
                "env": draw(_chosen(_ENV)),
            }
        },
        "implicit": {
            address: {"value": value, "because": "compiled in"}
            for address, value in draw(
                _chosen({"server.repack": ["on", "off"], "server.ctx-size": ["1"]})
            ).items()
        },
    }
    return dump(data).decode()


def _scaffolded(repo: Repo, parent: str = "base", candidate: str = "two") -> bytes:
    """What `hio matrix new` writes."""
    book = ledgers(repo).get(SERVICE) or Ledger(SERVICE, {})
    begun = scaffold.skeleton(f"{parent}-to-{candidate}", SERVICE, parent, candidate, {}, sorted(book.tips))
    item = item_of(read(dump({**begun, "rows": []}), MATRIX))
    empty = inheritance(item, repo, Settings(repo), book)
    assert empty is not None
    pairs = scaffold.propose_pairs(empty.theirs, empty.ours)
    model = reader("matrix/v1").validate_python({**begun, "pairs": pairs, "rows": []})
    found = empty.under(item._replace(model=model))
    return scaffold.new_matrix(begun, found, pairs, MATRIX)


def _resolved(repo: Repo) -> Inheritance:
    item = next(item for item in repo.items if item.file == MATRIX)
    assert item.model is not None, (item.refused, item.document.faults)
    found = inheritance(item, repo, Settings(repo), ledgers(repo).get(SERVICE) or Ledger(SERVICE, {}))
    assert found is not None
    return found


def _about_rows(repo: Repo) -> list[str]:
    return [
        f"{found.rule}: {found.message}"
        for found in engine.run(repo).diagnostics
        if found.location.file == MATRIX and found.rule in ABOUT_ROWS
    ]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_stacks("base"), _stacks("two"), st.sampled_from(["", "server.ctx-size", "threads", "server.host"]))
def test_a_scaffolded_matrix_covers_exactly_what_is_required(
    parent: str, candidate: str, excluded: str
) -> None:
    with tempfile.TemporaryDirectory() as named:
        files: dict[str, str | bytes] = {
            path: FILES[path] for path in FILES if path.startswith("manifests/engines")
        }
        files |= {f"{ROOM}/stacks/base.yaml": parent, f"{ROOM}/stacks/two.yaml": candidate}
        if excluded:
            files[ENTRY] = (
                f'hio: entry/v1\nid: b0\nservice: {SERVICE}\nafter: []\nby: someone\nat: "2026-01-01T00:00:00Z"\n'
                f"kind: negative-control\nfactor: {excluded}\n"
            )
        root = write(Path(named), files)
        raw = _scaffolded(load(Folder(root)))
        write(root, {MATRIX: raw.replace(b"disposition: undecided", b"disposition: retest")})
        repo = load(Folder(root))
        assert _about_rows(repo) == []
        found = _resolved(repo)
        covered = [each.compared.address for each in found.covered if each.compared]
        assert sorted(covered) == sorted({each.compared.address for each in found.required()})
        assert scaffold.update((root / MATRIX).read_bytes(), found) == ((root / MATRIX).read_bytes(), [])


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_stacks("base"), _stacks("two"), _stacks("two"))
def test_an_update_after_the_stacks_moved_leaves_nothing_undocumented(
    parent: str, before: str, after: str
) -> None:
    with tempfile.TemporaryDirectory() as named:
        files: dict[str, str | bytes] = {
            path: FILES[path] for path in FILES if path.startswith("manifests/engines")
        }
        root = write(
            Path(named), {**files, f"{ROOM}/stacks/base.yaml": parent, f"{ROOM}/stacks/two.yaml": before}
        )
        first = _scaffolded(load(Folder(root)))
        write(root, {MATRIX: first + b"# a last word\n", f"{ROOM}/stacks/two.yaml": after})
        repo = load(Folder(root))
        updated, said = scaffold.update((root / MATRIX).read_bytes(), _resolved(repo))
        write(root, {MATRIX: updated.replace(b"disposition: undecided", b"disposition: retest")})
        missing = [
            line for line in _about_rows(load(Folder(root))) if line.startswith("undocumented-difference")
        ]
        assert [line for line in missing if "defaults of" not in line] == []
        assert b"# a last word\n" in updated
        assert bool(said) == (updated != first + b"# a last word\n")


def test_equal_settings_share_one_line_and_a_change_has_its_own(tmp_path: Path) -> None:
    more = '      - ["--batch-size", "512"]\n      - ["--ctx-size", "2048"]\n'
    files = {
        f"{ROOM}/stacks/base.yaml": stack("base", 1, more),
        f"{ROOM}/stacks/two.yaml": stack("two", 2, more),
    }
    raw = _scaffolded(load(Folder(write(tmp_path, {**FILES, **files})))).decode()
    assert raw.partition("rows:\n")[2] == (
        "  - preserved: [server.ctx-size, server.batch-size]\n"
        '  - {factor: server.threads, from: "1", to: "2", disposition: undecided}\n'
    )


def test_a_default_on_one_side_is_named_as_such(tmp_path: Path) -> None:
    files = {f"{ROOM}/stacks/base.yaml": stack("base", 1, '      - ["--batch-size", "2048"]\n')}
    raw = _scaffolded(load(Folder(write(tmp_path, {**FILES, **files})))).decode()
    assert "{preserved: [server.batch-size], through: default}" in raw or (
        "preserved: [server.batch-size]\n    through: default" in raw
    )


def test_unknown_defaults_are_one_line(tmp_path: Path) -> None:
    without = {f"{ROOM}/stacks/base.yaml": stack("base").replace("    build: b1\n", "")}
    raw = _scaffolded(load(Folder(write(tmp_path, {**FILES, **without})))).decode()
    assert raw.count("defaults:") == 1
    assert "defaults: {parent: unknown, candidate: known, disposition: retest" in raw


def test_two_vocabularies_are_paired_for_review(tmp_path: Path) -> None:
    def own(name: str, flag: str) -> str:
        return dump(
            {
                "hio": "stack/v1",
                "name": name,
                "processes": {"server": {"engine": "unknown", "argv": [[flag, "4"]]}},
            }
        ).decode()

    files = {
        f"{ROOM}/stacks/base.yaml": own("base", "--draft-max"),
        f"{ROOM}/stacks/two.yaml": own("two", "--max-draft"),
        ENTRY: "",
    }
    raw = _scaffolded(load(Folder(write(tmp_path, {**FILES, **files})))).decode()
    assert "max-draft: [server draft-max, server max-draft]" in raw


@pytest.mark.parametrize(
    ("decided", "refreshed"), [("undecided", True), ("retest", True), ("changed", False)]
)
def test_values_are_refreshed_only_where_nobody_decided(
    tmp_path: Path, decided: str, refreshed: bool
) -> None:
    files = {MATRIX: matrix(disposition=decided), f"{ROOM}/stacks/two.yaml": stack("two", 7)}
    repo = load(Folder(write(tmp_path, {**FILES, **files})))
    raw, said = scaffold.update(files[MATRIX].encode(), _resolved(repo))
    assert (raw == matrix(disposition=decided, to="7").encode()) is refreshed
    assert said == (["server.threads: to is now 7"] if refreshed else [])


def test_an_update_keeps_every_line_of_a_person(tmp_path: Path) -> None:
    mine = matrix(more="  # kept apart\n  - preserved: [port]   # ours\n# end\n").replace(
        'to: "2"', "to:   '2'"
    )
    files = {MATRIX: mine, f"{ROOM}/stacks/two.yaml": stack("two", 2, '      - ["--batch-size", "9"]\n')}
    repo = load(Folder(write(tmp_path, {**FILES, **files})))
    raw, said = scaffold.update(mine.encode(), _resolved(repo))
    assert said == ["new row: server.batch-size"]
    kept = [line for line in raw.decode().splitlines() if "batch-size" not in line]
    assert kept == mine.splitlines()


def test_what_was_excluded_before_wants_a_row_where_a_side_has_it(tmp_path: Path) -> None:
    base = FILES[ENTRY]
    control = (
        f'hio: entry/v1\nid: n1\nservice: {SERVICE}\nafter: ["{pin("b0", base)}"]\nby: someone\n'
        'at: "2026-01-02T00:00:00Z"\nkind: negative-control\nfactor: server.port\n'
    )
    repo = load(Folder(write(tmp_path, {**FILES, ENTRY.replace("b0", "n1"): control})))
    required = {each.compared.address: each.why for each in _resolved(repo).required()}
    assert required == {"server.threads": "it differs", "server.port": "n1 excluded it"}
    assert "server.port" in _scaffolded(repo).decode()


def test_an_increment_that_neither_side_sets_any_more_awaits_a_person(tmp_path: Path) -> None:
    increment = (
        f'hio: entry/v1\nid: n1\nservice: {SERVICE}\nafter: ["{pin("b0", FILES[ENTRY])}"]\nby: someone\n'
        'at: "2026-01-02T00:00:00Z"\nkind: increment\nfactor: server.batch-size\n'
    )
    repo = load(Folder(write(tmp_path, {**FILES, ENTRY.replace("b0", "n1"): increment})))
    row = '{factor: server.batch-size, from: "2048", to: "2048", disposition: undecided}'
    assert row in _scaffolded(repo).decode()
