"""Files become documents, documents become items that are found by kind, service and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from hio_validate.repo import (
    Item,
    Repo,
    Tree,
    documents_in,
    evidence_files,
    item_of,
    load,
    references,
)
from hio_validate.source import digest_of, read
from hio_validate.surroundings import around

DIGEST = "0123456789abcdef" * 4
SERVICES = "manifests/services"


@dataclass
class Files:
    """A tree in memory; `locked` files exist and cannot be read."""

    content: Mapping[str, str]
    locked: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)

    def paths(self) -> Sequence[str]:
        return sorted({*self.content, *self.locked})

    def read(self, path: str) -> bytes:
        self.asked.append(path)
        if path in self.locked:
            raise PermissionError(13, "Permission denied", path)
        if path not in self.content:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.content[path].encode()


def stack(name: str, build: str = "") -> str:
    built = f", build: {build}" if build else ""
    return f"hio: stack/v1\nname: {name}\nprocesses: {{server: {{engine: llama-server{built}}}}}\n"


def entry(id_: str, service: str, more: str) -> str:
    return f'hio: entry/v1\nid: {id_}\nservice: {service}\nby: me\nat: "2026-09-16T23:58:00Z"\n{more}'


def matrix(more: str = "") -> str:
    return f"hio: matrix/v1\nname: m\nservice: lab/one\nparent: base\ncandidate: lab/two/fast\n{more}"


TREE = {
    f"{SERVICES}/lab/one/stacks/base.yaml": stack("base", "b1"),
    f"{SERVICES}/lab/two/stacks/base.yaml": stack("base"),
    f"{SERVICES}/lab/two/stacks/fast.yml": stack("fast"),
    "manifests/engines/llama-server/b1/engine.yaml": "hio: engine/v1\nname: b1\nfamily: llama-server\n",
    "manifests/engines/llama-server/family.yaml": "hio: family/v1\nname: llama-server\n",
    "manifests/sites/lab.yaml": "hio: site/v1\nname: lab\n",
    "ledger/lab/one/2026/e1.yaml": entry("e1", "lab/one", "after: []\nkind: merge\n"),
    "matrix/lab/one/m.yaml": matrix("rows: []\n"),
    f"{SERVICES}/lab/one/runs/r1/rows.tsv": "arm\tx\n",
    "schemas/stack.yaml": stack("elsewhere"),
    "README.md": "hio: stack/v1\n",
}


def repo(tree: Tree | None = None) -> Repo:
    return load(tree or Files(TREE))


def found(repo: Repo, kind: str, name: str, service: str | None = None) -> str | None:
    item = repo.find(kind, name, service)
    return item and item.file


def item(text: str, file: str = f"{SERVICES}/lab/one/stacks/x.yaml") -> Item:
    return item_of(read(text.encode(), file))


def test_documents_are_yaml_files_in_the_three_rooms() -> None:
    outside = {f"{SERVICES}/lab/one/runs/r1/rows.tsv", "schemas/stack.yaml", "README.md"}
    assert set(documents_in(Files(TREE))) == set(TREE) - outside
    assert {each.file for each in repo().items} == set(TREE) - outside
    assert all(each.model is not None for each in repo().items)


@pytest.mark.parametrize(
    ("file", "name", "service"),
    [
        (f"{SERVICES}/lab/one/stacks/base.yaml", "base", "lab/one"),
        (f"{SERVICES}/lab/one/captures/a.b.yaml", "a.b", "lab/one"),
        (f"{SERVICES}/lab/one/runs/r1/run.yaml", "r1", "lab/one"),
        (f"{SERVICES}/lab/one/runs/r1/captures/leg.yaml", "leg", "lab/one"),
        ("ledger/lab/one/2026/e1.yaml", "e1", "lab/one"),
        ("matrix/lab/one/m.yml", "m", "lab/one"),
        ("matrix/lab/m.yaml", "m", None),
        ("manifests/sites/lab.yaml", "lab", None),
        ("manifests/engines/llama-server/b1/engine.yaml", "b1", None),
        ("manifests/engines/llama-server/family.yaml", "llama-server", None),
        ("engine.yaml", "engine", None),
    ],
)
def test_a_path_gives_name_and_service(file: str, name: str, service: str | None) -> None:
    made = item("a: [", file)
    assert (made.name, made.service, made.kind, made.model, made.refused) == (name, service, "", None, ())


def test_a_document_outside_its_room_has_the_service_it_says() -> None:
    assert item(matrix("rows: []\n"), "m.yaml").service == "lab/one"
    assert item(matrix("rows: []\n"), "matrix/lab/two/m.yaml").service == "lab/two"


@pytest.mark.parametrize(
    "said",
    ["", "hio: stak/v1\n", "hio: 1\n", "hio:\n", "hio: [stack/v1]\n", "hio: {a: 1}\n", "hio: stack/v2\n"],
)
def test_a_document_of_no_kind_is_refused_with_the_kinds_there_are(said: str) -> None:
    made = item(said + "name: x\n")
    assert made.model is None
    (refused,) = made.refused
    assert refused.path == (("hio",) if said else ())
    assert "stack/v1" in refused.help + refused.message


def test_a_refused_document_keeps_its_kind_and_says_all_that_is_wrong() -> None:
    made = item("hio: stack/v1\nname: 1\nprocesses: {}\n")
    assert (made.kind, made.name, made.model) == ("stack/v1", "x", None)
    assert [each.path for each in made.refused] == [("name",), ("processes",)]


def test_a_failing_document_among_others_stops_none_of_them() -> None:
    bad = {
        f"{SERVICES}/lab/one/stacks/a.yaml": "a: [",
        f"{SERVICES}/lab/one/stacks/b.yaml": "a: 1\na: 2\n",
        f"{SERVICES}/lab/one/stacks/c.yaml": "hio: stack/v1\n",
    }
    locked = frozenset({f"{SERVICES}/lab/one/stacks/d.yaml", "ledger/lab/one/2026/e0.yaml"})
    made = load(Files({**TREE, **bad}, locked))
    assert {each.file for each in made.items if each.model is not None} == {
        each.file for each in repo().items
    }
    assert {each.file for each in made.items if each.model is None} == set(bad)
    assert made.unreadable == tuple(f"{path}: Permission denied" for path in sorted(locked))
    for name in "abc":
        assert made.maybe_unread(name)
        assert made.maybe_unread(f"lab/one/{name}")
    assert not made.maybe_unread("base")


def test_a_bare_name_means_one_of_the_same_service() -> None:
    made = repo()
    for service in ("lab/one", "lab/two"):
        assert found(made, "stack/v1", "base", service) == f"{SERVICES}/{service}/stacks/base.yaml"
    assert found(made, "entry/v1", "e1", "lab/one") == "ledger/lab/one/2026/e1.yaml"
    assert found(made, "entry/v1", "e1", "lab/two") is None


def test_a_full_name_means_exactly_that_one() -> None:
    made = repo()
    assert found(made, "stack/v1", "lab/two/fast", "lab/one") == f"{SERVICES}/lab/two/stacks/fast.yml"
    assert found(made, "stack/v1", "lab/three/fast", "lab/one") is None
    assert found(made, "entry/v1", "lab/one/e1", "lab/two") == "ledger/lab/one/2026/e1.yaml"


def test_what_belongs_to_no_service_is_found_from_everywhere() -> None:
    for service in ("lab/one", "lab/two", None):
        assert found(repo(), "engine/v1", "b1", service) == "manifests/engines/llama-server/b1/engine.yaml"
        assert found(repo(), "site/v1", "lab", service) == "manifests/sites/lab.yaml"


def test_a_name_leads_to_its_kind_only() -> None:
    assert found(repo(), "capture/v1", "base", "lab/one") is None
    assert found(repo(), "stack/v1", "nobody", "lab/one") is None


def test_valid_items_of_a_kind_come_in_path_order() -> None:
    files = [each.file for each in repo().of("stack/v1")]
    assert files == sorted(files)
    assert len(files) == 3


def test_a_file_beside_a_document_is_read_once_and_never_outside_the_tree() -> None:
    tree = Files({**TREE, "secret": "s"})
    made = load(tree)
    (run,) = [each for each in made.items if each.file == "matrix/lab/one/m.yaml"]
    rows = f"{SERVICES}/lab/one/runs/r1/rows.tsv"
    for _ in range(2):
        assert made.beside(run, f"../../../{rows}") == b"arm\tx\n"
        assert made.beside(run, f"./../../..//{SERVICES}/./lab/one/runs/r1/rows.tsv") == b"arm\tx\n"
    assert tree.asked.count(rows) == 1
    assert made.beside(run, "none.tsv") is None
    assert made.beside(run, "../../../../secret") is None
    assert made.digest_beside(run, "../../../secret") == digest_of(b"s").removeprefix("sha256:")
    assert made.digest_beside(run, "none.tsv") is None


def cited(text: str) -> list[tuple[str, str, str, str | None]]:
    made = item(text)
    assert made.model is not None, made.refused
    return [(".".join(map(str, each.path)), each.kind, each.name, each.digest) for each in references(made)]


def test_a_stack_cites_its_builds() -> None:
    assert cited(stack("x", "b1")) == [("processes.server.build", "engine/v1", "b1", None)]
    assert cited(stack("x")) == []


def test_a_matrix_cites_stacks_captures_tips_and_evidence() -> None:
    rows = (
        "rows:\n  - {preserved: [a]}\n  - {factor: b, from: 1, to: 2, disposition: changed, evidence: e1}\n"
    )
    bundle = "  - {bundle: c, disposition: retest, members: [d], evidence: lab/two/e2}\n"
    assert cited(matrix(f"{rows}{bundle}as_of: [e3]\ncaptures: {{candidate: c1}}\n")) == [
        ("parent", "stack/v1", "base", None),
        ("candidate", "stack/v1", "lab/two/fast", None),
        ("captures.candidate", "capture/v1", "c1", None),
        ("as_of.0", "entry/v1", "e3", None),
        ("rows.1.evidence", "entry/v1", "e1", None),
        ("rows.2.evidence", "entry/v1", "lab/two/e2", None),
    ]


RUN = f"""\
hio: run/v1
name: x
service: lab/one
plan: p1@sha256:{DIGEST}
arms:
  a: {{stack: base@sha256:{DIGEST}, captures: [c1@sha256:{DIGEST}]}}
