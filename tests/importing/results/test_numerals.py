"""Numbers of any locale: read back as what they were printed from, or called ambiguous."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.importing.results.numerals import Ambiguous, Convention, number

STYLES = {".": {".": ",", ",": "."}, ",": {".": ".", ",": ","}}


def convention(texts: list[str]) -> str | None:
    found = Convention()
    for text in texts:
        found.see(text)
    return found.mark


def printed(value: float, places: int, mark: str, group: bool) -> str:
    text = f"{value:,.{places}f}" if group else f"{value:.{places}f}"
    return text if mark == "." else text.translate(str.maketrans(",.", ".,"))


@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=20),
    st.integers(0, 4),
    st.sampled_from([".", ","]),
    st.booleans(),
)
def test_what_is_read_is_what_was_printed_or_is_called_ambiguous(
    thousandths: list[int], places: int, mark: str, group: bool
) -> None:
    values = [each / 1000 for each in thousandths]
    texts = [printed(value, places, mark, group) for value in values]
    found = convention(texts)
    assert found in (mark, None)
    for text, value in zip(texts, values, strict=True):
        read = number(text, found)
        if isinstance(read, Ambiguous):
            assert found is None
        else:
            assert read == float(f"{value:.{places}f}")


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("1,234.5", None, 1234.5),
        ("1.234,5", None, 1234.5),
        ("1 234,5", None, 1234.5),
        ("1\u202f234,5", None, 1234.5),
        ("1'234.5", None, 1234.5),
        ("12,34", None, 12.34),
        ("1,234,567", None, 1234567),
        ("0,123", None, 0.123),
        ("1234,567", None, 1234.567),
        ("1,234", ".", 1234),
        ("1,234", ",", 1.234),
        ("1.234", ".", 1.234),
        ("1.234", ",", 1234),
        ("1.234", None, Ambiguous("1.234")),
        ("1,234", None, Ambiguous("1,234")),
        ("1,234.5", ",", Ambiguous("1,234.5")),
        ("9007199254740993", None, 9007199254740993),
        ("1.5e3", ".", 1500.0),
        ("-2.5", ".", -2.5),
        ("1,5e3", ",", None),
        ("1.234e3", ",", Ambiguous("1.234e3")),
        ("1e400", ".", None),
        ("1.0e400", ".", None),
        ("n/a", ".", None),
        ("", ".", None),
        ("1,23,4", ".", None),
        ("0x10", ".", None),
        ("1" * 41, ".", None),
    ],
)
def test_one_number(text: str, mark: str | None, value: object) -> None:
    read = number(text, mark)
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["1,234", "2.5"], "."),
        (["1,234", "2,5"], ","),
        (["1,234", "56"], None),
        (["1.5", "1,5"], None),
        (["1,234,567"], "."),
        ([], None),
    ],
)
def test_the_file_decides(texts: list[str], mark: str | None) -> None:
    assert convention(texts) == mark
