"""A file four times as long needs no more memory: what is read line by line is not held."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.importing.results.many import ROWS, write

PEAK = """
import sys
from pathlib import Path
from hio_validate.importing.results.keeping import Asked, write
from hio_validate.importing.results.reading import reading
from hio_validate.importing.results.source import Source
found = reading(Source(Path(sys.argv[1])))
if sys.argv[2] == "written":
    write(found, Asked("kept", "lab/tiny", None, True, {"hio": "0", "rules": 5}), Path(sys.argv[1]).parent)
else:
    for record in found.records():
        pass
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(found.count, status["VmHWM"].split()[0])
"""
"""Prints the records and the peak in KiB. Not ru_maxrss: that begins with the peak of whoever started the process."""
SHORT, LONG = 1 << 20, 4 << 20
MOST = 3 << 10
"""KiB that the long one may need more; holding it needs at least its own size, as objects several times that."""


def _peak(file: Path, how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(file), how], capture_output=True, text=True, check=True
    )
    count, peak = map(int, done.stdout.split())
    assert count
    return peak


@pytest.mark.parametrize("format", ROWS)
def test_reading_holds_no_file(tmp_path: Path, format: str) -> None:
    for name, size in (("short", SHORT), ("long", LONG)):
        write(tmp_path / name, format, size)
    assert _peak(tmp_path / "long", "read") - _peak(tmp_path / "short", "read") < MOST


def test_writing_holds_no_file(tmp_path: Path) -> None:
    peaks = []
    for name, size in (("short", SHORT), ("long", LONG)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "bench.jsonl", "llama-bench", size)
        peaks.append(_peak(tmp_path / name / "bench.jsonl", "written"))
    assert peaks[1] - peaks[0] < MOST
