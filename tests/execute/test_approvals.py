"""Which approval covers work with a stack: documents that it names bind it, and one about another document gives nothing."""

from __future__ import annotations

from hashlib import sha256

import pytest

from hio_validate.execute import approvals
from hio_validate.execute.work import Approved
from hio_validate.ledger import Ledger
from hio_validate.repo import Item, item_of
from hio_validate.source import read

SERVICE = "here/tiny"
ROOM = f"manifests/services/{SERVICE}"
NOW = "2026-11-30T12:00:00Z"


def document(file: str, text: str) -> Item:
    item = item_of(read(text.encode(), file))
    assert item.model is not None, item
    return item


def stack(name: str = "quick") -> Item:
    text = f"hio: stack/v1\nname: {name}\nprocesses:\n  server:\n    engine: llama-server\n    argv: [[--threads, '1']]\n"
    return document(f"{ROOM}/stacks/{name}.yaml", text)


def matrix() -> Item:
    text = (
        "hio: matrix/v1\nname: base-to-quick\nservice: here/tiny\nparent: base\ncandidate: quick\nrows: []\n"
    )
    return document(f"matrix/{SERVICE}/base-to-quick.yaml", text)


def approval(id_: str, until: str = "2026-12-01T00:00:00Z", **pins: str) -> Item:
    said = "".join(f"  {role}: {pin}\n" for role, pin in pins.items())
    text = (
        f"hio: entry/v1\nid: {id_}\nkind: approval\nservice: {SERVICE}\nat: 2026-11-30T08:00:00Z\nby: owner\nafter: []\n"
        f"approves: deploy\nservices: [{SERVICE}]\nowners: [owner]\nscope: quick\nuntil: {until}\n"
        + (f"pins:\n{said}" if said else "")
    )
    return document(f"ledger/{SERVICE}/2026/{id_}.yaml", text)


def pin(item: Item) -> str:
    return f'"{item.name}@{item.document.digest}"'


def other(name: str) -> str:
    return f'"{name}@sha256:{sha256(b"of another day").hexdigest()}"'


def given(*entries: Item, change: Item | None = None) -> Approved | str:
    ledger = Ledger(SERVICE, {each.name: each for each in entries})
    return approvals.for_stack("deploy", stack(), ledger, NOW, change)


@pytest.mark.parametrize(
    ("pins", "change"),
    [
        ({}, None),
        ({"stack": pin(stack())}, None),
        ({"stack": pin(stack())}, matrix()),
        ({"matrix": pin(matrix())}, matrix()),
        ({"stack": pin(stack()), "matrix": pin(matrix())}, matrix()),
    ],
    ids=["of-nothing", "of-the-stack", "of-the-stack-of-a-change", "of-the-matrix", "of-both"],
)
def test_what_names_nothing_or_these_documents_covers_them(pins: dict[str, str], change: Item | None) -> None:
    yes = approval("yes", **pins)
    assert given(yes, change=change) == Approved(pin(yes).strip('"'), "deploy", "2026-12-01T00:00:00Z")


@pytest.mark.parametrize(
    ("pins", "change"),
    [
        ({"stack": other("quick")}, matrix()),
        ({"stack": pin(stack()), "matrix": other("base-to-quick")}, matrix()),
        ({"matrix": pin(matrix())}, None),
        ({"stack": pin(stack()), "matrix": pin(matrix())}, None),
        ({"plan": other("quick-2")}, matrix()),
    ],
    ids=["of-other-bytes", "of-another-matrix", "of-a-matrix-alone", "of-a-change", "of-a-plan"],
)
def test_what_is_about_another_document_covers_nothing(pins: dict[str, str], change: Item | None) -> None:
    told = given(approval("yes", **pins), change=change)
    assert isinstance(told, str)
    names = ", ".join(f"{role} {each.strip(chr(34)).partition('@')[0]}" for role, each in pins.items())
    assert f"(yes is about {names} only); its owner gives one with: " in told


def test_of_several_the_one_that_ends_last_is_stood_on() -> None:
    entries = [approval("one", until="2026-12-02T00:00:00Z"), approval("two", until="2026-12-01T00:00:00Z")]
    for ordered in (entries, entries[::-1]):
        found = given(*ordered)
        assert isinstance(found, Approved) and found.until == "2026-12-02T00:00:00Z"
