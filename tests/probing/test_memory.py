"""Every byte is read, once, by as many threads as said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hio_validate.probing import memory
from hio_validate.probing.blas import blas
from hio_validate.probing.extent import FULL, GIB, MIB, Extent
from hio_validate.probing.memory import Buffers, Stream, measured, stream
from hio_validate.probing.refusal import NotMeasured

numpy: Any = pytest.importorskip("numpy")


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_threads_read_all_of_it_and_nothing_twice(threads: int) -> None:
    buffers = Buffers(blas(), 4 * MIB, threads)
    parts = buffers._parts(threads)
    assert len(parts) == threads
    assert [index for part in parts for index in range(part.start, part.stop)] == list(range(MIB))


def test_more_threads_than_blocks_have_nothing_to_read_and_nothing_is_left_out() -> None:
    parts = Buffers(blas(), MIB, 2)._parts(64)
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert len(parts) == 4 and parts[-1].stop == MIB // 4


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pass_reads_and_copies_every_number(threads: int) -> None:
    buffers = Buffers(blas(), 4 * MIB, threads)
    readers = buffers.readers()
    with ThreadPoolExecutor(threads) as pool:
        for row in (4096, 65536):
            work = buffers.together(pool, threads, readers[f"matrix of f32, rows of {row}, by a vector"])
            summed: Any = work()
            assert sum(float(rows.sum()) for rows in summed) == MIB
        buffers.together(pool, threads, buffers.copier())()
    assert float(buffers._to.sum()) == MIB
    buffers._from[-1] = 9.0  # the largest, as an unsigned number, too
    most: Any = [readers["maximum of u64"](part) for part in buffers._parts(threads)]
    assert most[-1] == buffers._from[-2:].view(numpy.uint64)[0]


def test_the_stream_is_four_times_the_caches_and_says_so() -> None:
    found = stream(FULL, 96 * MIB, 64 * GIB)
    assert found.size == 384 * MIB
    assert found.sentence == "384 MiB, 4.0 x the last-level caches of 96 MiB"


def test_a_small_cache_gets_a_large_stream() -> None:
    assert stream(FULL, 2 * MIB, 64 * GIB).size == 256 * MIB
    assert stream(FULL, None, 64 * GIB).sentence == "256 MiB, the last-level cache is unknown"


def test_caches_of_gigabytes_get_a_stream_of_twice_their_size() -> None:
    assert stream(FULL, 1536 * MIB, 512 * GIB).size == 4 * GIB
    assert stream(FULL, 3 * GIB, 512 * GIB).size == 6 * GIB


def test_two_buffers_take_no_more_than_a_quarter_of_what_is_free() -> None:
    assert 2 * stream(FULL, 64 * MIB, 1600 * MIB).size <= 400 * MIB


def test_where_the_caches_would_answer_nothing_is_measured() -> None:
    with pytest.raises(NotMeasured, match=r"a buffer may have 128 MiB here.*caches have 96 MiB"):
        stream(FULL, 96 * MIB, GIB)


def test_reading_and_copying_are_measured_at_each_number_of_threads(tiny: Extent) -> None:
    found = dict(step() for step in measured(blas(), Stream(8 * MIB, 2 * MIB), [1, 2], tiny))
    assert [*found] == ["memory-read-1", "memory-copy-1", "memory-read-2", "memory-copy-2"]
    assert [each.threads for each in found.values()] == [1, 1, 2, 2]
    for rate in found.values():
        assert rate.unit == "GB/s" and len(rate.samples) == 7
        assert 0.05 < rate.value < 10000
        assert "8 MiB, 4.0 x the last-level caches of 2 MiB" in (rate.method or "")


def test_a_copy_counts_what_is_read_and_what_is_written(
    tiny: Extent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "seconds", lambda work: (work() and None) or 1.0)
    found = dict(step() for step in measured(blas(), Stream(8 * MIB, None), [1], tiny))
    assert found["memory-read-1"].value == pytest.approx(8 * MIB / 1e9, rel=1e-4)
    assert found["memory-read-1"].working_set == 8 * MIB
    assert found["memory-copy-1"].value == pytest.approx(16 * MIB / 1e9, rel=1e-4)
