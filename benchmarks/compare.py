"""hio and check-jsonschema on the same documents, in turn, in one run: cold on one file, and on a whole repository.

    python benchmarks/compare.py

Makes two fresh virtual environments under a temporary folder (hio as a wheel built from this checkout,
check-jsonschema from the package index), writes the corpus (generate.py), proves that both tools really do their
work on it, times them in alternating rounds, prints the figures and writes benchmarks/results/<date>.json.

What is proven before anything is timed: hio's errors are exactly the planted faults; check-jsonschema names every
fault that a schema can see, and refuses a document of each kind with an unknown key. Every timed run must end with
the same exit code and print the same bytes as the first one did.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import generate
from measure import Pairs, Unexpected, alternate, spread
from tools import CHECKOUT, KINDS, Tools, hio_command, install, machine, peer_command, versions

ONE_FILE_AT_MOST = 0.7
"""hio's time over check-jsonschema's, cold, on one file."""
MANY_FASTER = 20.0
"""check-jsonschema's time over hio's, on 1,000 documents."""
RECORDED = "manifests/services/lab/gemma-270m"


def main() -> int:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="hio-benchmark-") as name:
        folder = arguments.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        load_before = os.getloadavg()
        tools = install(folder / "environments", arguments.source, arguments.peer)
        corpus = generate.corpus(arguments.documents, arguments.seed)
        many = folder / "corpus"
        generate.write(corpus, many)
        print("\n".join(generate.described(corpus)), flush=True)
        prove(tools, many, corpus)
        print("both tools find what they must; timing", flush=True)
        cases = one_file_cases(
            tools, recorded(arguments.source, folder / "recorded"), many, corpus, arguments.pairs
        )
        cases["all documents"] = whole(tools, many, corpus, arguments.rounds, arguments.peer_rounds)
        figures = report(arguments, tools, corpus, cases, load_before)
    print(rendered(figures))
    target = arguments.results / f"{figures['date'][:10]}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"written to {target}")
    return 0 if all(figures["reached"].values()) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 both targets reached, 1 one was missed, 2 usage; a tool that does not do its work is a traceback.",
    )  # fmt: skip
    parser.add_argument("--documents", type=int, default=1000, help="of the repository (default: 1000)")
    parser.add_argument("--seed", type=int, default=7, help="of the corpus (default: 7)")
    parser.add_argument(
        "--pairs", type=int, default=21, help="alternating cold runs on one file (default: 21)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of hio on all documents (default: 5)")
    parser.add_argument(
        "--peer-rounds", type=int, default=3, help="how many of them with the peer (default: 3)"
    )
    parser.add_argument(
        "--peer", default="check-jsonschema", help="pip requirement (default: check-jsonschema)"
    )
    parser.add_argument(
        "--source", type=Path, default=CHECKOUT, help="checkout to build hio from (default: this one)"
    )
    parser.add_argument(
        "--results", type=Path, default=CHECKOUT / "benchmarks/results", help="folder of the figures"
    )
    parser.add_argument("--folder", type=Path, help="keep environments and corpus in this new folder")
    return parser.parse_args()


def recorded(source: Path, folder: Path) -> Path:
    """The documents recorded in this repository, committed to a repository of their own."""
    folder.mkdir()
    for room in ("matrix", "ledger", "manifests"):
        if (source / room).is_dir():
            shutil.copytree(source / room, folder / room)
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "recorded"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=generate.git_environment())
    return folder


def prove(tools: Tools, many: Path, corpus: generate.Corpus) -> None:
    """Both tools judge every document; else their times say nothing. Raises Unexpected."""
    said = json.loads(hio_command(tools, many, (), 1, "--format", "json").output())
    errors = [
        (each["location"]["file"], each["rule"])
        for each in said["diagnostics"]
        if each["severity"] == "error"
    ]
    planted = [(fault.file, fault.rule) for fault in corpus.faults]
    if sorted(errors) != sorted(planted) or said["summary"]["documents"] != len(corpus.documents):
        raise Unexpected(
            f"hio: expected {sorted(planted)}, got {sorted(errors)} in {said['summary']['documents']}"
        )
    named = _named_by_peer(tools, many, corpus.documents)
    visible = {fault.file for fault in corpus.faults if fault.seen_by_schema}
    if named != visible:
        raise Unexpected(f"check-jsonschema: expected {sorted(visible)}, got {sorted(named)}")
    spoiled = _spoiled(corpus, many.parent / "spoiled")
    refused = _named_by_peer(tools, many.parent / "spoiled", spoiled)
    if refused != set(spoiled):
        raise Unexpected(f"check-jsonschema accepts an unknown key in {sorted(set(spoiled) - refused)}")


def _named_by_peer(tools: Tools, folder: Path, files: list[str]) -> set[str]:
    command = peer_command(tools, folder, files, 1, None, "--output-format", "json")
    said = json.loads(command.output())
    return {each["filename"] for each in (*said.get("errors", ()), *said.get("parse_errors", ()))}


def _spoiled(corpus: generate.Corpus, folder: Path) -> list[str]:
    """One document of each kind that the corpus has, with a key that no kind knows."""
    folder.mkdir()
    files = []
    bad = {fault.file for fault in corpus.faults}
    for kind in KINDS:
        path = next(
            (
                path
                for path in corpus.documents
                if path not in bad and f"\nhio: {kind}/v1" in corpus.files[path]
            ),
            None,
        )
        if path:
            (folder / f"{kind}.yaml").write_text(corpus.files[path] + "surplus: 1\n", encoding="utf-8")
            files.append(f"{kind}.yaml")
    return files


def one_file_cases(
    tools: Tools, small: Path, many: Path, corpus: generate.Corpus, pairs: int
) -> dict[str, Pairs]:
    """Cold on one sound file: a capture and a stack, in the small recorded repository and in the large one."""
    capture = next(path for path in corpus.documents if "/captures/flash-on" in path)
    wanted = (
        ("one stack, recorded repository", small, "stack", f"{RECORDED}/stacks/base.yaml"),
        ("one capture, recorded repository", small, "capture",
         next(path.relative_to(small).as_posix() for path in sorted(small.glob(f"{RECORDED}/captures/base-*.yaml")))),
        (f"one stack among {len(corpus.documents)}", many, "stack",
         capture.partition("/captures/")[0] + "/stacks/flash-on.yaml"),
        (f"one capture among {len(corpus.documents)}", many, "capture", capture),
    )  # fmt: skip
    found = {}
    for label, folder, kind, file in wanted:
        hio = hio_command(tools, folder, (file,), 0)
        schema = CHECKOUT / f"schemas/{kind}.schema.json"
        found[label] = alternate(hio, peer_command(tools, folder, (file,), 0, schema), pairs)
        print(f"  {label}: {median(found[label].ratios()):.3f}", flush=True)
    return found


def whole(tools: Tools, many: Path, corpus: generate.Corpus, rounds: int, peer_rounds: int) -> Pairs:
    """All documents in one invocation of each tool."""
    return alternate(
        hio_command(tools, many, (), 1), peer_command(tools, many, corpus.documents, 1), rounds, peer_rounds
    )


def report(
    arguments: argparse.Namespace, tools: Tools, corpus: generate.Corpus, cases: dict[str, Pairs],
    load_before: tuple[float, float, float],
) -> dict[str, Any]:  # fmt: skip
    """Everything that was measured, and how it was."""
    ratios = {label: median(pairs.ratios()) for label, pairs in cases.items()}
    one_file = {label: ratio for label, ratio in ratios.items() if label != "all documents"}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "load": {"before": load_before[0], "after": os.getloadavg()[0]},
        "source": _revision(arguments.source),
        "versions": versions(tools),
        "corpus": {"seed": arguments.seed, "summary": list(generate.described(corpus))},
        "cases": {label: _case(pairs) for label, pairs in cases.items()},
        "reached": {
            f"one file: at most {ONE_FILE_AT_MOST} of check-jsonschema's time": max(one_file.values()) <= ONE_FILE_AT_MOST,
            f"all documents: at least {MANY_FASTER:g} times faster": 1 / ratios["all documents"] >= MANY_FASTER,
        },
    }  # fmt: skip


def _case(pairs: Pairs) -> dict[str, Any]:
    return {
        "ratio_wall": spread(pairs.ratios()),
        "ratio_cpu": spread(pairs.ratios(lambda sample: sample.cpu)),
        "hio": _samples(pairs.hio),
        "check-jsonschema": _samples(pairs.peer),
    }


def _samples(samples: list[Any]) -> dict[str, Any]:
    return {
        "median_wall_s": median(each.wall for each in samples),
        "median_cpu_s": median(each.cpu for each in samples),
        "peak_mib": max(each.peak_kib for each in samples) / 1024,
        "samples": [asdict(each) for each in samples],
    }


def _revision(source: Path) -> dict[str, Any]:
    """The commit the wheel was built from, and whether the checkout had changes of its own."""
    said = [
        subprocess.run(
            ["git", *words], cwd=source, capture_output=True, text=True, check=False
        ).stdout.strip()
        for words in (
            ["rev-parse", "--verify", "--quiet", "HEAD"],
            ["status", "--porcelain", "--", "hio_validate"],
        )
    ]
    return {"commit": said[0] or "none yet", "changed": bool(said[1])}


def rendered(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    system = figures["machine"]
    lines = [
        f"{figures['date']}, {system['cpu']}, {system['cores']} cores, {system['memory_gib']} GiB, "
        f"Python {system['python']}, git {system['git']}, load {figures['load']['before']:.1f} -> "
        f"{figures['load']['after']:.1f}",
        f"hio {figures['versions']['hio']['hio-validate']} ({figures['source']['commit'][:12]}"
        f"{', changed' if figures['source']['changed'] else ''}), "
        f"check-jsonschema {figures['versions']['peer']['check-jsonschema']}",
        f"{'':34}{'hio':>10}{'peer':>10}{'hio/peer':>10}{'middle half':>16}{'peer/hio':>10}{'MiB':>11}",
    ]
    for label, case in figures["cases"].items():
        ratio = case["ratio_wall"]
        ours, theirs = case["hio"], case["check-jsonschema"]
        half = f"{ratio['lower_quarter']:.3f}..{ratio['upper_quarter']:.3f}"
        lines.append(
            f"{label:34}{1000 * ours['median_wall_s']:7.0f} ms{1000 * theirs['median_wall_s']:7.0f} ms"
            f"{ratio['median']:10.3f}{half:>16}{1 / ratio['median']:10.1f}"
            f"{ours['peak_mib']:5.0f}/{theirs['peak_mib']:.0f}"
        )
    lines += [f"{'reached' if done else 'MISSED '} {target}" for target, done in figures["reached"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
