"""A result file on its way in: lines with their numbers, strict JSON, one sentence for what cannot be read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results import source as reading
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source


def of(tmp_path: Path, content: bytes | str) -> Source:
    file = tmp_path / "results.any"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(file)


def test_lines_keep_their_numbers_over_blank_ones_and_foreign_ends(tmp_path: Path) -> None:
    source = of(tmp_path, b"\xef\xbb\xbfone\r\n\n  \nfour\n five")
    assert list(source.lines()) == [(1, "one"), (4, "four"), (5, " five")]


def test_who_waits_is_told_how_much_was_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one\ntwo\n")
    told: list[int] = []
    assert len(list(Source(file, told=told.append).lines())) == 2
    assert told == [4, 8]


def test_json_is_exact_and_keeps_infinity(tmp_path: Path) -> None:
    assert of(tmp_path, '{"a": 9007199254740993, "b": Infinity, "c": 0.1}').json() == {
        "a": 9007199254740993, "b": float("inf"), "c": 0.1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": 1,\n "b": 2, "a": 3}', "results.any:1: the key a stands twice"),
        ('{"a": 1,\n "b": }', "results.any:2: no JSON from here on"),
        ('{"a": 1}\n{"a": 2}', "results.any:2: no JSON from here on"),
        ('{"a": 1e999}', "a number is too long"),
        ('{"a": -1.5E+999}', "a number is too long"),
        ('{"a": ' + "9" * 250 + "e99}", "a number is too long"),
        ('{"a": ' + "9" * 310 + ".0}", "a number is too long"),
        ('{"a": ' + "9" * 310 + "}", "a number is too long"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
        (b'{"a": "\xff"}', "results.any:1: the line is not UTF-8"),
    ],
)
def test_json_that_cannot_be_read_is_told_in_a_sentence(
    tmp_path: Path, content: bytes | str, said: str
) -> None:
    with pytest.raises(CannotImport) as told:
        of(tmp_path, content).json()
    assert said in str(told.value) and told.value.code == 1


def test_a_line_without_end_is_refused_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST", 1 << 20)
    with pytest.raises(CannotImport, match=r"results\.any:2: the line is longer than 1 MiB"):
        list(of(tmp_path, b"one\n" + b"x" * (2 << 20)).lines())


def test_a_file_that_must_be_read_as_one_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WHOLE", 1 << 20)
    with pytest.raises(CannotImport, match="larger than 1 MiB and has to be read as one"):
        of(tmp_path, b" " * (2 << 20)).json()


@pytest.mark.parametrize("what", ["a folder", "not there"])
def test_what_is_no_file_is_told(tmp_path: Path, what: str) -> None:
    source = Source(tmp_path if what == "a folder" else tmp_path / "absent")
    with pytest.raises(CannotImport, match=f"it is {what}") as told:
        list(source.lines())
    assert told.value.code == 3


def test_the_head_is_text_whatever_the_bytes_are(tmp_path: Path) -> None:
    assert of(tmp_path, b"\xef\xbb\xbf{\xff").head == "{�"


BOTH = pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])


def wide(text: str, encoding: str) -> bytes:
    return ("\ufeff" + text).encode(encoding, "surrogatepass")


@BOTH
def test_utf_16_with_its_mark_is_read_as_text(tmp_path: Path, encoding: str) -> None:
    text = "\u010a\u0a00 \U0001f600 one\r\n\r\nthree " + "x" * 300_000 + "\r\n"
    source = of(tmp_path, wide(text, encoding))
    assert source.head.startswith("\u010a\u0a00 \U0001f600 one\r\n") and source.is_wide
    assert [(number, line[:20]) for number, line in source.lines()] == [
        (1, "\u010a\u0a00 \U0001f600 one"),
        (3, "three xxxxxxxxxxxxxx"),
    ]
    assert source.tail(1).endswith("\n") and source.tail(4)[-3:] == "x\r\n"
    assert of(tmp_path, wide('{"a": "\u20ac"}', encoding)).json() == {"a": "\u20ac"}


@BOTH
@pytest.mark.parametrize("end", [b"\x20", "\ud800".encode("utf-16-le", "surrogatepass")])
def test_what_is_no_utf_16_is_refused_where_it_stands(tmp_path: Path, encoding: str, end: bytes) -> None:
    end = end if encoding == "utf-16-le" else end[::-1]
    with pytest.raises(CannotImport, match=r"results\.any:3: the line is not UTF-8"):
        list(of(tmp_path, wide("one\ntwo\nthree", encoding) + end).lines())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        # Without mtime the bytes, and so the test's name, would change every second.
        (gzip.compress(b"{}", mtime=0), "results.any: it is compressed (gzip)"),
        (b"PK\x03\x04abc", "it is a zip archive"),
        (b"SQLite format 3\x00abc", "it is a database (SQLite)"),
    ],
)
def test_what_is_no_text_is_named_with_what_makes_text_of_it(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(CannotImport) as told:
        importer_of(of(tmp_path, content))
    assert said in str(told.value) and "; " in str(told.value)
