"""Products with more vectors than one: the measured times where they are measured, and a low end that stays one between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.batches import spanned, time_of_product
from hio_validate.costs.interval import Interval

COUNTS = st.sampled_from((1, 2, 4, 8, 16, 32, 128, 512))
SECONDS = st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=3).map(sorted)
TIMES = st.dictionaries(COUNTS, SECONDS.map(lambda ends: Interval(ends[1], ends[0], ends[2])), min_size=1)
VECTORS = st.floats(1, 1000)
ABOUT = 1 + 1e-9


def exact(**seconds: float) -> dict[int, Interval]:
    return {int(count[1:]): Interval.exact(time) for count, time in seconds.items()}


MEASURED = exact(x1=10.0, x2=14.0, x4=16.0, x16=40.0)


@pytest.mark.parametrize(
    ("vectors", "counts"),
    [
        (Interval.exact(4.0), [4]),
        (Interval.exact(5.0), [4, 16]),
        (Interval(3.0, 1.5, 5.0), [1, 2, 4, 16]),
        (Interval.exact(99.0), [16]),
    ],
)
def test_the_counts_beside_it_tell(vectors: Interval, counts: list[int]) -> None:
    assert spanned(MEASURED, vectors) == counts


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (Interval.exact(2.0), Interval.exact(14.0)),
        # No quicker than 14 s as with two, nor than three times the 4 s of each of four; at most as each of two.
        (Interval.exact(3.0), Interval(15.0, 14.0, 21.0)),
        # Ten times the 2.5 s of each of sixteen are more than the 16 s of four.
        (Interval.exact(10.0), Interval(28.0, 25.0, 40.0)),
        (Interval.exact(32.0), Interval(80.0, 80.0, 80.0)),
        # Passes of one and of sixteen with that mean take 14 s; of one and of four 13 s.
        (Interval(2.5, 2.5, 3.0), None),
    ],
)
def test_between_two_counts(vectors: Interval, expected: Interval | None) -> None:
    found = time_of_product(MEASURED, vectors)
    if expected is None:
        assert (found.value, found.low) == (14.5, 13.0)
    else:
        assert (found.value, found.low, found.high) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )


def test_without_a_time_there_is_none() -> None:
    with pytest.raises(ValueError, match="no product was measured"):
        time_of_product({}, Interval.exact(1.0))


@given(TIMES, st.data())
def test_a_measured_count_is_what_was_measured(times: dict[int, Interval], data: st.DataObject) -> None:
    count = data.draw(st.sampled_from(sorted(times)))
    found, wanted = time_of_product(times, Interval.exact(float(count))), times[count]
    assert (found.low, found.value, found.high) == pytest.approx((wanted.low, wanted.value, wanted.high))


@given(TIMES, VECTORS)
def test_it_lies_within_what_its_neighbours_allow(times: dict[int, Interval], vectors: float) -> None:
    found = time_of_product(times, Interval.exact(vectors))
    beside = spanned(times, Interval.exact(vectors))
    assert found.low <= min(times[each].low for each in beside) * max(1.0, vectors / min(beside)) * ABOUT
    assert found.low * ABOUT >= min(times[each].low / each for each in beside) * vectors
    assert found.high * ABOUT >= max(times[each].high / each for each in beside) * vectors


@given(TIMES, VECTORS, VECTORS)
def test_the_mean_of_passes_is_never_below_its_low_end(
    times: dict[int, Interval], one: float, other: float
) -> None:
    """Whatever measured counts the passes had: here two of them, with a mean that is between the two."""
    fewer, more = min(times), max(times)
    low, high = sorted((one, other))
    mean = min(max(low, fewer), more)
    part = (mean - fewer) / (more - fewer) if more > fewer else 0.0
    took = times[fewer].low * (1 - part) + times[more].low * part
    assert time_of_product(times, Interval(mean, mean, max(mean, high))).low <= took * ABOUT


@given(st.floats(0, 10), st.floats(1e-3, 10), VECTORS, VECTORS)
def test_where_times_grow_by_the_vector_more_of_them_are_never_faster(
    fixed: float, each: float, one: float, other: float
) -> None:
    """A kernel that tiles its vectors may break this; one whose times lie on a line does not."""
    times = {count: Interval.exact(fixed + each * count) for count in (1, 2, 4, 8, 16, 32, 128, 512)}
    few, many = (time_of_product(times, Interval.exact(vectors)) for vectors in sorted((one, other)))
    assert few.value <= many.value * ABOUT
    assert few.low <= many.low * ABOUT
    assert few.value / min(one, other) * ABOUT >= many.value / max(one, other) or fixed == 0
