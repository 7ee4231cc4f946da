"""hio audit and one `git log --raw --no-renames -m` over the same history, in turn, in one run.

    python benchmarks/audit.py [--commits 100000]

Builds the history (history.py), proves that hio finds an entry that was edited and put back in it, times both in
alternating rounds, prints ratios and peak memory, and writes benchmarks/results/<date>-audit.json. hio is this
checkout, run by the Python that runs this; every timed run must print what the first one did.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import history
from measure import Command, Pairs, Sample, Unexpected, alternate, environment, spread
from tools import CHECKOUT, machine

AT_MOST = 1.5
"""hio's wall time over git log's."""
_START = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from hio_validate.__main__ import main; main()"


def main() -> int:
    """Measure; 0 where the target is reached, else 1."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="hio-audit-") as name:
        repo = (arguments.folder or Path(name)) / f"history-{arguments.commits}"
        if not repo.exists():
            history.write(repo, arguments.commits)
        prove(repo, Path(name) / "tampered")
        print("hio finds what was planted; timing", flush=True)
        before = os.getloadavg()[0]
        pairs = alternate(hio(repo, 0), git_log(repo), arguments.rounds)
        figures = report(arguments, repo, pairs, before)
    print(rendered(figures))
    target = arguments.results / f"{figures['date'][:10]}-audit.json"
    kept = json.loads(target.read_text()) if target.exists() else {}
    target.write_text(
        json.dumps(kept | {str(figures["commits"]): figures}, indent=1) + "\n", encoding="utf-8"
    )
    print(f"written to {target}")
    return int(figures["ratio_wall"]["median"] > AT_MOST)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 the target was reached, 1 it was missed, 2 usage.",
    )  # fmt: skip
    parser.add_argument("--commits", type=int, default=10_000, help="of the history (default: 10000)")
    parser.add_argument("--rounds", type=int, default=15, help="of both commands in turn (default: 15)")
    parser.add_argument(
        "--folder", type=Path, help="keep the history in this folder, and use one that is there"
    )
    parser.add_argument(
        "--results", type=Path, default=CHECKOUT / "benchmarks/results", help="folder of the figures"
    )
    return parser.parse_args()


def hio(repo: Path, expected: int) -> Command:
    """`hio audit` of this checkout."""
    return Command("hio audit", (sys.executable, "-c", _START, "audit"), repo, expected)


def git_log(repo: Path) -> Command:
    """What the audit is compared with."""
    return Command("git log", ("git", "log", "--raw", "--no-renames", "-m"), repo, 0)


def prove(repo: Path, clone: Path) -> None:
    """An edit that was put back is found, and nothing else; else the times say nothing. Raises Unexpected."""
    _git(repo, "clone", "--quiet", str(repo), str(clone))
    entry = sorted(clone.glob("ledger/lab/alpha/*/*.yaml"))[0]
    before = entry.read_bytes()
    for content in (before + b"# edited\n", before):
        entry.write_bytes(content)
        _git(
            clone,
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "--quiet",
            "--all",
            "-m",
            "x",
        )
    said = hio(clone, 1).output().decode()
    if said.count("[history-altered]") != 2:
        raise Unexpected(f"hio audit: expected the edit and its return, got {said[-2000:]}")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment(), check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def report(arguments: argparse.Namespace, repo: Path, pairs: Pairs, before: float) -> dict[str, Any]:
    """Everything that was measured, and how."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": f"python benchmarks/audit.py --commits {arguments.commits} --rounds {arguments.rounds}",
        "machine": machine(),
        "load": {"before": before, "after": os.getloadavg()[0]},
        "commits": int(_git(repo, "rev-list", "--count", "HEAD")),
        "merges": int(_git(repo, "rev-list", "--count", "--merges", "HEAD")),
        "files": len(_git(repo, "ls-files", "ledger", "manifests").splitlines()),
        "ratio_wall": spread(pairs.ratios()),
        "ratio_cpu": spread(pairs.ratios(lambda sample: sample.cpu)),
        "hio audit": _samples(pairs.hio),
        "git log": _samples(pairs.peer),
    }


def _samples(samples: list[Sample]) -> dict[str, Any]:
    return {
        "median_wall_s": median(each.wall for each in samples),
        "median_cpu_s": median(each.cpu for each in samples),
        "peak_mib": max(each.peak_kib for each in samples) / 1024,
        "samples": [asdict(each) for each in samples],
    }


def rendered(figures: dict[str, Any]) -> str:
    """The figures as text."""
    ours, theirs, ratio = figures["hio audit"], figures["git log"], figures["ratio_wall"]
    return (
        f"{figures['commits']} commits ({figures['merges']} merges), {figures['files']} files in the rooms; "
        f"load {figures['load']['before']:.1f} -> {figures['load']['after']:.1f}\n"
        f"hio audit {ours['median_wall_s'] * 1000:.0f} ms, largest process {ours['peak_mib']:.0f} MiB\n"
        f"git log   {theirs['median_wall_s'] * 1000:.0f} ms, {theirs['peak_mib']:.0f} MiB\n"
        f"ratio {ratio['median']:.2f} (middle half {ratio['lower_quarter']:.2f}-{ratio['upper_quarter']:.2f}), "
        f"target at most {AT_MOST}; processor time {figures['ratio_cpu']['median']:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
