"""Sizes of documents: bytes, binary and decimal units, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.size import bytes_of, shown


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (0, 0),
        (1024, 1024),
        ("4GiB", 4 << 30),
        ("4 GiB", 4 << 30),
        ("4GB", 4_000_000_000),
        ("1.5KiB", 1536),
        ("512MiB", 512 << 20),
        ("2kB", 2000),
        ("7B", 7),
        ("7", 7),
    ],
)
def test_a_size_is_bytes(written: str | int, expected: int) -> None:
    assert bytes_of(written) == expected


@pytest.mark.parametrize("written", ["", "4 gib", "-1", "GiB", "4GiB ", "1e9", True, -5, "4 Gb", "٤GiB"])
def test_what_is_no_size_is_refused(written: str | bool | int) -> None:
    with pytest.raises(ValueError, match="is no size: expected bytes or a number with a unit"):
        bytes_of(written)


@given(st.integers(0, 1 << 50))
def test_a_shown_size_is_a_size_within_what_it_shows(size: int) -> None:
    told = bytes_of(shown(size))
    assert abs(told - size) <= max(0.06 * size, 0)


def test_a_size_is_shown_in_the_largest_unit_it_fills() -> None:
    assert [shown(size) for size in (0, 1023, 1024, 1536, 4 << 30)] == [
        "0 B",
        "1023 B",
        "1 KiB",
        "1.5 KiB",
        "4 GiB",
    ]
