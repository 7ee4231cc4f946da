"""Columns of rows: what cannot be so counts nowhere, whether it comes alone or within a list."""

from __future__ import annotations

import math

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.importing.results.columns import KEPT, Columns
from tests.importing.results.reading import number


def told(*values: object) -> Observation:
    record = Observation("one")
    with Columns() as columns:
        for line, value in enumerate(values, 1):
            columns.add("gap", "itl-per-gap", "ms", value, line)
        columns.tell(record)
    return record


def test_a_list_is_its_values_one_after_the_other() -> None:
    assert told([1.0, 2, 3.5], 4.0) == told(1.0, 2, 3.5, 4.0)
    assert number(told([1.0, 2, 3.5]), "gap").samples == (1.0, 2, 3.5)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "2", True, None, 1 << 53])
def test_one_value_that_cannot_be_counts_nowhere_and_the_others_do(bad: object) -> None:
    for record in (told(1.0, bad, 3.0), told([1.0, bad, 3.0])):
        assert number(record, "gap").n == 2
        assert number(record, "gap").value == 2.0
        assert len(record.findings) == 1
    assert told(1.0, bad, 3.0).findings[0].line == 2


def test_the_same_fault_is_told_once_with_its_first_line_and_how_many() -> None:
    (finding,) = told(1.0, -2.0, -3.0, -4.0).findings
    assert (finding.line, finding.message) == (2, "gap is -2 ms: less than nothing, and 2 more of this kind")


def test_more_values_than_a_record_holds_stand_in_none() -> None:
    assert len(number(told([1.0] * KEPT), "gap").samples) == KEPT
    assert not number(told([1.0] * KEPT, 1.0), "gap").samples
    assert not number(told([1.0] * (KEPT + 1)), "gap").samples


def test_no_value_is_no_metric() -> None:
    assert told([]) == Observation("one")
