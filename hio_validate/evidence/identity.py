"""What ran in each arm: stack and delta, builds, hashes of executables and models, host (contract 1.6).

Invariant: what was not observed is null; two legs that differ are both told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.case import Case
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.settings.value import text_of


def arms(case: Case) -> list[dict[str, Any]]:
    """Every arm, the reference first."""
    return [_arm(case, name) for name in (case.baseline, *case.candidates)]


def _arm(case: Case, name: str) -> dict[str, Any]:
    arm = case.arm(name)
    found = [capture for _, capture in case.captures(name)]
    seen = [capture for capture in found if capture is not None]
    return {
        "arm": name,
        "stack": arm.stack,
        "set": {factor: text_of(value) for factor, value in arm.set.items()},
        "captures": list(arm.captures),
        "unobserved": len(found) - len(seen),
        "hosts": sorted({each.host.id for each in seen if each.host.id}),
        "processes": list(_processes(seen)),
    }


def _processes(seen: list[Capture]) -> Iterator[dict[str, Any]]:
    """Every process that differs in what it ran, by its role; legs that ran the same are told once."""
    told: list[dict[str, Any]] = []
    for capture in seen:
        for role, process in capture.processes.items():
            shape = _process(role, process)
            if shape not in told:
                told.append(shape)
                yield shape


def _process(role: str, process: CapturedProcess) -> dict[str, Any]:
    return {
        "role": role,
        "family": process.family,
        "build": process.build,
        "executable": process.executable.sha256,
        "libraries": {name: each.sha256 for name, each in sorted(process.libraries.items())},
        "artifacts": {name: each.sha256 for name, each in sorted(process.artifacts.items())},
    }


def host_of(case: Case) -> dict[str, Any] | None:
    """The machine as the first capture saw it; None where none did."""
    for name in case.model.arms:
        for _, capture in case.captures(name):
            if capture is not None:
                host = capture.host
                return {
                    "id": host.id, "cpu": host.cpu, "cores": host.cores, "memory_bytes": host.memory_bytes,
                    "kernel": host.kernel, "os": host.os, "devices": list(host.devices),
                }  # fmt: skip
    return None
