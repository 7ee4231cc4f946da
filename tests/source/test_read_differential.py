"""The same data as ruamel.yaml (YAML 1.2, pure Python), but for the differences listed here.

Each difference is intended; a new one, in either direction, is a failing test.
"""

from __future__ import annotations

import datetime
import re
import warnings
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from hio_validate.source import Document, read
from tests.source.traps import FINE, LIMITS, TRAPS, Fine, Trap
from tests.source.yaml_texts import written_by_hand

EXAMPLES = settings(deadline=None, max_examples=200, database=None)

TEXT_HERE: dict[str, str] = {
    "underscores are no digits": r"[-+]?(?:0[xo])?[0-9a-fA-F._]*_[0-9a-fA-F._]*(?:[eE][-+]?[0-9]+)?",
    "binary is not in YAML 1.2": r"[-+]?0b[01_]+",
    "based numbers have no sign in YAML 1.2": r"[-+]0[xo][0-9a-fA-F]+",
    "dates and times are text": r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?",
}
"""Plain scalars that are text here and something else there."""

NUMBER_HERE: dict[str, str] = {
    "a float may begin with its point and have an exponent": r"[-+]?\.[0-9]+[eE][-+]?[0-9]+",
}
"""Plain scalars that YAML 1.2 calls numbers, and are text there."""

ACCEPTED_HERE: dict[str, str] = {
    "a tab may stand between tokens": r"\t",
    "= is text, as in YAML 1.2": r"(?m)(?:^|[\s\[{,:-])=\s*(?:$|[,\]}#\n])",
    "<< as a value is text": r"<<",
    "a sign or a point with underscores is text": r"[-+.]_",
    "blank lines may stand before the first line of a block of text": r"[|>][^\n]*\n *\n",
}
"""What ruamel refuses -> a sign of it in the text."""

REFUSED_HERE: dict[str, str] = {
    "ambiguous scalars": r"is text here and a number elsewhere|loses its leading zero|beyond 2\^53",
    "no tag is obeyed": r"the tag |a tag or an anchor on a key|a tag that nothing defines",
    "no directive is obeyed": r"directive",
    "keys are text": r"is no text$|a key that is not plain text",
    "a key that is nothing": r"did not find expected key|did not find expected node content",
    "a document is a mapping": r"the document is |the file is empty|nothing but comments",
    "invisible characters": r"character U\+|bidirectional|separator U\+|byte order mark|CRLF|carriage return",
    "limits": r"nested deeper|more than 200,000",
    "nothing contains itself": r"stands inside itself",
    "<< merges mappings": r"<< merges something",
    "a literal at the top needs indentation": r"text after the end of the document|never closed|cannot start any token",
    "an escape is one character, and half of a surrogate pair is none": r"invalid Unicode character escape",
    "punctuation is no key in flow": r"found unexpected ':'",
    "a key twice beside a merge key, where ruamel looks away": r"stands twice",
}
"""Messages of what ruamel accepts."""


