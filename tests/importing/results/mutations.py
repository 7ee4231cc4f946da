"""What happens to files on their way: bytes flip, go missing and come twice, and numbers become what no tool writes."""

from __future__ import annotations

import re

from hypothesis import strategies as st

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
HOSTILE = (
    b"1e999", b"-1e999", b"NaN", b"Infinity", b"-Infinity", b"-1", b"0", b"-0.0", b'""', b"null", b"true", b'"12"', b"{}",
    b"[]", b"1e308", b"9007199254740993", b"1" * 5000, b"[" * 3000, b'{"a":' * 3000, b'"\\ud800"', b"\xff", b"\x00", b",", b"",
    b"\n", b"not a number",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, raw: bytes) -> bytes:
    """The bytes after one to three accidents."""
    for _ in range(draw(st.integers(1, 3))):
        raw = draw(st.sampled_from((_flip, _delete, _insert, _truncate, _repeat, _swap, _number, _number)))(
            draw, raw
        )
    return raw


def _at(draw: st.DrawFn, raw: bytes) -> int:
    return draw(st.integers(0, len(raw)))


def _slice(draw: st.DrawFn, raw: bytes) -> tuple[int, int]:
    begin = _at(draw, raw)
    return begin, min(len(raw), begin + draw(st.integers(1, 200)))


def _flip(draw: st.DrawFn, raw: bytes) -> bytes:
    at = _at(draw, raw)
    return raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]


def _delete(draw: st.DrawFn, raw: bytes) -> bytes:
    begin, end = _slice(draw, raw)
    return raw[:begin] + raw[end:]


def _insert(draw: st.DrawFn, raw: bytes) -> bytes:
    at = _at(draw, raw)
    return raw[:at] + draw(st.binary(max_size=20) | st.sampled_from(HOSTILE)) + raw[at:]


def _truncate(draw: st.DrawFn, raw: bytes) -> bytes:
    return raw[: _at(draw, raw)]


def _repeat(draw: st.DrawFn, raw: bytes) -> bytes:
    begin, end = _slice(draw, raw)
    return raw[:end] + raw[begin:end] + raw[end:]


def _swap(draw: st.DrawFn, raw: bytes) -> bytes:
    digits = [match.start() for match in re.finditer(rb"\d", raw)]
    if len(digits) < 2:
        return raw
    one, other = draw(st.sampled_from(digits)), draw(st.sampled_from(digits))
    swapped = bytearray(raw)
    swapped[one], swapped[other] = raw[other], raw[one]
    return bytes(swapped)


def _number(draw: st.DrawFn, raw: bytes) -> bytes:
    numbers = list(_NUMBER.finditer(raw))
    if not numbers:
        return raw
    match = draw(st.sampled_from(numbers))
    return raw[: match.start()] + draw(st.sampled_from(HOSTILE)) + raw[match.end() :]
