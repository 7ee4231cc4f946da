"""Text is wrapped by terminal columns: nothing is lost, no line is wider."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hio_validate.report.visible import columns, visible, wrapped


@given(st.text(max_size=120).map(visible), st.integers(4, 80), st.sampled_from(["", "  "]))
@example("\u5bbd" * 9, 5, "  ")
@example("\u0941" * 9 + " a", 4, "")
def test_no_line_is_wider_and_no_character_is_lost(text: str, width: int, further: str) -> None:
    lines = wrapped(text, width, further)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(line.startswith(further) for line in lines[1:])


def test_a_word_is_broken_only_where_no_line_can_hold_it() -> None:
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("a sentence that goes on", 12, "  ") == ["a sentence", "  that goes", "  on"]
    assert wrapped("abcdefgh ij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 10) == []