def theirs(text: str) -> Any:
    """What ruamel reads; its own exceptions and those of Python's constructors are a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return YAML(typ="safe", pure=True).load(text)


def explained(ours: Any, other: Any) -> bool:
    """Whether both data are equal but for listed scalars."""
    if isinstance(ours, dict) and isinstance(other, dict):
        mine = [key for key in ours if key not in other]
        keys = {key: key for key in ours if key in other} | dict(
            zip(mine, (k for k in other if k not in ours), strict=False)
        )
        return len(keys) == len(ours) == len(other) and all(
            explained(key, its) and explained(ours[key], other[its]) for key, its in keys.items()
        )
    if isinstance(ours, list) and isinstance(other, list):
        return len(ours) == len(other) and all(map(explained, ours, other))
    if type(ours) is type(other):
        return bool(ours == other) or (ours != ours and other != other)
    if isinstance(ours, str) and isinstance(other, int | float | datetime.date):
        return any(re.fullmatch(pattern, ours) for pattern in TEXT_HERE.values())
    if isinstance(ours, float) and isinstance(other, str):
        return any(re.fullmatch(pattern, other) for pattern in NUMBER_HERE.values())
    return False


@pytest.mark.parametrize("name", [*TEXT_HERE, *NUMBER_HERE, *ACCEPTED_HERE, *REFUSED_HERE])
def test_every_listed_difference_is_one(name: str) -> None:
    """The list holds nothing that is not there: dropping a line from it fails here or below."""
    text = SHOWN[name]
    try:
        other = theirs(text)
    except (YAMLError, ValueError):
        assert name in ACCEPTED_HERE
        assert read(text.encode(), "x.yaml").data is not None
        return
    document = read(text.encode(), "x.yaml")
    if name in REFUSED_HERE:
        assert re.search(REFUSED_HERE[name], document.faults[0].message)
    else:
        assert document.data["a"] != other["a"]
        assert explained(document.data, other)


SHOWN = {
    "underscores are no digits": "a: 1_000\n",
    "binary is not in YAML 1.2": "a: 0b11\n",
    "based numbers have no sign in YAML 1.2": "a: -0x1f\n",
    "dates and times are text": "a: 2026-09-16T23:58:00Z\n",
    "a float may begin with its point and have an exponent": "a: .5e3\n",
    "a tab may stand between tokens": "a:\tb\n",
    "= is text, as in YAML 1.2": "a: =\n",
    "<< as a value is text": "a: <<\n",
    "a sign or a point with underscores is text": "a: ._\n",
    "blank lines may stand before the first line of a block of text": "a: |\n  \n   x\n",
    "ambiguous scalars": "a: 5319E7\n",
    "no tag is obeyed": "a: !!str 1\n",
    "no directive is obeyed": "%YAML 1.2\n---\na: 1\n",
    "keys are text": "1: a\n",
    "a key that is nothing": ": a\n",
    "a document is a mapping": "- a\n",
    "invisible characters": 'a: "\u202e"\n',
    "limits": "a: " + "[" * 70 + "]" * 70 + "\n",
    "nothing contains itself": "a: &a [*a]\n",
    "<< merges mappings": "a: {<<: []}\n",
    "a literal at the top needs indentation": "|\na\n",
    "an escape is one character, and half of a surrogate pair is none": 'a: "\\ud83d\\ude00"\n',
    "punctuation is no key in flow": "a: [?x:]\n",
    "a key twice beside a merge key, where ruamel looks away": "b: &b {x: 1}\na: {<<: *b, x: 2, x: 3}\n",
}


def same_or_intended(text: str) -> None:
    document = read(text.encode(), "x.yaml")
    try:
        other = theirs(text)
    except (YAMLError, ValueError, TypeError, RecursionError, KeyError, AttributeError) as error:
        assert refused_there(document, text), f"only ruamel refuses: {error}"
        return
    if document.data is not None:
        assert explained(document.data, other), f"{document.data!r} here, {other!r} there"
    else:
        for fault in document.faults:
            assert fault.rule != "duplicate-key" or "<<" in text
            known = any(re.search(pattern, fault.message) for pattern in REFUSED_HERE.values())
            assert known, f"only we refuse: {fault.message}; ruamel reads {other!r}"


def refused_there(document: Document, text: str) -> bool:
    return document.data is None or any(re.search(pattern, text) for pattern in ACCEPTED_HERE.values())


SCALARS = [
    "no",
    "off",
    "yes",
    "on",
    "y",
    "n",
    "Y",
    "N",
    "True",
    "TRUE",
    "true",
    "~",
    "null",
    "Null",
    "NULL",
    "nULL",
    "1_000",
    "0b11",
    "0o17",
    "0o8",
    "0x1F",
    "0X1F",
    "0xg",
    "+0x1f",
    "-0x1f",
    "017",
    "012",
    "08",
    "00",
    "-01",
    "+1",
    "-0",
    "0",
    "12:30:45",
    "1:30",
    "190:20:30.5",
    "5319E7",
    "5319e7",
    "-5319E7",
    "1e5",
    "1e+5",
    "1E-5",
    "1.e5",
    "1.5e3",
    "1.5E7",
    ".5",
    "-.5",
    "+.5",
    ".5e3",
    "+.5e3",
    "1.",
    "1.0",
    "00.5",
    "010.5",
    ".nan",
    ".NaN",
    ".NAN",
    ".Nan",
    "nan",
    ".inf",
    "-.INF",
    "+.inf",
    ".INF",
    "inf",
    ".",
    "..",
    "-",
    "--",
    "-a",
    "1.2.3",
    "2026-09-16",
    "2026-9-6",
    "2026-09-16T23:58:00Z",
    "2001-12-14t21:59:43.10-05:00",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "0x20000000000001",
    "1e400",
    "1.0e999",
    "=",
    "<<",
    "a:b",
    "x#y",
    "1_0.5",
    "1__0",
    "_1",
    "1_",
    "1.5e",
    "1.5e+",
    "-0.0",
    "0e0",
    "12e03",
    "0o0",
    "+",
    "+a",
    "!x",
    "!!str",
    "?a",
    "?x:",
    ":a",
    "a?",
    "b'",
    'c"',
    "1,2",
    "{}",
    "[]",
    "0x",
    "0o",
    "0b",
    "e5",
    ".e3",
    "1e",
    "0.0.0",
    "...",
    "---a",
    "1e1.5",
    "++1",
    "--1",
    "+-1",
    "0-1",
    "1-2",
    "%a",
    "@a",
    "`a`",
    "&a",
    "*a",
    "|a",
    ">a",
    "''",
]


@pytest.mark.parametrize("scalar", [*SCALARS, "", "2026-09-16 23:58:00", "a b", "12 34", "a: b", "a #b"])
@pytest.mark.parametrize("frame", ["a: {}\n", "a: [{}]\n", "a:\n  - {}\n", "a: {{b: {}}}\n"])
def test_a_scalar_means_the_same(scalar: str, frame: str) -> None:
    same_or_intended(frame.format(scalar))


@EXAMPLES
@given(st.text("0123456789-+._eExob:aTZ", min_size=1, max_size=12))
def test_a_number_like_scalar_means_the_same(scalar: str) -> None:
    same_or_intended(f"a: {scalar}\n")


@EXAMPLES
@given(written_by_hand())
def test_a_document_written_by_hand_means_the_same(text: str) -> None:
    same_or_intended(text)


PIECES = (
    "a", "b", "c: ", "a: ", "b: ", "\n", "\n", "\n  ", "\n    ", "- ", "\n- ", "\n  - ", "[", "]", "{", "}", ", ", "'x'",
    '"y"', "|\n", "> \n", " #c\n", "&a ", "*a", "<<: *a", "? ", ": ", "1", "2.5", "~", "x y", "-", "''", ": [", "a:", "'",
)  # fmt: skip


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
@example("x: &a {b: 1}\ny:\n  <<: *a\n  c: 2\n")
@example("? a\n: b\n")
def test_pieces_of_yaml_in_any_order_mean_the_same(pieces: str) -> None:
    same_or_intended(f"k: &a {{z: 1}}\nl: {pieces}\n")


def is_text(raw: bytes) -> bool:
    return "\ufffd" not in raw.decode(errors="replace") and len(raw) < 2000


@pytest.mark.parametrize(
    "case", [case for case in (*FINE, *TRAPS) if is_text(case.raw) and case not in LIMITS], ids=str
)
def test_a_trap_differs_only_as_intended(case: Fine | Trap) -> None:
    same_or_intended(case.raw.decode())
