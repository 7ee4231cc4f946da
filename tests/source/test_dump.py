"""What is written is what is read back, here and by other readers of YAML."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hio_validate.source import read
from hio_validate.source.dump import WIDEST_FLOW, Row, dump, flow, scalar
from tests.source.yaml_texts import NASTY, documents, same, texts, values

EXAMPLES = settings(deadline=None, max_examples=200, database=None)


def back(raw: bytes) -> Any:
    document = read(raw, "x.yaml")
    assert document.faults == ()
    return document.data


@EXAMPLES
@given(documents)
def test_what_is_written_is_read_back(data: dict[str, Any]) -> None:
    assert same(back(dump(data)), data)


@EXAMPLES
@given(documents)
def test_keys_stay_in_their_order(data: dict[str, Any]) -> None:
    assert list(back(dump(data))) == list(data)


@settings(EXAMPLES, max_examples=60)
@given(documents)
def test_readers_of_yaml_1_1_and_1_2_read_the_same(data: dict[str, Any]) -> None:
    raw = dump(data)
    assert same(yaml.safe_load(raw), data)
    assert same(YAML(typ="safe", pure=True).load(raw), data)


@EXAMPLES
@given(documents, st.text(max_size=40))
def test_a_head_stands_before_the_data_and_is_none_of_it(data: dict[str, Any], head: str) -> None:
    printable = "".join(character for character in head if character.isprintable() or character == "\n")
    raw = dump(data, head=printable)
    assert same(back(raw), data)
    assert raw.decode().startswith("".join(f"# {line}".rstrip() + "\n" for line in printable.splitlines()))


@EXAMPLES
@given(values)
def test_a_value_on_one_line_is_one_line(value: Any) -> None:
    line = flow(value)
    assert "\n" not in line
    assert same(back(f"a: {line}\n".encode()), {"a": value})
    assert same(back(f"a: [x, {line}, {{b: {line}}}]\n".encode()), {"a": ["x", value, {"b": value}]})


@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_text_comes_back_as_key_and_as_value(text: str) -> None:
    data = {text: text, "in": [text, [text]], "deep": {text: {text: [{text: text}]}}}
    assert same(back(dump(data)), data)
    assert same(yaml.safe_load(dump(data)), data)


@EXAMPLES
@given(texts)
def test_a_plain_scalar_needs_no_quotes_for_anyone(text: str) -> None:
    written = scalar(text)
    if not written.startswith('"'):
        assert written == text
        assert yaml.safe_load(written) == text
        assert YAML(typ="safe", pure=True).load(written) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("llama-server", "llama-server"),
        ("--threads", '"--threads"'),
        ("f16", "f16"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("/opt/models/a b.gguf", "/opt/models/a b.gguf"),
        ("${port}", '"${port}"'),
        ("off", '"off"'),
        ("Y", '"Y"'),
        ("8080", '"8080"'),
        ("5319E7", '"5319E7"'),
        ("1_000", '"1_000"'),
        ("12:30:45", '"12:30:45"'),
        ("2026-09-16T23:58:00Z", '"2026-09-16T23:58:00Z"'),
        ("x\ty\n", r'"x\ty\n"'),
        ("\u202e", r'"\u202e"'),
        ("", '""'),
        (None, "null"),
        (True, "true"),
        (-0.0, "-0.0"),
        (1e16, "1.0e+16"),
        (1e-7, "1.0e-07"),
        (1.5e300, "1.5e+300"),
        ("...", '"..."'),
        (float("inf"), ".inf"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
        (2**53, "9007199254740992"),
        (2**53 + 1, '"9007199254740993"'),
        (-(2**64), '"-18446744073709551616"'),
    ],
)
def test_how_a_single_value_is_written(value: Any, written: str) -> None:
    assert scalar(value) == written


def test_the_exception_an_integer_beyond_2_53_comes_back_as_text() -> None:
    assert back(dump({"a": 2**53 + 1})) == {"a": "9007199254740993"}


@pytest.mark.parametrize("data", [{}, {"a": {}}, {"a": []}, {"a": [{}]}, {"a": [[]]}, {"a": [[{}], []]}])
def test_what_is_empty_comes_back_empty(data: dict[str, Any]) -> None:
    assert same(back(dump(data)), data)


@pytest.mark.parametrize("length", [990, 1000, 1001, 1024, 1100, 5000])
def test_a_long_key_comes_back(length: int) -> None:
    key = "k" * length
    for data in ({key: 1}, {"a": {key: [1]}}, {"a": [{key: {"b": 1}}]}, {"a": 1, "é\n" * length: 2}):
        assert same(back(dump(data)), data)


def test_lines_are_laid_out_for_a_reader() -> None:
    data = {
        "hio": "stack/v1",
        "short": ["a", "b"],
        "argv": [["--threads", "2"], ["--ctx-size", "8192"]],
        "long": ["x" * 40, "y" * 40, "z" * 40],
        "rows": [Row({"factor": "threads", "from": 1, "to": 2}), {"preserved": ["a"], "because": "b: c"}],
        "nested": {"a": {"b": None}},
    }
    assert dump(data, head="first\n\nlast") == (
        b"# first\n#\n# last\n"
        b"hio: stack/v1\n"
        b"short: [a, b]\n"
        b'argv:\n  - ["--threads", "2"]\n  - ["--ctx-size", "8192"]\n'
        b"long:\n  - " + b"x" * 40 + b"\n  - " + b"y" * 40 + b"\n  - " + b"z" * 40 + b"\n"
        b'rows:\n  - {factor: threads, from: 1, to: 2}\n  - preserved: [a]\n    because: "b: c"\n'
        b"nested:\n  a:\n    b: null\n"
    )


def test_no_list_of_single_values_is_wider_than_the_limit() -> None:
    for count in range(1, 60):
        lines = dump({"key": ["word"] * count}).decode().splitlines()
        assert max(map(len, lines)) <= WIDEST_FLOW
        assert (len(lines) == 1) is (len(f"key: [{', '.join(['word'] * count)}]") <= WIDEST_FLOW)
