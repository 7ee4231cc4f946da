"""The quick reader against the strict one, which is the law: it gives the same data at the same places, or leaves the text alone."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hio_validate.source import characters
from hio_validate.source.construct import Malformed, construct, places
from hio_validate.source.fast import DEEPEST, LONGEST, read_plainly
from hio_validate.source.places import places_in
from tests.source.yaml_texts import written_by_hand

REPOSITORY = Path(__file__).resolve().parents[2]

PLAIN = [
    "a: 1\nb: text with words\nc: 1.5\nd: -7\ne: true\nf: null\n",
    "a:\n  b:\n    c: deep\n  d: back\n",
    "a:\n- x\n- y: 1\n  z: 2\nb: 1\n",
    'a:\n  - [one, "two, three", 4]\n  - {k: v, n: 1, q: "x: y"}\n  - []\n  - {}\n',
    "# head\na: 1   # trailing\n\n  # odd column\nb: 'single'\n",
    'at: 2026-11-29T18:12:35Z\nid: sha256:0a1b\nurl: http://host:80/x?y\n"off": off\nno: no\n',
    "a: without a last line feed",
    "a: 127.0.0.1\nb: 0-1\nc: 12:30:45\nd: 1_000\ne: .inf\n",
    'a:\n  - {k: [x, "y, z", 1], l: []}\n  - {preserved: [a.b], through: implicit}\n',
    "argv:\n  - [--threads, 4]\n  - [-t, --x-y, -1]\n  - {k: --flag}\n",
]
LEFT_ALONE = [
    "a: &x 1\nb: *x\n", "a: !t 1\n", "<<: {a: 1}\n", "--- \na: 1\n", "%YAML 1.2\n---\na: 1\n", "a: 1\na: 2\n",
    "a: {b: 1, b: 2}\n", "a: 5319E7\n", "a: 012\n", "a: 9007199254740993\n", "a:\t1\n", "a: |\n  x\n", "a: >\n  x\n",
    "a: one\n  two\n", "a: 'it''s'\n", 'a: "\\n"\n', "a: [b, [c]]\n", "a: {b: {c: 1}}\n", "a: [b,\n  c]\n", "1: a\n",
    "true: a\n", "a: b: c\n", "a:\n    b: 1\n  c: 2\n", "a: 1\n  b: 2\n", "- a\n", "a\n", "", "# only a comment\n",
    "a: [b, ]\n", "a: {b}\n", "a: {b: [[c]]}\n", "a: {b: [c, ]}\n", "a: {b: [{c: 1}]}\n", "a: {b: [c]d}\n", "? a\n: b\n", "a:\n  -\n    b\n", "a: - b\n", "a: 1\n...\n", "a: b #c\nd: e#f\n",
]  # fmt: skip


def same_as_strict(text: str) -> bool:
    """Whether the quick reader took the text; if so, the strict one must read it alike, there and without a fault."""
    quick = read_plainly(text)
    if quick is None:
        return False
    strict = construct(text)
    assert not strict.faults, text
    assert repr(quick) == repr(strict.data), text  # repr: 1, 1.0 and True are three values, and order counts
    assert places_in(text, quick) == places(text), text
    return True


@pytest.mark.parametrize("text", PLAIN)
def test_plain_documents_are_read(text: str) -> None:
    assert same_as_strict(text)


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_everything_else_is_left_to_the_strict_reader(text: str) -> None:
    assert read_plainly(text) is None


def test_limits_are_left_to_the_strict_reader() -> None:
    deep = "".join(f"{'  ' * level}a:\n" for level in range(DEEPEST + 1))
    assert read_plainly(deep) is None
    assert same_as_strict("".join(f"{'  ' * level}a:\n" for level in range(DEEPEST)))
    assert read_plainly(f"a: {'x' * LONGEST}\n") is None
    assert read_plainly(f"{'k' * 1100}: 1\n") is None


def test_the_documents_of_this_repository_are_read() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / "manifests").rglob("*.yaml"))]
    assert len(texts) > 5
    assert sum(same_as_strict(text) for text in texts) > len(texts) / 2


def test_the_tables_that_ship_with_hio_are_read_whole() -> None:
    tables = sorted((REPOSITORY / "hio_validate/settings/families").glob("*.yaml"))
    assert tables
    assert all(same_as_strict(table.read_text(encoding="utf-8")) for table in tables)


def test_every_short_structure() -> None:
    """All documents of three lines out of these, at every column up to four."""
    lines = [
        " " * column + line
        for column in range(5)
        for line in ("a: 1", "a:", "b: [x]", "- a", "- b: 1", "- b:", "x")
    ]
    taken = sum(_agrees("\n".join(three) + "\n") for three in product(lines, repeat=3))
    assert taken > 150


def _agrees(text: str) -> bool:
    if read_plainly(text) is None:
        return False
    try:
        return same_as_strict(text)
    except Malformed as error:
        raise AssertionError(f"{text!r} is refused: {error}") from None


_SCALARS = st.sampled_from(
    ["", "1", "-1", "1.5", "1e5", "1e+5", "5319E7", "012", "0x1F", "0o7", "1_000", ".5", "-.5", ".inf", "~", "null", "True",
     "no", "x y", "x  ", "a:b", "a :b", "a: b", "::", "a:", "#c", "a#c", "- x", "-", "--x", "|", ">-", "&a x", "*a", "!t x",
     '"q, r"', '"q" r', "'s'", "'it''s'", '"\\x41"', '"open', "[a, b]", "[a,b]", "[a , b]", "[a, ]", "[ a]", "[a]b", "[a: b]",
     "[a :b]", "[:a]", "[[a]]", "{a: 1}", "{a: 1, a: 2}", "{a:1}", "{a}", "{'a': 1}", '{"a": b}', "{a: 'x, y', b: [c]}", "{a: [b, 'c'], d: e}", "{a: [b,c]}", "{a: [b: c]}", "{a: [[b]]}", "{a: [b] }", "{a: [b]c}", "{a: [,]}", "é",
     "%x", "@x", "`x", "?x", "? x", "$x", "${m}", "[${m}]", "(x", "x]", "}", "...", "---", "<<", "=", "x" * 1100]
)  # fmt: skip
_KEYS = st.sampled_from(
    ["a", "b", "c", '"a"', "'b'", "a.b", "a b", "1", "true", "~", "<<", '"<<"', "-k", "0-1", "é", '""']
)
_COMMENTS = st.sampled_from(["", "", "", " # c", "  #", "#c", "  "])


@st.composite
def _lines(draw: st.DrawFn) -> str:
    indent = " " * draw(st.integers(0, 6))
    dash = draw(st.sampled_from(["", "", "", "- ", "- ", "-  ", "-", "- - "]))
    key = draw(_KEYS) + draw(st.sampled_from([": ", ": ", ":", ":  ", " : "])) if draw(st.booleans()) else ""
    return indent + dash + key + draw(_SCALARS) + draw(_COMMENTS)


@given(st.lists(_lines(), min_size=1, max_size=7), st.booleans())
@settings(max_examples=700, deadline=None)
def test_whatever_is_taken_is_read_as_the_strict_reader_does(lines: list[str], ends: bool) -> None:
    _agrees("\n".join(lines) + ("\n" if ends else ""))


@given(written_by_hand())
@settings(max_examples=100, deadline=None)
def test_what_people_write_is_read_as_the_strict_reader_does(text: str) -> None:
    try:
        decoded = characters.decode(text.encode())
    except characters.Unreadable:
        return
    _agrees(decoded)


@given(st.text("ab:- #\n[]{}\"',1.0&*!|>%@`?~_eExo\\é$(<=/", max_size=16))
@settings(max_examples=700, deadline=None)
@example("[a :b]")
def test_whatever_is_taken_of_any_value_is_read_as_the_strict_reader_does(text: str) -> None:
    for frame in ("a: {}\n", "a: [x, {}]\n", "a: {{b: {}, c: d}}\n", "a: {{b: [x, {}], c: d}}\n", "{}\n"):
        _agrees(frame.format(text))