raw: {{file: rows.tsv, sha256: "{DIGEST}", format: tsv, rows: 1, arm: arm}}
columns: {{arm: {{unit: text}}}}
logs: [{{file: a.log, sha256: "{DIGEST}"}}]
"""


def test_a_run_pins_plan_stacks_and_captures() -> None:
    assert cited(RUN) == [
        ("plan", "plan/v1", "p1", f"sha256:{DIGEST}"),
        ("arms.a.stack", "stack/v1", "base", f"sha256:{DIGEST}"),
        ("arms.a.captures.0", "capture/v1", "c1", f"sha256:{DIGEST}"),
    ]


def test_an_entry_pins_its_tips_and_what_it_relies_on() -> None:
    text = f"after: [e0@sha256:{DIGEST}]\nkind: correction\ncorrects: e9\npins: {{run: lab/two/r1@sha256:{DIGEST}, matrix: m@sha256:{DIGEST}}}\n"
    assert cited(entry("x", "lab/one", text)) == [
        ("after.0", "entry/v1", "e0", f"sha256:{DIGEST}"),
        ("pins.run", "run/v1", "lab/two/r1", f"sha256:{DIGEST}"),
        ("pins.matrix", "matrix/v1", "m", f"sha256:{DIGEST}"),
        ("corrects", "entry/v1", "e9", None),
    ]


def test_every_reference_stands_at_a_value_of_its_document() -> None:
    for text in (RUN, matrix("rows: []\n"), stack("x", "b1")):
        made = item(text)
        for each in references(made):
            here = made.document.data
            for part in each.path:
                here = here[part]
            assert here.partition("@")[0] == each.name


def test_evidence_is_the_files_that_a_document_relies_on_by_their_bytes() -> None:
    assert list(evidence_files(item(RUN))) == [
        (("raw", "sha256"), "rows.tsv", DIGEST),
        (("logs", 0, "sha256"), "a.log", DIGEST),
    ]
    engine = f'hio: engine/v1\nname: x\nfamily: f\nhelp: {{file: help.txt, sha256: "{DIGEST}"}}\n'
    assert list(evidence_files(item(engine))) == [(("help", "sha256"), "help.txt", DIGEST)]
    assert list(evidence_files(item(stack("x")))) == []


def test_around_a_file_stand_those_it_names_and_those_that_name_it() -> None:
    base = f"{SERVICES}/lab/one/stacks/base.yaml"
    far = "manifests/sites/far.yaml"
    read, focus = around(Files({**TREE, far: "hio: site/v1\nname: far\n"}), [base])
    needed = {item.file for item in read.items}
    assert {base, "matrix/lab/one/m.yaml"} <= focus
    assert f"{SERVICES}/lab/two/stacks/fast.yml" not in focus
    assert {
        base,
        "matrix/lab/one/m.yaml",
        "manifests/engines/llama-server/b1/engine.yaml",
        "manifests/engines/llama-server/family.yaml",
        f"{SERVICES}/lab/two/stacks/fast.yml",
        "ledger/lab/one/2026/e1.yaml",
        "manifests/sites/lab.yaml",
    } <= needed, "the site, for it fills the place-holders of the stack"
    assert far not in needed
    assert (
        "manifests/sites/lab.yaml"
        not in around(Files(TREE), ["manifests/engines/llama-server/family.yaml"])[1]
    )


def test_around_reads_what_it_can_where_a_file_is_locked() -> None:
    locked = frozenset({"ledger/lab/one/2026/e0.yaml"})
    read, focus = around(Files(TREE, locked), ["matrix/lab/one/m.yaml"])
    assert "matrix/lab/one/m.yaml" in focus
    assert [said.partition(":")[0] for said in read.unreadable] == list(locked)


def test_a_document_of_another_service_that_cites_in_full_depends_too() -> None:
    base = f"{SERVICES}/lab/one/stacks/base.yaml"
    cites = "hio: matrix/v1\nname: {0}\nservice: lab/two\nparent: {1}\ncandidate: fast\nrows: []\n"
    files = {
        "matrix/lab/two/far.yaml": cites.format("far", "lab/one/base"),
        "matrix/lab/two/near.yaml": cites.format("near", "base"),
    }
    focus = around(Files({**TREE, **files}), [base])[1]
    assert "matrix/lab/two/far.yaml" in focus
    assert "matrix/lab/two/near.yaml" not in focus
