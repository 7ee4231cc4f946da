"""Who used the processors between two readings: everybody but the trial, its neighbours and who reads."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.readings import Busy, HostReadings, busy_now, cpu_s, others_cpu

START = Busy(at=100.0, host=50.0, ours={7: 3.0, 8: 1.0}, reader=2.0, reaped=10.0)


def test_a_running_process_of_ours_is_not_the_others() -> None:
    assert others_cpu(START, Busy(101.0, 52.0, {7: 4.0, 8: 1.5}, 2.0, 10.0)) == 0.5


def test_who_reads_is_not_the_others() -> None:
    assert others_cpu(START, Busy(102.0, 52.0, {7: 3.0, 8: 1.0}, 3.5, 10.0)) == 0.25


def test_a_process_that_ended_is_counted_once() -> None:
    """Process 7 used one second more before it was waited for: 4 seconds of its life, 3 of them known."""
    assert others_cpu(START, Busy(101.0, 51.5, {8: 1.0}, 2.0, 14.0)) == 0.5


def test_a_process_that_began_and_ended_in_between_is_not_the_others() -> None:
    assert others_cpu(START, Busy(101.0, 51.0, {7: 3.0, 8: 1.0}, 2.0, 11.0)) == 0.0


def test_no_time_passed_is_unknown() -> None:
    assert others_cpu(START, START) is None


@given(
    theirs=st.floats(0, 4), ours=st.floats(0, 4), reader=st.floats(0, 1), reaped=st.floats(0, 4), lasted=st.floats(0.1, 10)
)  # fmt: skip
def test_what_is_left_is_the_others(
    theirs: float, ours: float, reader: float, reaped: float, lasted: float
) -> None:
    busy = theirs + ours + reader + reaped
    now = Busy(100.0 + lasted, 50.0 + busy, {7: 3.0 + ours, 8: 1.0}, 2.0 + reader, 10.0 + reaped)
    found = others_cpu(START, now)
    assert found is not None
    assert abs(found - theirs / lasted) < 1e-6 / lasted


def test_the_first_reading_knows_nothing_of_others() -> None:
    readings = HostReadings()
    assert readings.read([os.getpid()]).others_cpu is None
    begun = os.times().elapsed
    while os.times().elapsed == begun:
        pass
    assert readings.read([os.getpid()]).others_cpu is not None


def test_processor_time_is_read_of_live_processes_only() -> None:
    assert busy_now([os.getpid(), 2**22 + 1]).ours.keys() == {os.getpid()}
    assert cpu_s(2**22 + 1) is None
