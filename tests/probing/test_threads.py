"""Threads are those that may run, not those that the machine has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.probing.threads import counts, usable

V2 = {
    "proc/self/cgroup": "0::/pod/box\n",
    "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
}
V1 = {
    "proc/self/cgroup": "5:cpuset:/\n3:cpu,cpuacct:/box\n0::/\n",
    "proc/self/mounts": "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n",
}


def host(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_without_groups_it_is_the_affinity_of_this_process(tmp_path: Path) -> None:
    found = usable(tmp_path)
    assert (found.count, found.quota) == (len(os.sched_getaffinity(0)), None)


@pytest.mark.parametrize(
    ("limits", "count", "quota"),
    [
        ({"sys/fs/cgroup/pod/box/cpu.max": "max 100000\n"}, 8, None),
        ({"sys/fs/cgroup/pod/box/cpu.max": "400000 100000\n"}, 4, 4.0),
        ({"sys/fs/cgroup/pod/box/cpu.max": "max 100000\n", "sys/fs/cgroup/pod/cpu.max": "250000 100000\n"}, 2, 2.5),
        ({"sys/fs/cgroup/pod/box/cpu.max": "50000 100000\n"}, 1, 0.5),
        ({"sys/fs/cgroup/pod/box/cpu.max": "1600000 100000\n"}, 8, 16.0),
        ({"sys/fs/cgroup/pod/box/cpu.max": "nonsense\n"}, 8, None),
    ],
    ids=["no limit", "a limit", "of the group above", "below one", "above the affinity", "unreadable"],
)  # fmt: skip
def test_a_quota_of_version_2_is_counted(
    tmp_path: Path, limits: Mapping[str, str], count: int, quota: float | None
) -> None:
    found = usable(host(tmp_path, {**V2, **limits}), affinity=8)
    assert (found.count, found.quota) == (count, quota)


@pytest.mark.parametrize(("most", "count"), [("300000\n", 3), ("-1\n", 8)], ids=["a limit", "no limit"])
def test_a_quota_of_version_1_is_counted(tmp_path: Path, most: str, count: int) -> None:
    limits = {
        "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": most,
        "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
    }
    assert usable(host(tmp_path, {**V1, **limits}), affinity=8).count == count


def test_how_it_was_counted_is_told(tmp_path: Path) -> None:
    root = host(tmp_path, {**V2, "sys/fs/cgroup/pod/box/cpu.max": "250000 100000\n"})
    assert usable(root, affinity=8).sentence == "affinity of 8, quota of 2.5 processors"


@given(st.integers(1, 4096))
def test_the_counts_are_the_powers_of_two_and_all(most: int) -> None:
    found = counts(most)
    assert found[0] == 1 and found[-1] == most and found == sorted(set(found))
    assert all(each & (each - 1) == 0 for each in found[:-1])
    assert all(later <= 2 * earlier for earlier, later in pairwise(found))
    assert counts(most, every=False) == sorted({1, most})
