"""The machine's identity holds still where the machine does."""

from __future__ import annotations

import json

import pytest

from hio_validate.observe import host

CPUINFO = "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: {mhz}\nbogomips\t: {bogo}\n"


def test_this_machine() -> None:
    seen = host.observe_host()
    assert seen.id == host.observe_host().id
    assert seen.cores
    assert seen.memory_bytes
    assert seen.kernel


def readings(monkeypatch: pytest.MonkeyPatch, **files: str) -> str | None:
    texts = {
        "/proc/cpuinfo": CPUINFO.format(mhz="2000.1", bogo="4000.2"),
        "/proc/meminfo": "MemTotal:       24684084 kB\n",
        "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    } | {name.replace("_", "/"): text for name, text in files.items()}
    monkeypatch.setattr(host, "_read", lambda path: texts.get(str(path), ""))
    return host.observe_host().id


def test_clock_speed_bogomips_and_a_kernels_share_of_memory_stay_out(monkeypatch: pytest.MonkeyPatch) -> None:
    before = readings(monkeypatch)
    faster = CPUINFO.format(mhz="3999.9", bogo="1.0")
    monkeypatch.setattr("platform.release", lambda: "99.0")
    assert readings(monkeypatch, _proc_cpuinfo=faster, _proc_meminfo="MemTotal: 24600000 kB\n") == before


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("_proc_cpuinfo", "model name : Other CPU\n"),
        ("_proc_meminfo", "MemTotal: 50000000 kB\n"),
        ("_etc_machine-id", "ffff456789abcdef0123456789abcdef\n"),
    ],
)
def test_another_machine_is_another_id(monkeypatch: pytest.MonkeyPatch, file: str, text: str) -> None:
    before = readings(monkeypatch)
    assert readings(monkeypatch, **{file: text}) != before


def test_the_machine_id_itself_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    readings(monkeypatch)
    assert "0123456789abcdef" not in json.dumps(host.observe_host().model_dump())
