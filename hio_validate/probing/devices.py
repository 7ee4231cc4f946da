"""Accelerators, as the tools of their makers describe them: name, memory, driver.

Formats: nvidia-smi --help-query-gpu (memory.total in MiB); ROCm/amdsmi amdsmi_cli/amdsmi_commands.py (static --json: a
list, since ROCm 7 below `gpu_data`; its MB are MiB); ROCm rocm_smi.py (--json: card0, card1, ... and system);
intel/xpumanager doc/smi_user_guide.md (discovery -j, with -d for what one device is).
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hio_validate.models.ceilings import Device
from hio_validate.probing.extent import MIB

_PATIENCE_S = 10.0


class CannotTell(Exception):
    """A tool failed, or said what nobody expects; the sentence says which."""


@dataclass(frozen=True)
class _Seen:
    """One accelerator."""

    name: str
    memory: int | None
    driver: str | None
    tool: str


def devices() -> tuple[list[Device], list[str]]:
    """(accelerators, equal ones counted; what tools could not tell, one sentence each)."""
    seen: list[_Seen] = []
    unknown: list[str] = []
    for family in _TOOLS:
        failed: list[str] = []
        for tool, ask in family.items():
            if shutil.which(tool) is None:
                continue
            try:
                found = ask()
            except (CannotTell, ValueError, KeyError, TypeError, AttributeError) as error:
                why = str(error) if isinstance(error, CannotTell) else "its answer is not of a known form"
                failed.append(f"devices: {tool} did not tell: {why}")
                continue
            seen += found
            if found:
                break  # the other tool of the same maker would tell the same devices again
        unknown += failed
    return [_counted(each, count) for each, count in Counter(seen).items()], unknown


def _counted(seen: _Seen, count: int) -> Device:
    return Device(name=seen.name, count=count, memory=seen.memory, driver=seen.driver, tool=seen.tool)


def _nvidia() -> list[_Seen]:
    """Name, MiB and driver of each line. The tool comes with the driver and has its version."""
    said = _said(
        "nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"
    )
    found = []
    for line in csv.reader(said.splitlines(), skipinitialspace=True):
        if not line:
            continue
        if len(line) != 3:
            raise CannotTell(f"expected a name, memory and a driver, got {', '.join(line)[:100]!r}")
        name, memory, driver = (each.strip() for each in line)
        size = int(memory) * MIB if memory.isdigit() else None  # [N/A] where it is the host's memory
        found.append(_Seen(name, size, _known(driver), f"nvidia-smi of driver {driver}"))
    return found


def _amd() -> list[_Seen]:
    said = _json(_said("amd-smi", "static", "--asic", "--vram", "--driver", "--json"))
    version = _json(_said("amd-smi", "version", "--json"))
    first = version[0] if isinstance(version, list) else version
    tool = f"amd-smi {first['version']}"
    cards = said["gpu_data"] if isinstance(said, dict) else said
    found = []
    for card in cards:
        size = card["vram"].get("size")
        if isinstance(size, Mapping) and size.get("unit") != "MB":
            raise CannotTell(f"expected memory in MB, got {size.get('unit')!r}")
        memory = int(size["value"]) * MIB if isinstance(size, Mapping) else None
        driver = card.get("driver", {}).get("version")
        found.append(_Seen(str(card["asic"]["market_name"]), memory, _known(driver), tool))
    return found


def _rocm() -> list[_Seen]:
    said = _json(
        _said("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")
    )
    version = _said("rocm-smi", "--version").partition("ROCM-SMI version:")[2].split()
    tool = f"rocm-smi {version[0] if version else 'of unknown version'}"
    system = said.get("system", {})
    driver = _known(system.get("Driver version"))
    found = []
    for name in sorted(each for each in said if each.startswith("card")):
        card = {
            key.lower(): value for key, value in said[name].items()
        }  # Card series, since ROCm 6.1 Card Series
        series = card.get("card series") or card.get("card model")
        if not series:
            raise CannotTell(f"{name} has no name")
        memory = card.get("vram total memory (b)")
        found.append(_Seen(str(series), int(memory) if memory else None, driver, tool))
    return found


def _intel() -> list[_Seen]:
    listed = _json(_said("xpu-smi", "discovery", "-j"))["device_list"]
    version = next(
        (line.split(":")[1].strip() for line in _said("xpu-smi", "-v").splitlines() if "Version:" in line),
        "of unknown version",
    )
    found = []
    for each in listed:
        if each.get("device_type", "GPU") != "GPU" or each.get("device_function_type") == "virtual":
            continue
        one = _json(_said("xpu-smi", "discovery", "-d", str(each["device_id"]), "-j"))
        memory = one.get("memory_physical_size_byte")
        found.append(
            _Seen(
                str(each["device_name"]),
                int(memory) if memory else None,
                _known(one.get("driver_version")),
                f"xpu-smi {version}",
            )
        )
    return found


_TOOLS: tuple[Mapping[str, Callable[[], list[_Seen]]], ...] = (
    {"nvidia-smi": _nvidia},
    {"amd-smi": _amd, "rocm-smi": _rocm},
    {"xpu-smi": _intel},
)
"""Tools of each maker, the newest first."""


def _said(*words: str) -> str:
    """What a tool prints. Raises CannotTell."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CannotTell(f"no answer within {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise CannotTell(str(error.strerror)) from None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "nothing was said").splitlines()
        raise CannotTell(f"it ended with {done.returncode}: {lines[0][:200]}")
    return done.stdout


def _json(text: str) -> Any:
    """The JSON of an answer, behind warnings that stand before it. Raises CannotTell."""
    begin = min((text.find(each) for each in "[{" if each in text), default=-1)
    try:
        return json.loads(text[begin:] if begin >= 0 else text)
    except ValueError:
        raise CannotTell("its answer is no JSON") from None


def _known(text: Any) -> str | None:
    """A version, or None where a tool says that it has none."""
    said = str(text or "").strip()
    return said if said and said.strip("[]").lower() not in ("n/a", "unknown", "not supported") else None
