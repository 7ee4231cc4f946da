"""Tables that fit the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.report.table import table

cells = st.text("ab -", max_size=30)
rows = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.lists(cells, min_size=size, max_size=size), min_size=1, max_size=4)
)


@given(rows, st.integers(20, 120))
def test_no_line_is_wider_than_asked_for_unless_a_single_word_is(shown: list[list[str]], width: int) -> None:
    for line in table(shown, width).splitlines():
        assert len(line) <= width or len(line.split()) == 1, line


@given(rows, st.integers(20, 120))
def test_a_whole_table_cuts_no_cell(shown: list[list[str]], width: int) -> None:
    assert "…" not in table(shown, width, whole=True)


@pytest.mark.parametrize("width", [40, 30])
def test_a_narrow_terminal_gets_the_rest_below_the_first_cell(width: int) -> None:
    text = table([("server.threads", "1", "2", "followed by the batch threads")], width)
    assert text.splitlines()[0] == "server.threads"
    assert text.splitlines()[1].startswith("    1  2  followed")
