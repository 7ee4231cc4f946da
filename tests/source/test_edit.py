"""Edits change what they must and nothing else: comments, quotes, widths and order of the rest stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from hio_validate.diagnostic import Path
from hio_validate.source import Document, read
from hio_validate.source.characters import Unreadable, decode
from hio_validate.source.construct import construct
from hio_validate.source.edit import Append, CannotEdit, Edit, Remove, Set, edit
from hio_validate.source.fault import Malformed
from tests.source.yaml_texts import keys, same, values, written_by_hand

EXAMPLES = settings(deadline=None, max_examples=150, database=None)


def unshared(data: Any) -> Any:
    """A copy without shared parts: what a reader of the text sees, where an alias is as good as a copy."""
    if isinstance(data, dict):
        return {key: unshared(value) for key, value in data.items()}
    return [unshared(each) for each in data] if isinstance(data, list) else data


def places(data: Any, at: Path = ()) -> list[Path]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(deeper for key, value in entries for deeper in places(value, (*at, key)))]


def value_at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def expected(data: Any, change: Edit) -> Any:
    data = unshared(data)
    match change:
        case Set(path, value):
            value_at(data, path[:-1])[path[-1]] = value
        case Append(path, value):
            value_at(data, path).append(value)
        case Remove(path):
            del value_at(data, path[:-1])[path[-1]]
    return data


@st.composite
def edits(draw: st.DrawFn, data: Any) -> Edit:
    every = places(data)
    lists = [path for path in every if isinstance(value_at(data, path), list)]
    mappings = [path for path in every if isinstance(value_at(data, path), dict)]
    kinds = ["set", "add", "remove"] + ["append"] * (2 if lists else 0)
    match draw(st.sampled_from(kinds)):
        case "append":
            return Append(draw(st.sampled_from(lists)), draw(values))
        case "add":
            return Set((*draw(st.sampled_from(mappings)), draw(keys)), draw(values))
        case "set":
            return Set(draw(st.sampled_from(every[1:])), draw(values))
    return Remove(draw(st.sampled_from(every[1:])))


def well_formed(text: str) -> Document:
    document = read(text.encode(), "x.yaml")
    assume(document.data)
    return document


def lines_of(text: str, built: Document, change: Edit) -> tuple[int, int]:
    """The first line that the edit may touch, and the first line after those."""
    spans = construct(decode(text.encode()), spans=True).spans
    path = change.path if change.path in spans else change.path[:-1]
    if isinstance(change, Remove) and len(value_at(built.data, path[:-1])) == 1:
        path = path[:-1]
    span = spans[path]
    ends = [each.end for at, each in spans.items() if at[: len(path)] == path and not each.block]
    last = max(ends, key=lambda mark: mark.index) if ends else span.end
    body = text[: last.index].rstrip()
    start = span.key if span.key and isinstance(change, Remove) else span.start
    return start.line, max(body.count("\n"), start.line) + 1


@EXAMPLES
@given(written_by_hand(), st.data())
def test_an_edit_gives_the_intended_data_in_the_lines_of_its_node_or_is_refused(
    text: str, data: st.DataObject
) -> None:
    built = well_formed(text)
    change = data.draw(edits(built.data))
    try:
        edited = edit(text.encode(), [change]).decode()
    except CannotEdit:
        event(f"{type(change).__name__}: refused")
        return
    event(f"{type(change).__name__}: done")
    after = read(edited.encode(), "x.yaml")
    assert not after.faults
    assert same(after.data, expected(built.data, change))
    first, last = lines_of(text, built, change)
    before, now = text.split("\n"), edited.split("\n")
    below = len(before) - last
    assert len(now) >= first + below
    assert now[:first] == before[:first]
    assert now[len(now) - below :] == before[last:]


@EXAMPLES
@given(written_by_hand(), st.data())
def test_adding_to_a_block_is_one_new_line_and_nothing_else(text: str, data: st.DataObject) -> None:
    document = well_formed(text)
    blocks = [path for path, span in construct(decode(text.encode()), spans=True).spans.items() if span.block]
    at = data.draw(st.sampled_from(blocks))
    there = value_at(document.data, at) if "<<" not in at else None
    assume(there is not None)
    key = data.draw(keys.filter(lambda key: key not in there))
    change: Edit = (
        Append(at, data.draw(values)) if isinstance(there, list) else Set((*at, key), data.draw(values))
    )
    try:
        now = edit(text.encode(), [change]).decode().rstrip("\n").split("\n")
    except CannotEdit:
        return
    before = text.rstrip("\n").split("\n")
    blank = len(text.split("\n")) - len(before)
    assert len(now) <= len(before) + 1 + blank
    assert any(now[:at] + now[at + 1 :] == before[: len(now) - 1] for at in range(len(now)))


CASES: dict[str, tuple[str, Edit, str]] = {
    "a-value": ("a: 1  # why\nb: 2\n", Set(("a",), 3), "a: 3  # why\nb: 2\n"),
    "a-quoted-value": ("a: 'x'   # why\n", Set(("a",), "no"), 'a: "no"   # why\n'),
    "a-value-in-flow": ("r: {factor: t, from: 1, to: 2}\n", Set(("r", "to"), "x: y"), 'r: {factor: t, from: 1, to: "x: y"}\n'),
    "nothing": ("a:   # why\nb: 1\n", Set(("a",), "x"), "a: x   # why\nb: 1\n"),
    "an-item-that-is-nothing": ("a:\n  -\n  - x\n", Set(("a", 0), "z"), "a:\n  - z\n  - x\n"),
    "a-literal": ("a: |\n  x\n  y\n# note\nb: 1\n", Set(("a",), "z"), "a: z\n# note\nb: 1\n"),
    "a-block-by-a-value": ("a:\n  - x\n  - y  # why\nb: 1\n", Set(("a",), ["z"]), "a:\n  [z]  # why\nb: 1\n"),
    "a-list-under-its-key": ("a:\n- x\n- y\nb: 1\n", Set(("a",), ["z"]), "a:\n [z]\nb: 1\n"),
    "an-alias": ("a: &x 1\nb: *x\n", Set(("b",), 2), "a: &x 1\nb: 2\n"),
    "a-merged-key": ("a: &x {k: 1}\nb:\n  <<: *x\n", Set(("b", "k"), 2), "a: &x {k: 1}\nb:\n  <<: *x\n  k: 2\n"),
    "behind-a-mark": ("\ufeffa: 1\n", Set(("a",), 2), "\ufeffa: 2\n"),
    "a-new-key": ("a:\n  b: 1  # why\n  # end\nc: 2\n", Set(("a", "k"), True), "a:\n  b: 1  # why\n  k: true\n  # end\nc: 2\n"),
    "a-new-key-in-a-row": ("r:\n  - a: 1\n    b: 2\n", Set(("r", 0, "c"), 3), "r:\n  - a: 1\n    b: 2\n    c: 3\n"),
    "a-new-key-in-flow": ("r: {a: 1, }\n", Set(("r", "c"), [1]), "r: {a: 1, c: [1], }\n"),
    "a-new-key-at-the-top": ("a: 1\n\n# foot\n", Set(("b",), None), "a: 1\nb: null\n\n# foot\n"),
    "a-new-key-without-newline": ("a: 1", Set(("b",), 2), "a: 1\nb: 2\n"),
    "a-new-key-in-nothing-yet": ("a: {}\n", Set(("a", "b"), 1), "a: {b: 1}\n"),
    "append": ("a:\n  - x\n\n  # about y\n  - y  # why\n\nb: 1\n", Append(("a",), "z"),
               "a:\n  - x\n\n  # about y\n  - y  # why\n  - z\n\nb: 1\n"),
    "append-under-its-key": ("a:\n- x\nb: 1\n", Append(("a",), {"k": "v"}), "a:\n- x\n- {k: v}\nb: 1\n"),
    "append-behind-a-literal": ("a:\n  - |\n    x\n    y\nb: 1\n", Append(("a",), "z"), "a:\n  - |\n    x\n    y\n  - z\nb: 1\n"),
    "append-behind-an-alias": ("x: &x {k: 1}\na:\n  - *x\n", Append(("a",), 1), "x: &x {k: 1}\na:\n  - *x\n  - 1\n"),
    "append-in-flow": ("a: [x, y]  # why\n", Append(("a",), "z"), "a: [x, y, z]  # why\n"),
    "append-in-wide-flow": ("a: [\n  x,  # one\n  y,  # two\n]\n", Append(("a",), "z"), "a: [\n  x,  # one\n  y, z,  # two\n]\n"),
    "append-to-nothing-yet": ("a: []\n", Append(("a",), "z"), "a: [z]\n"),
    "remove-a-key": ("a: 1\n# about b\nb:\n  - x\n  - y\nc: 2\n", Remove(("b",)), "a: 1\n# about b\nc: 2\n"),
    "remove-an-item": ("a:\n  - x  # one\n  - {k: 1}  # two\n  - y\n", Remove(("a", 1)), "a:\n  - x  # one\n  - y\n"),
    "remove-the-last-item": ("a:\n  - x  # one\nb: 1\n", Remove(("a", 0)), "a:\n  []  # one\nb: 1\n"),
    "remove-from-flow": ("a: [x, y, z]\n", Remove(("a", 1)), "a: [x, z]\n"),
    "remove-the-end-of-flow": ("a: {x: 1, y: 2}\n", Remove(("a", "y")), "a: {x: 1}\n"),
    "remove-from-wide-flow": ("a: [\n  x,\n  y,  # two\n  z\n]\n", Remove(("a", 1)), "a: [\n  x,\n  z\n]\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_an_edit_writes(case: str) -> None:
    before, change, after = CASES[case]
    assert edit(before.encode(), [change]).decode() == after


REFUSED: dict[str, tuple[str, Edit]] = {
    "no-such-key": ("a: 1\n", Remove(("b",))),
    "no-such-item": ("a: [1]\n", Set(("a", 1), 2)),
    "no-list": ("a: 1\n", Append(("a",), 2)),
    "the-document-itself": ("a: 1\n", Set((), {})),
    "an-anchor-that-is-used": ("a: &x [1]\nb: *x\n", Append(("a",), 2)),
    "an-anchor-that-would-vanish": ("a: &x 1\nb: *x\n", Set(("a",), 2)),
    "the-inside-of-an-alias": ("a: &x [1]\nb: *x\n", Append(("b",), 2)),
    "the-inside-of-an-alias-of-keys": ("a: &x {k: 1}\nb: *x\n", Set(("b", "n"), 2)),
    "a-key-that-is-merged": ("a: &x {k: 1}\nb: {<<: *x, n: 1}\n", Remove(("b", "k"))),
    "a-key-beside-its-dash": ("r:\n  - a: 1\n    b: 2\n", Remove(("r", 0, "a"))),
    "a-list-that-starts-in-a-line": ("a:\n  - - x\n    - y\n", Append(("a", 0), "z")),
    "the-blank-lines-of-a-text": ("a:\n  - |+\n    x\n\n", Append(("a",), "z")),
    "a-document-with-a-key-twice": ("a: 1\nb: 2\na: 3\n", Set(("b",), 4)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_edited_alone_is_refused(case: str) -> None:
    text, change = REFUSED[case]
    with pytest.raises(CannotEdit):
        edit(text.encode(), [change])


def test_edits_are_made_in_their_order() -> None:
    changes = [Append(("a",), "w"), Append(("a",), "z"), Remove(("a", 0)), Set(("b",), 2), Set(("b",), 3)]
    assert edit(b"a:\n  - x\nb: 1  # why\n", changes) == b"a:\n  - w\n  - z\nb: 3  # why\n"


@pytest.mark.parametrize("raw", [b"a: [", b"", b"a: 1\n---\nb: 1\n"])
def test_what_is_no_document_is_not_edited(raw: bytes) -> None:
    with pytest.raises(Malformed):
        edit(raw, [Set(("a",), 1)])


def test_what_no_one_can_see_is_not_edited() -> None:
    with pytest.raises(Unreadable):
        edit(b"a: 1\r\n", [Set(("a",), 1)])


@EXAMPLES
@given(written_by_hand())
def test_no_edit_changes_no_byte(text: str) -> None:
    assume(read(text.encode(), "x.yaml").faults == ())
    assert edit(text.encode(), []) == text.encode()
