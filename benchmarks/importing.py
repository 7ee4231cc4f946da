"""hio import of long result files, and a loop of json.loads over the same lines, in turn, in one run.

    python benchmarks/importing.py [--mib 1024] [--format llama-bench ...]

Writes a file of each format that is read line by line (tests/importing/results/many.py), times both, prints MiB/s, the ratio and the peak memory of the process, and writes
benchmarks/results/<date>-importing.json. hio is this checkout, run by the Python that runs this.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from measure import Command, Sample, Unexpected, environment
from tools import CHECKOUT, machine

sys.path.insert(0, str(CHECKOUT))

from tests.importing.results.many import ROWS, write

AT_MOST_MIB = 200
"""Peak memory of the process, whatever the file."""
_START = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from hio_validate.__main__ import main; main()"
_LOOP = "import json, sys\nfor line in open(sys.argv[1]):\n    try:\n        json.loads(line)\n    except ValueError:\n        pass"


def main() -> int:
    """Measure; 0 where the target is reached, else 1."""
    arguments = _arguments()
    figures: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": f"python benchmarks/importing.py --mib {arguments.mib}",
        "machine": machine(),
        "load_before": os.getloadavg()[0],
        "mib": arguments.mib,
        "formats": {},
    }
    with tempfile.TemporaryDirectory(prefix="hio-import-", dir=arguments.folder) as name:
        for format in arguments.format or ROWS:
            figures["formats"][format] = told = measured(Path(name) / format, format, arguments.mib << 20)
            (Path(name) / format).unlink()
            print(rendered(format, told), flush=True)
    figures["load_after"] = os.getloadavg()[0]
    target = arguments.results / f"{figures['date'][:10]}-importing.json"
    target.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"written to {target}")
    return int(any(each["peak_mib"] > AT_MOST_MIB for each in figures["formats"].values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 the target was reached, 1 it was missed, 2 usage.",
    )  # fmt: skip
    parser.add_argument("--mib", type=int, default=1024, help="of each file (default: 1024)")
    parser.add_argument("--format", action="append", choices=list(ROWS), help="only this one (default: all)")
    parser.add_argument("--folder", type=Path, help="for the files (default: that of temporary files)")
    parser.add_argument(
        "--results", type=Path, default=CHECKOUT / "benchmarks/results", help="folder of the figures"
    )
    return parser.parse_args()


def measured(file: Path, format: str, size: int) -> dict[str, Any]:
    """One format: what hio and the loop took. Raises Unexpected."""
    rows = write(file, format, size)
    ours = Command("hio import", (sys.executable, "-c", _START, "import", str(file)), file.parent, 0)
    theirs = Command("json.loads", (sys.executable, "-c", _LOOP, str(file)), file.parent, 0)
    sample, said = _run(ours)
    records = next((line.strip() for line in said.splitlines() if " record" in line), "")
    if f"({format}" not in said or not records:
        raise Unexpected(f"hio import: expected records of {format}, got {said[:500]!r}")
    peer, _ = _run(theirs)
    return {
        "rows": rows,
        "bytes": file.stat().st_size,
        "said": records,
        "hio_s": sample.wall,
        "peer_s": peer.wall,
        "mib_per_s": _rate(file, sample),
        "peer_mib_per_s": _rate(file, peer),
        "peak_mib": sample.peak_kib / 1024,
    }


def _run(command: Command) -> tuple[Sample, str]:
    """One run, timed, and what it printed: a file this long is not read twice to know that beforehand."""
    begin = perf_counter()
    process = subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != command.expected:
        raise Unexpected(f"{command.tool}: expected exit code {command.expected}, got {process.returncode}")
    return Sample(perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss), said


def _rate(file: Path, sample: Sample) -> float:
    return file.stat().st_size / 2**20 / sample.wall


def rendered(format: str, told: dict[str, Any]) -> str:
    """One line."""
    return (
        f"{format}: {told['bytes'] / 2**20:.0f} MiB in {told['hio_s']:.1f} s, {told['mib_per_s']:.1f} MiB/s "
        f"(json.loads {told['peer_mib_per_s']:.1f}), peak {told['peak_mib']:.0f} MiB; {told['said']}"
    )


if __name__ == "__main__":
    sys.exit(main())
