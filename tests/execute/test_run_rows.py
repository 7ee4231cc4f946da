"""Columns of a run: what a server reported, what nobody knows, and what nothing answered could have said."""

from __future__ import annotations

import pytest

from hio_validate.execute.run_rows import columns_of, table

FAILED = {"leg": 1, "arm": "one", "request": 1, "status": "refused: nobody listens"}
USAGE = {**FAILED, "status": "ok", "generated": 8, "tpot_ms": 20.0}
COUNTED = {**USAGE, "cached": 0, "evaluated": 5}


@pytest.mark.parametrize(
    ("rows", "has"),
    [([USAGE], False), ([USAGE, FAILED], False), ([COUNTED], True), ([COUNTED, USAGE], True), ([FAILED], True), ([], True)],
    ids=["uncounted", "uncounted and failed", "counted", "counted once", "failed", "nothing"],
)  # fmt: skip
def test_a_column_that_no_server_filled_is_not_there(rows: list[dict[str, object]], has: bool) -> None:
    columns = columns_of(rows, "http")
    assert (
        ({"cached", "evaluated"} <= columns.keys())
        == has
        == ({"cached", "evaluated"} & columns.keys() != set())
    )
    assert "drafted" not in columns


def test_none_in_a_cache_is_0_and_unknown_is_empty() -> None:
    lines = table([COUNTED, USAGE], ["request", "cached"]).decode().splitlines()
    assert lines == ["request\tcached", "1\t0", "1\t"]
