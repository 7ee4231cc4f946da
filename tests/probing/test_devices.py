"""What the tools of makers print is read; a tool that fails is told, not guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hio_validate.models.ceilings import Device
from hio_validate.probing import devices as probing
from hio_validate.probing.devices import devices

MIB, GIB = 1 << 20, 1 << 30
AMD = {"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X", "vendor_id": "0x1002"},
       "vram": {"type": "HBM3", "vendor": "HYNIX", "size": {"value": 196592, "unit": "MB"}},
       "driver": {"name": "amdgpu", "version": "6.12.12"}}  # fmt: skip
AMD_VERSION = json.dumps([{"tool": "AMDSMI Tool", "version": "26.0.0+37d158ab", "rocm_version": "7.0.1"}])
ROCM = {
    "card0": {"Card Series": "Radeon RX 7900 XTX", "VRAM Total Memory (B)": "25753026560"},
    "system": {"Driver version": "6.8.0"},
}
INTEL = {"device_list": [
    {"device_id": 0, "device_type": "GPU", "device_function_type": "physical",
     "device_name": "Intel(R) Data Center GPU Max 1550"},
    {"device_id": 1, "device_type": "GPU", "device_function_type": "virtual", "device_name": "Intel VF"},
]}  # fmt: skip
INTEL_ONE = {"device_id": 0, "driver_version": "I915_23.10.32", "memory_physical_size_byte": "68719476736"}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that programs are found in; what they say is waited for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(probing, "_PATIENCE_S", 600.0)
    return tmp_path


def tool(folder: Path, name: str, script: str) -> None:
    """A program that does what a shell script says, without any other program."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def says(*cases: tuple[str, str]) -> str:
    """A script that answers by its words."""
    each = "\n".join(
        f"{words.replace(' ', chr(92) + ' ')}) printf '%s\\n' '{answer}' ;;" for words, answer in cases
    )
    return f'case "$*" in\n{each}\n*) echo "unknown words: $*" >&2; exit 2 ;;\nesac'


def test_without_a_tool_there_is_nothing_to_tell(tools: Path) -> None:
    assert devices() == ([], [])


def test_equal_devices_of_nvidia_are_counted(tools: Path) -> None:
    line = "NVIDIA H200, 143771, 550.54.15"
    tool(tools, "nvidia-smi",
         says(("--query-gpu=name,memory.total,driver_version*--format=csv,noheader,nounits", f"{line}\n{line}")))  # fmt: skip
    assert devices() == (
        [
            Device(
                name="NVIDIA H200",
                count=2,
                memory=143771 * MIB,
                driver="550.54.15",
                tool="nvidia-smi of driver 550.54.15",
            )
        ],
        [],
    )


def test_memory_that_a_device_does_not_have_of_its_own_is_unknown(tools: Path) -> None:
    tool(tools, "nvidia-smi", says(("--query-gpu=*", "NVIDIA GB10, [N/A], 580.95.05")))
    found, unknown = devices()
    assert (found[0].name, found[0].memory, unknown) == ("NVIDIA GB10", None, [])


@pytest.mark.parametrize("wrap", [lambda cards: cards, lambda cards: {"gpu_data": cards}], ids=["list", "gpu_data"])  # fmt: skip
def test_amd_smi_counts_mebibytes(tools: Path, wrap: object) -> None:
    assert callable(wrap)
    answer = json.dumps(wrap([AMD]))
    tool(tools, "amd-smi", says(("static --asic --vram --driver --json", answer), ("version --json", AMD_VERSION)))  # fmt: skip
    assert devices() == (
        [
            Device(
                name="AMD Instinct MI300X",
                memory=196592 * MIB,
                driver="6.12.12",
                tool="amd-smi 26.0.0+37d158ab",
            )
        ],
        [],
    )


def test_rocm_smi_is_asked_where_amd_smi_fails_and_warnings_before_json_are_passed(tools: Path) -> None:
    tool(tools, "amd-smi", "echo 'amdgpu is not loaded' >&2; exit 1")
    tool(tools, "rocm-smi",
         says(("*--json", f"WARNING: AMD GPU device(s) is/are in a low-power state.\n\n{json.dumps(ROCM)}"),
              ("--version", "ROCM-SMI version: 3.0.0+unknown\nROCM-SMI-LIB version: 7.5.0")))  # fmt: skip
    assert devices() == (
        [
            Device(
                name="Radeon RX 7900 XTX",
                memory=25753026560,
                driver="6.8.0",
                tool="rocm-smi 3.0.0+unknown",
            )
        ],
        ["devices: amd-smi did not tell: it ended with 1: amdgpu is not loaded"],
    )


def test_two_tools_of_one_maker_tell_their_devices_once(tools: Path) -> None:
    tool(tools, "amd-smi", says(("static *", json.dumps([AMD])), ("version --json", AMD_VERSION)))
    tool(tools, "rocm-smi", says(("*--json", json.dumps(ROCM)), ("--version", "ROCM-SMI version: 3.0.0")))
    assert [each.name for each in devices()[0]] == ["AMD Instinct MI300X"]


def test_virtual_functions_of_intel_are_no_devices(tools: Path) -> None:
    tool(tools, "xpu-smi",
         says(("discovery -j", json.dumps(INTEL)), ("discovery -d 0 -j", json.dumps(INTEL_ONE)),
              ("-v", "CLI:\n    Version: 1.2.42.20240612\n    Build ID: f847c0fa")))  # fmt: skip
    assert devices() == (
        [
            Device(
                name="Intel(R) Data Center GPU Max 1550",
                memory=64 * GIB,
                driver="I915_23.10.32",
                tool="xpu-smi 1.2.42.20240612",
            )
        ],
        [],
    )


@pytest.mark.parametrize(
    ("name", "script", "why"),
    [
        ("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9", "it ended with 9: NVIDIA-SMI has failed"),
        ("nvidia-smi", "echo 'No devices were found'", "expected a name, memory and a driver, got 'No devices were found'"),
        ("amd-smi", "echo nothing", "its answer is no JSON"),
        ("amd-smi", """echo '[{"gpu": 0, "version": "1"}]'""", "its answer is not of a known form"),
        ("amd-smi", """echo '[{"version": "1", "vram": {"size": {"value": 1, "unit": "GB"}}}]'""",
         "expected memory in MB, got 'GB'"),
        ("rocm-smi", """echo '{"card0": {"Card ID": "0x1"}}'""", "card0 has no name"),
        ("xpu-smi", """echo '{"error": "none"}'""", "its answer is not of a known form"),
        ("xpu-smi", "while :; do :; done", "no answer within 0.2 s"),
    ],
    ids=["failed", "no device", "no json", "other json", "other unit", "no name", "error", "hangs"],
)  # fmt: skip
def test_a_tool_that_fails_is_told_in_a_sentence(
    tools: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str, why: str
) -> None:
    if "no answer" in why:
        monkeypatch.setattr(probing, "_PATIENCE_S", 0.2)
    tool(tools, name, script)
    assert devices() == ([], [f"devices: {name} did not tell: {why}"])
