"""The control groups that limit this process: of both versions, each with those above it."""

from __future__ import annotations

from pathlib import Path

from hio_validate.observe.control_groups import own_groups


def host(root: Path, groups: str, mounts: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    (root / "proc/self/mounts").write_text(mounts)
    return root


def test_of_version_2_every_group_up_to_the_top(tmp_path: Path) -> None:
    root = host(tmp_path, "0::/pod/box\n", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    top = root / "sys/fs/cgroup"
    assert list(own_groups("memory", root)) == [(top / "pod/box", True), (top / "pod", True), (top, True)]


def test_of_version_1_only_the_hierarchy_of_the_controller(tmp_path: Path) -> None:
    root = host(
        tmp_path,
        "5:cpuset:/other\n4:cpu,cpuacct:/box\n0::/\n",
        "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n",
    )
    top = root / "sys/fs/cgroup/cpu"
    assert list(own_groups("cpu", root)) == [(top / "box", False), (top, False)]


def test_of_both_at_once_those_of_both(tmp_path: Path) -> None:
    root = host(
        tmp_path,
        "4:memory:/a\n0::/b\n",
        "cgroup /m cgroup rw,memory 0 0\ncgroup2 /unified cgroup2 rw 0 0\n",
    )
    assert [(group.folder.name, group.is_v2) for group in own_groups("memory", root)] == [
        ("a", False), ("m", False), ("b", True), ("unified", True),
    ]  # fmt: skip


def test_where_nothing_is_mounted_there_are_none(tmp_path: Path) -> None:
    assert not list(own_groups("memory", tmp_path))
