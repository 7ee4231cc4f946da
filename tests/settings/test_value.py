"""When two spellings are one value."""

from __future__ import annotations

import json
import struct
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hio_validate.settings.catalogue import Arity, Option
from hio_validate.settings.value import normal, reported_text, same, single, text_of
from tests.settings.stacks import table

SWITCH = Option("s", ("--s",), arity=Arity.NONE)
CHOICE = Option("c", ("--c",), choices=("on", "off", "auto"))
VALUE = Option("v", ("--v",), metavar="N")
TEXT = Option("t", ("--t",), metavar="STRING")
FACTORS = [
    ("threads", VALUE, None), ("s", SWITCH, None), ("c", CHOICE, None), ("cache-type-k", VALUE, "llama"),
    ("json-schema", VALUE, "llama"), ("model", VALUE, "llama"), ("max-model-len", VALUE, "vllm"),
    ("eplb-config", VALUE, "vllm"), ("quantization", VALUE, "vllm"),
]  # fmt: skip
words = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"-?[0-9]{1,30}(\.[0-9]{1,30})?[kKmMgGtT]?", fullmatch=True),
    st.sampled_from(
        ["on", "ON", "true", "True", "0", "-0", "-0.0", "auto", "-1", "null", "1e400", "NaN", " 7 "]
    ),
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ).map(json.dumps),
)
factors = st.sampled_from(FACTORS)


def folded(text: str, factor: tuple[str, Option, str | None]) -> str:
    name, option, build = factor
    return normal(text, name, option, table(build) if build else None)


@given(words, factors)
def test_normal_is_idempotent(text: str, factor: tuple[str, Option, str | None]) -> None:
    assert folded(folded(text, factor), factor) == folded(text, factor)


numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?", fullmatch=True)


@given(numbers, numbers, st.sampled_from([each for each in FACTORS if each[0] not in ("s", "c")]))
def test_numbers_are_equal_exactly_where_they_are_one_number(
    one: str, other: str, factor: tuple[str, Option, str | None]
) -> None:
    if folded(one, factor) == folded(other, factor):
        assert one == other or float(one) == float(other) or Fraction(one) == Fraction(other)
        assert factor[0] in ("json-schema", "eplb-config") or Fraction(one) == Fraction(other)
    if factor[0] == "threads" and Fraction(one) == Fraction(other):
        assert folded(one, factor) == folded(other, factor)


@given(numbers, st.integers(1, 9))
def test_one_digit_more_is_another_number(number: str, digit: int) -> None:
    longer = f"{number}{digit}" if "." in number else f"{number}.{digit}"
    assert folded(number, FACTORS[0]) != folded(longer, FACTORS[0])
    assert not same(number, longer)


@pytest.mark.parametrize("text", ["1.10", "0.80", "-0", "7.0"])
def test_only_a_number_is_folded_as_one(text: str) -> None:
    assert normal(text, "alias", TEXT) == text
    assert normal(text, "alias") == text, "of an option that nobody learned nothing says that it is a number"
    assert normal(text, "v", Option("v", ("--v",), default="0.5")) == normal(text, "v", VALUE) != text


@given(words, words)
def test_same_is_symmetric_and_holds_for_itself(one: str, other: str) -> None:
    assert same(one, one)
    assert same(one, other) == same(other, one)


@given(numbers, numbers)
def test_same_never_makes_unequal_numbers_one(one: str, other: str) -> None:
    assume(Fraction(one) != Fraction(other))
    assert not same(one, other)


@pytest.mark.parametrize(("mine", "theirs", "equal"), [
    ("F16", "f16", True), ("on", "enabled", True), ("Yes", "on", True), ("0.80", "0.8", True), ("off", "false", True),
    ("off", "on", False), ("f16", "f32", False), ("/m/A.gguf", "/m/a.gguf", False), ("Org/M", "org/m", False),
    ("1", "2", False), ("", "0", False), ("auto", "off", False),
])  # fmt: skip
def test_what_a_person_writes_against_what_is_computed(mine: str, theirs: str, equal: bool) -> None:
    assert same(mine, theirs) is equal


@pytest.mark.parametrize(("text", "factor", "value"), [
    ("enabled", FACTORS[1], "on"), ("False", FACTORS[1], "off"), ("yes", FACTORS[1], "yes"), ("ON", FACTORS[1], "ON"),
    ("-1", FACTORS[2], "auto"), ("-1", FACTORS[1], "-1"), ("F16", FACTORS[3], "f16"), ("0.80", FACTORS[0], "0.8"),
    ("-0.0", FACTORS[0], "0"), ("08", FACTORS[0], "08"), ("1k", FACTORS[0], "1k"), ("1k", FACTORS[6], "1000"),
    ("AUTO", FACTORS[6], "auto"), ("7.0", FACTORS[5], "7.0"), (" ###", FACTORS[0], " ###"), (" 7", FACTORS[0], "7"),
    ('{"b": 1, "a": [1.0]}', FACTORS[7], '{"a":[1.0],"b":1}'), ("{broken", FACTORS[7], "{broken"),
    ("[" * 100_000, FACTORS[7], "[" * 100_000), ("AWQ", FACTORS[8], "awq"),
])  # fmt: skip
def test_only_what_the_engine_reads_alike_is_folded(
    text: str, factor: tuple[str, Option, str | None], value: str
) -> None:
    assert folded(text, factor) == value


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_single_precision_number_is_reported_by_its_shortest_spelling(number: float) -> None:
    text = reported_text(number)
    assert single(float(text)) == number and "e" not in text
    assert len(text.strip("-").replace(".", "").strip("0")) <= 9


@given(st.decimals(-1000, 1000, places=3))
def test_a_value_that_went_through_single_precision_comes_back(value: object) -> None:
    stored = struct.unpack("<f", struct.pack("<f", float(str(value))))[0]
    assert normal(reported_text(stored), "temp", VALUE) == normal(str(value), "temp", VALUE)


@pytest.mark.parametrize(("value", "text"), [
    (True, "on"), (False, "off"), (None, "absent"), (0.8, "0.8"), (1e-7, "0.0000001"), (3, "3"), ("x", "x"),
])  # fmt: skip
def test_values_of_documents_as_text(value: object, text: str) -> None:
    assert text_of(value) == text
    assert reported_text(value) == text


def test_beyond_single_precision() -> None:
    assert single(1e300) is None and reported_text(1e300) == "1" + "0" * 300
    assert reported_text(0.1) == "0.1", "a double that is no single is told as it is"
