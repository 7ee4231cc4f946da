"""A document means the same, and is refused with the same words, through every way it can be read.

All traps stand in one real git repository among good files: read one by one, in bulk from the folder, from the
work tree, from the index and from HEAD.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from hio_validate import engine
from hio_validate.history import Folder, WorkTree, index_of, revision
from hio_validate.repo import Tree, item_of, load
from hio_validate.rules import RULES
from hio_validate.source import Document, read
from hio_validate.source.characters import LARGEST_DOCUMENT
from hio_validate.surroundings import around
from tests.source.traps import FINE, TRAPS
from tests.source.yaml_texts import same

ROOM = "manifests/services/lab/model/stacks"
HUGE = b"a: x\n" + b"#" * (LARGEST_DOCUMENT - 5) + b"\n"
GOOD = ("a-good", "m-good", "z-good")


def good(name: str) -> bytes:
    return f'hio: stack/v1\nname: {name}\nprocesses: {{server: {{engine: llama-server, argv: [["-t", "2"]]}}}}\n'.encode()


CONTENT = {
    **{f"{ROOM}/{name}.yaml": good(name) for name in GOOD},
    **{f"{ROOM}/{each.name}.yaml": each.raw for each in (*TRAPS, *FINE)},
    f"{ROOM}/huge.yaml": HUGE,
}


def git(root: Path, *arguments: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean |= {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(root.parent)}
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", *arguments], cwd=root, env=clean, check=True, capture_output=True
    )


@dataclass(frozen=True)
class Only:
    """A tree of one file."""

    path: str
    tree: Tree

    def paths(self) -> list[str]:
        return [self.path]

    def read(self, path: str) -> bytes:
        return self.tree.read(path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("traps") / "repository"
    (root / ROOM).mkdir(parents=True)
    for path, raw in CONTENT.items():
        (root / path).write_bytes(raw)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false")
    git(root, *who, "commit", "--quiet", "--message", "traps")
    return root


def bulk(tree: Tree | None) -> Iterator[Document]:
    assert tree is not None
    return (item.document for item in load(tree).items)


def one_by_one(root: Path) -> Iterator[Document]:
    for path in CONTENT:
        (item,) = load(Only(path, Folder(root))).items
        yield item.document


def chosen(root: Path) -> Iterator[Document]:
    return (item.document for item in around(Folder(root), CONTENT)[0].items)


WAYS: dict[str, Callable[[Path], Iterator[Document]]] = {
    "one-file-at-a-time": one_by_one,
    "chosen-files": chosen,
    "folder": lambda root: bulk(Folder(root)),
    "work-tree": lambda root: bulk(WorkTree(root)),
    "index": lambda root: bulk(index_of(root)),
    "head": lambda root: bulk(revision(root)),
}


@cache
def alone(path: str) -> Document:
    """The document read from its bytes, without any repository."""
    return read(CONTENT[path], path)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_same_faults_and_data_and_stops_at_none(way: str, root: Path) -> None:
    documents = {document.file: document for document in WAYS[way](root)}
    assert documents.keys() == CONTENT.keys()
    for path, raw in CONTENT.items():
        assert documents[path].raw == raw
        assert documents[path].faults == alone(path).faults, path
        assert same(documents[path].data, alone(path).data), path
    for trap in TRAPS:
        faults = documents[f"{ROOM}/{trap.name}.yaml"].faults
        assert tuple((fault.rule, fault.line, fault.column) for fault in faults) == trap.said
    for name in GOOD:
        assert item_of(documents[f"{ROOM}/{name}.yaml"]).model is not None


def test_what_is_staged_is_read_not_what_lies_in_the_folder(root: Path) -> None:
    path = f"{ROOM}/{TRAPS[0].name}.yaml"
    (root / path).write_bytes(b"mended: yes\n")
    try:
        staged = {item.file: item.document for item in load(index_of(root)).items}[path]
        assert staged.faults == read(TRAPS[0].raw, path).faults
    finally:
        (root / path).write_bytes(TRAPS[0].raw)


@pytest.mark.parametrize("tree", ["folder", "index"])
def test_the_report_names_rule_line_and_column_of_every_trap(tree: str, root: Path) -> None:
    kinds = ("syntax-error", "duplicate-key", "ambiguous-scalar")
    rules = [rule for rule in RULES if rule.id in kinds]
    report = engine.run(load(Folder(root) if tree == "folder" else index_of(root)), rules=rules)
    found = sorted((Path(each.location.file).stem, each.rule, each.location.line, each.location.column)
                   for each in report.diagnostics)  # fmt: skip
    expected = [(trap.name, *said) for trap in TRAPS for said in trap.said]
    expected += [("huge", "syntax-error", 0, 0)]
    assert found == sorted(expected)
    assert report.exit_code == 1
    assert report.documents == len(CONTENT)
