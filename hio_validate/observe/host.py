"""Which machine this is, by readings that stay the same between two boots.

Invariant: clock speeds and bogomips (contract 1.6) and the kernel's release stay out of the id.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

from hio_validate.models.capture import Host

_GIB = 1 << 30
_ACCELERATOR_CLASSES = ("0x03", "0x12")
"""PCI classes: display controllers and processing accelerators."""


def observe_host() -> Host:
    """The machine this runs on."""
    cpu, cores, memory = _cpu(), os.cpu_count(), _memory_bytes()
    return Host(
        how="proc",
        id=_stable_id(cpu, cores, memory, _machine_id()),
        cpu=cpu,
        cores=cores,
        memory_bytes=memory,
        kernel=platform.release() or None,
        os=_operating_system(),
        devices=_devices(),
    )


def _stable_id(cpu: str | None, cores: int | None, memory: int | None, machine: str | None) -> str:
    """SHA-256 over the stable readings; memory in GiB rounded up, since each kernel keeps another share."""
    gib = None if memory is None else -(-memory // _GIB)
    parts = [f"cpu={cpu}", f"cores={cores}", f"memory_gib={gib}"]
    if machine:
        parts.append(f"machine={hashlib.sha256(f'hio host {machine}'.encode()).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _cpu() -> str | None:
    """Name of the processor; on ARM, where cpuinfo has none, that of the board."""
    for line in _read("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model", "Processor") and value.strip():
            return value.strip()
    return _read("/sys/firmware/devicetree/base/model").strip("\0 \n") or None


def _memory_bytes() -> int | None:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _machine_id() -> str | None:
    return _read("/etc/machine-id").strip() or None


def _operating_system() -> str | None:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        for line in _read(path).splitlines():
            if line.startswith("PRETTY_NAME="):
                return line.partition("=")[2].strip("\"' ") or None
    return None


def _devices() -> list[str]:
    """`vendor:device driver version` of each accelerator on the PCI bus."""
    found = []
    root = Path("/sys/bus/pci/devices")
    for device in sorted(root.iterdir()) if root.is_dir() else []:
        if not _read(device / "class").startswith(_ACCELERATOR_CLASSES):
            continue
        words = [f"{_read(device / 'vendor').strip()[2:]}:{_read(device / 'device').strip()[2:]}"]
        driver = device / "driver"
        if driver.exists():
            name = driver.resolve().name
            words += [name, _read(f"/sys/module/{name}/version").strip()]
        found.append(" ".join(filter(None, words)))
    return found


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
