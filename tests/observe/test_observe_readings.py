"""Readings of this host, and of hosts that this one is not, as files in their place."""

from __future__ import annotations

import mmap
import os
import socket
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe import readings
from hio_validate.observe.readings import Busy, HostReadings, busy_now, cpu_s, others_cpu
from tests.observe.conftest import Start


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 800 kB\n"}


def test_memory_of_this_host_is_what_the_kernel_says_at_most() -> None:
    said = next(
        line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable")
    )
    found = readings.available()
    assert found is not None
    assert 0 < found < 2 * int(said.split()[1]) * 1024


def test_a_group_of_version_2_limits_what_is_available(tmp_path: Path) -> None:
    root = write(tmp_path, {
        **MEMINFO,
        "proc/self/cgroup": "0::/a/b\n",
        "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
        "sys/fs/cgroup/a/memory.max": "500000\n",
        "sys/fs/cgroup/a/memory.current": "450000\n",
        "sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 20000\n",
        "sys/fs/cgroup/a/b/memory.max": "max\n",
    })  # fmt: skip
    assert readings.available(root) == 70000
    assert readings.capacity(root) == (1024000, 500000)


def test_a_group_of_version_1_limits_what_is_available(tmp_path: Path) -> None:
    root = write(tmp_path, {
        **MEMINFO,
        "proc/self/cgroup": "4:memory:/a\n0::/\n",
        "proc/self/mounts": "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
        "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "300000\n",
        "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "290000\n",
        "sys/fs/cgroup/memory/a/memory.stat": "total_inactive_file 0\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "290000\n",
        "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 0\n",
    })  # fmt: skip
    assert readings.available(root) == 10000
    assert readings.capacity(root) == (1024000, 300000)


def test_a_group_that_allows_more_than_there_is_limits_nothing(tmp_path: Path) -> None:
    root = write(tmp_path, {
        **MEMINFO,
        "proc/self/cgroup": "0::/a\n",
        "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
        "sys/fs/cgroup/a/memory.max": "5000000\n",
    })  # fmt: skip
    assert readings.capacity(root) == (1024000, None)


def test_what_nothing_shows_is_unknown(tmp_path: Path) -> None:
    assert readings.available(tmp_path) is None
    assert readings.capacity(tmp_path) == (None, None)
    assert readings.temperature(tmp_path) is None


def test_the_hottest_zone_and_the_memory_of_all_devices(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "sys/class/thermal/thermal_zone0/temp": "41000\n",
        "sys/class/thermal/thermal_zone1/temp": "63500\n",
        "sys/class/drm/card0/device/mem_info_vram_used": "1000\n",
        "sys/class/drm/card1/device/mem_info_vram_used": "234\n",
    })  # fmt: skip
    assert readings.temperature(root) == 63.5
    assert readings.device_memory(root) == 1234


def test_memory_of_a_process_stands_by_source(start_python: Start) -> None:
    shared = (
        "import mmap; held = b'x' * (40 << 20); area = mmap.mmap(-1, 20 << 20); area.write(b'x' * (20 << 20))"
    )
    process = start_python(shared)
    found = HostReadings().read([process.pid])
    assert 40 << 20 <= found.anonymous < 60 << 20
    assert 20 << 20 <= found.shared < 24 << 20
    assert found.file > 0
    assert (found.processes, found.swap, found.unseen) == (1, 0, ())
    assert mmap.PAGESIZE


def test_a_process_that_ended_counts_for_nothing() -> None:
    assert HostReadings().read([4194304]).processes == 0


def test_the_load_of_others_is_unknown_at_first_and_a_busy_process_of_ours_is_none_of_it(
    start: Start,
) -> None:
    process = start(["/bin/sh", "-c", "while :; do :; done"])
    own, blind = HostReadings(), HostReadings()
    assert own.read([process.pid]).others_cpu is None
    blind.read([])
    begun = readings.cpu_s(process.pid) or 0.0
    while (readings.cpu_s(process.pid) or 0.0) < begun + 1.0:
        os.sched_yield()
    with_it, without = blind.read([]).others_cpu, own.read([process.pid]).others_cpu
    assert with_it is not None and without is not None
    assert without < with_it


def test_a_service_is_seen_by_its_port_its_queue_and_its_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        idle = readings.activity("lab/small", port)
        assert (idle.pid, idle.connections, idle.queued_bytes, idle.swap) == (os.getpid(), 0, 0, 0)
        with socket.create_connection(("127.0.0.1", port)) as client:
            there, _ = server.accept()
            with there:
                client.sendall(b"x" * 100)
                busy = readings.activity("lab/small", port)
                assert (busy.connections, busy.queued_bytes) == (1, 100)
    gone = readings.activity("lab/small", port)
    assert (gone.pid, gone.cpu_s) == (None, None)


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
