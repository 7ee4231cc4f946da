"""Every key and value is found again at its line and column, and what is missing at its nearest ancestor."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hio_validate.diagnostic import Location, Path
from hio_validate.source import Document, read
from tests.source.yaml_texts import keys, texts, values, written_by_hand

EXAMPLES = settings(deadline=None, max_examples=60, database=None)


class Placed:
    """Writes data as text and remembers where it put each key and value."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.text = draw, ""
        self.keys: dict[Path, tuple[int, int]] = {}
        self.values: dict[Path, tuple[int, int]] = {}
        self.dashes: dict[Path, tuple[int, int]] = {}

    def here(self) -> tuple[int, int]:
        return self.text.count("\n") + 1, len(self.text.rpartition("\n")[2]) + 1

    def gap(self) -> None:
        self.text += self.draw(st.sampled_from(("", "", "# note\n", "\n", "\n# a: b\n")))

    def mapping(self, data: dict[str, Any], path: Path, indent: int) -> None:
        for key, value in data.items():
            self.gap()
            self.text += " " * indent
            self.keys[(*path, key)] = self.here()
            self.text += double_quoted(key) + ":"
            self.value(value, (*path, key), indent)

    def value(self, value: Any, path: Path, indent: int) -> None:
        block = isinstance(value, dict | list) and value and self.draw(st.booleans())
        self.text += "\n" if block else " " * self.draw(st.integers(1, 3))
        if block:
            deeper = indent + 2
            self.gap()
            (self.mapping if isinstance(value, dict) else self.sequence)(value, path, deeper)
            self.values[path] = self.first_inside(value, path)
        else:
            self.flow(value, path)
            self.text += self.draw(st.sampled_from(("", "  # why"))) + "\n"

    def first_inside(self, value: Any, path: Path) -> tuple[int, int]:
        if isinstance(value, dict):
            return self.keys[(*path, next(iter(value)))]
        return self.dashes[(*path, 0)]

    def sequence(self, items: list[Any], path: Path, indent: int) -> None:
        for at, item in enumerate(items):
            self.gap()
            self.text += " " * indent
            self.dashes[(*path, at)] = self.here()
            self.text += "-"
            self.value(item, (*path, at), indent)

    def flow(self, value: Any, path: Path) -> None:
        self.values[path] = self.here()
        if isinstance(value, dict):
            self.text += "{"
            for at, (key, item) in enumerate(value.items()):
                self.text += ", " if at else ""
                self.keys[(*path, key)] = self.here()
                self.text += double_quoted(key) + ": "
                self.flow(item, (*path, key))
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for at, item in enumerate(value):
                self.text += ", " if at else ""
                self.flow(item, (*path, at))
            self.text += "]"
        else:
            self.text += double_quoted(value) if isinstance(value, str) else one_word(value)


def double_quoted(text: str) -> str:
    return '"' + "".join(c if c.isalnum() or c in " :#-" else f"\\U{ord(c):08x}" for c in text) + '"'


def one_word(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else "0"


@st.composite
def placed(draw: st.DrawFn) -> Placed:
    writer = Placed(draw)
    data = draw(st.dictionaries(keys, values, min_size=1, max_size=4))
    writer.mapping(data, (), 0)
    return writer


@EXAMPLES
@given(placed())
def test_every_key_and_value_is_found_where_it_was_written(written: Placed) -> None:
    document = read(written.text.encode(), "x.yaml")
    assert document.faults == ()
    for path, place in written.values.items():
        assert document.locate(path) == Location("x.yaml", *place)
    for path, place in written.keys.items():
        assert document.locate(path, key=True) == Location("x.yaml", *place)


@EXAMPLES
@given(placed(), st.data())
def test_what_is_missing_is_told_at_its_nearest_ancestor(written: Placed, data: st.DataObject) -> None:
    document = read(written.text.encode(), "x.yaml")
    path = data.draw(st.sampled_from(sorted(written.values, key=str)))
    missing = (*path, "no such key", 3, "deeper")
    assert document.locate(missing) == Location("x.yaml", *written.keys.get(path, written.values[path]))


@EXAMPLES
@given(written_by_hand())
def test_every_value_has_a_place_whatever_the_habits(text: str) -> None:
    document = read(text.encode(), "x.yaml")
    assume(document.data is not None)
    lines = text.split("\n")
    for path in document.places:
        place = document.locate(path)
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


def located(text: str, *path: str | int, key: bool = False) -> str:
    place = read(text.encode(), "x.yaml").locate(path, key=key)
    return f"{place.line}:{place.column}"


@pytest.mark.parametrize(
    ("text", "path", "value", "key"),
    [
        ("a: 1\nb:  2\n", ("b",), "2:5", "2:1"),
        ("é: [日本, x]\n", ("é", 1), "1:9", "1:9"),
        ("a:\n- x\n- y\n", ("a", 1), "3:3", "3:3"),
        ("a:\nb: 1\n", ("a",), "1:3", "1:1"),
        ("a:\n  - b: 1\n    c: 2\n", ("a", 0, "c"), "3:8", "3:5"),
        ("a: &x {b: 1}\nc: *x\n", ("c",), "2:4", "2:1"),
        ("a: &x {b: 1}\nc: *x\n", ("c", "b"), "2:1", "2:1"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", ("c", "b"), "3:3", "3:3"),
        ("a: &x {b: 1}\n<<: *x\nc: 1\n", ("b", "k"), "2:1", "2:1"),
        ("a: &x {b: 1}\n<<: *x\nc: 1\n", ("d",), "1:1", "1:1"),
        ("a: |\n  x\n  y\nb: 1\n", ("a",), "1:4", "1:1"),
        ('? "a"\n: 1\n', ("a",), "2:3", "1:3"),
        ("---\n# x\na: 1\n", (), "3:1", "3:1"),
        ("\ufeffa: 1\n", ("a",), "1:4", "1:1"),
    ],
)
def test_places(text: str, path: Path, value: str, key: str) -> None:
    assert located(text, *path) == value
    assert located(text, *path, key=True) == key


@pytest.mark.parametrize("raw", [b"a: [", b"a: \xff", b""])
def test_what_cannot_be_read_has_no_place_but_the_file(raw: bytes) -> None:
    assert read(raw, "x.yaml").locate(("a",)) == Location("x.yaml")


@EXAMPLES
@given(texts)
def test_lines_are_those_of_an_editor(text: str) -> None:
    assert Document("x.yaml", text.encode()).lines == text.removeprefix("\ufeff").split("\n")
