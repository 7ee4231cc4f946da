"""The last level is summed over its caches, each once."""

from __future__ import annotations

from pathlib import Path

from hio_validate.probing.caches import last_level_bytes


def cache(root: Path, processor: int, index: int, level: int, kind: str, size: str, shared: str) -> None:
    folder = root / f"sys/devices/system/cpu/cpu{processor}/cache/index{index}"
    folder.mkdir(parents=True)
    for name, value in {"level": level, "type": kind, "size": size, "shared_cpu_list": shared}.items():
        (folder / name).write_text(f"{value}\n")


def two_sockets(root: Path) -> None:
    for processor in range(4):
        cache(root, processor, 0, 1, "Data", "48K", str(processor))
        cache(root, processor, 1, 1, "Instruction", "32K", str(processor))
        cache(root, processor, 2, 3, "Unified", "32M", "0-1" if processor < 2 else "2-3")


def test_each_cache_of_the_last_level_counts_once(tmp_path: Path) -> None:
    two_sockets(tmp_path)
    assert last_level_bytes(tmp_path, range(4)) == 64 << 20


def test_a_cache_of_processors_that_may_not_be_used_does_not_count(tmp_path: Path) -> None:
    two_sockets(tmp_path)
    assert last_level_bytes(tmp_path, [0, 1]) == 32 << 20


def test_an_instruction_cache_is_no_last_level(tmp_path: Path) -> None:
    cache(tmp_path, 0, 0, 2, "Unified", "1024K", "0")
    cache(tmp_path, 0, 1, 4, "Instruction", "64M", "0")
    assert last_level_bytes(tmp_path, [0]) == 1 << 20


def test_what_the_kernel_does_not_describe_is_unknown(tmp_path: Path) -> None:
    assert last_level_bytes(tmp_path, [0]) is None
