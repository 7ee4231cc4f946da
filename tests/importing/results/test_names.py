"""Names of records: none twice, and each as cheap as the one before."""

from __future__ import annotations

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from hio_validate.importing.results.names import Names


def test_the_same_name_is_numbered() -> None:
    names = Names()
    assert [names.distinct("a") for _ in range(3)] == ["a", "a-2", "a-3"]


@given(st.lists(st.sampled_from(["a", "a-2", "a-2-2", "a-3", "b"]), max_size=30))
def test_no_name_is_given_twice(asked: list[str]) -> None:
    names = Names()
    given_ = [names.distinct(name) for name in asked]
    assert len(set(given_)) == len(given_)


def test_a_name_that_came_a_thousand_times_costs_no_more_than_the_first() -> None:
    names, begun = Names(), process_time()
    for _ in range(60_000):
        names.distinct("gemm")
    assert process_time() - begun < 5
