"""Writes a git repository of N documents that looks like a real one, with planted faults: the benchmark's corpus.

    python benchmarks/generate.py FOLDER [--documents 1000] [--seed 7]

Mix, per 20 documents of a service: 5 stacks (28 lines), 4 captures (263 lines), 3 runs with raw rows, 3 matrices
and a ledger of 5 entries, all pinned and cited as the rules want it; beside them sites, and one engine document for
each build recorded in this repository, with its real --help text. The mean document has 76 lines.

Invariants: the same arguments give the same bytes; every reference resolves and every pin is right, except where a
fault is planted, and each planted fault is exactly one finding in one file (1 % of the documents, five kinds in turn).
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random

import documents
from documents import Serving, Variant, day_of

ENGINES = Path(__file__).resolve().parent.parent / "manifests/engines/llama-server"
PER_SERVICE = 20
LEAST_SITES = 4

BASE = Variant("base")
THREADS = Variant("threads-2", threads=2)
FLASH = Variant("flash-on", flash="on")
BATCH = Variant("batch-1024", batch=1024)
DRAFT = Variant("draft", threads=2, batch=1024, kv="q8_0")
"""What someone is still working on: nothing pins it, so that a fault in it is one fault."""

KEPT = ("ctx-size", "parallel", "ubatch-size", "cache-ram", "kv-offload", "temp", "top-k", "seed", "GGML_NUMA",
        "OMP_WAIT_POLICY")  # fmt: skip
"""Settings that are equal in all stacks."""
IMPLICIT = "  - {preserved: [server.governor], through: implicit}   # by the runbook on both sides\n"


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted fault: the file, the rule that must name it, and whether a JSON Schema check can see it at all."""

    file: str
    rule: str
    seen_by_schema: bool


@dataclass
class Corpus:
    """All files by path, and what is wrong with them."""

    files: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @property
    def documents(self) -> list[str]:
        return sorted(path for path in self.files if path.endswith(".yaml"))

    def add(self, path: str, text: str) -> str:
        """Keep a file; gives the pin's digest."""
        self.files[path] = text
        return "sha256:" + sha256(text.encode()).hexdigest()

    def spoil(self, path: str, old: str, new: str, rule: str, seen_by_schema: bool) -> None:
        """Plant one fault. The file must contain `old`, or the corpus is not what it says."""
        if self.files[path].count(old) != 1:
            raise AssertionError(f"{path} has {old!r} {self.files[path].count(old)} times, expected once")
        self.files[path] = self.files[path].replace(old, new)
        self.faults.append(Fault(path, rule, seen_by_schema))


def corpus(count: int, seed: int = 7) -> Corpus:
    """`count` documents with `count // 100` planted faults (at least one)."""
    random = Random(seed)
    made = Corpus()
    builds = _engines(made)
    services = (count - len(builds) - LEAST_SITES) // PER_SERVICE
    sites = count - len(builds) - services * PER_SERVICE
    if services < 1:
        raise SystemExit(
            f"{count} documents are too few: expected at least {len(builds) + LEAST_SITES + PER_SERVICE}"
        )
    served = [
        Serving(f"site-{at % sites:02}", f"model-{at:04}", builds[at % len(builds)], 8000 + at % 2000)
        for at in range(services)
    ]
    for at in range(sites):
        name = f"site-{at:02}"
        made.add(
            f"manifests/sites/{name}.yaml",
            documents.site(name, [each for each in served if each.site == name]),
        )
    for at, serving in enumerate(served):
        _service(made, serving, at, random)
    for at, serving in enumerate(reversed(served[-max(1, count // 100) :])):
        FAULTS[at % len(FAULTS)](made, serving)
    return made


def _engines(made: Corpus) -> list[str]:
    """The builds recorded in this repository, with their real help texts."""
    builds = sorted(each.parent.name for each in ENGINES.glob("*/help.txt"))
    for build in builds:
        text = (ENGINES / build / "help.txt").read_text(encoding="utf-8")
        help_sha256 = made.add(f"manifests/engines/llama-server/{build}/help.txt", text).removeprefix(
            "sha256:"
        )
        made.add(f"manifests/engines/llama-server/{build}/engine.yaml", documents.engine(build, help_sha256))
    return builds


def _service(made: Corpus, serving: Serving, at: int, random: Random) -> None:
    home = f"manifests/services/{serving.service}"
    stacks = {
        each.name: f"{each.name}@"
        + made.add(f"{home}/stacks/{each.name}.yaml", documents.stack(serving, each))
        for each in (BASE, THREADS, FLASH, BATCH, DRAFT)
    }
    captures = {}
    for number, each in enumerate((BASE, THREADS, FLASH, BATCH), 4 * at):
        name = f"{each.name}-2026-09-{1 + number % 28:02}"
        text = documents.capture(serving, each, each.name, number)
        captures[each.name] = f"{name}@" + made.add(f"{home}/captures/{name}.yaml", text)
    runs = {
        each.name: _run(made, serving, at, (stacks, captures), each, delta, random)
        for each, delta in (
            (THREADS, '{server.threads: "2"}'),
            (FLASH, '{server.flash-attn: "on"}'),
            (BATCH, '{server.batch-size: "1024"}'),
        )
    }
    tip = _ledger(made, serving, at, (stacks, captures), runs)
    _matrices(made, serving, {name: pin.partition("@")[0] for name, pin in captures.items()}, tip)


def _run(
    made: Corpus, serving: Serving, at: int, known: tuple[dict[str, str], dict[str, str]], variant: Variant,
    delta: str, random: Random,
) -> tuple[str, float]:  # fmt: skip
    """Eight legs of the base stack and of one change to it; gives the pin, and the change of the decode speed."""
    stacks, captures = known
    name = f"{variant.name}-screen"
    folder = f"manifests/services/{serving.service}/runs/{name}"
    legs = {
        arm: [
            (
                round(random.gauss(speed, 0.4), 3),
                round(random.gauss(8 * speed, 3.0), 2),
                round(random.gauss(40, 1), 2),
            )
            for _ in range(4)
        ]
        for arm, speed in (("off", 40.0), ("on", 41.5))
    }
    raw = made.add(f"{folder}/rows.tsv", documents.rows(legs)).removeprefix("sha256:")
    arms = {
        "off": (stacks["base"], "{}", captures["base"]),
        "on": (stacks["base"], delta, captures[variant.name]),
    }
    text = documents.run(serving, name, at, arms, (raw, 8))
    return f"{name}@" + made.add(f"{folder}/run.yaml", text), documents.change(legs)


def _ledger(
    made: Corpus, serving: Serving, at: int, known: tuple[dict[str, str], dict[str, str]],
    runs: dict[str, tuple[str, float]],
) -> str:  # fmt: skip
    """Baseline, one accepted increment, two negative controls, a decision; gives the id of the tip."""
    stacks, captures = known
    baseline = f"kind: baseline\npins: {{stack: {stacks['base']}, capture: {captures['base']}}}\n"
    bodies = [("baseline", baseline)]
    for variant, factor, kind in (
        (THREADS, "server.threads", "increment"),
        (FLASH, "server.flash-attn", "negative-control"),
        (BATCH, "server.batch-size", "negative-control"),
    ):
        pin, change = runs[variant.name]
        accepted = f", stack: {stacks[variant.name]}" if kind == "increment" else ""
        bodies.append((
            variant.name,
            f"kind: {kind}\nfactor: {factor}\npins: {{run: {pin}{accepted}}}\n"
            f"result: {{metric: decode_tps, from: \"off\", to: \"on\", statistic: mean, change_percent: {change}}}\n"
            "because: screened overnight on the idle host   # the owner's approval is in the change request\n",
        ))  # fmt: skip
    bodies.append(
        (
            "keep-research",
            "kind: decision\ndecision: keep-research\nnext: the same at 16k of context\n"
            "evidence: {mechanism: fewer waits, benefit: it decodes faster, cost: one more core}\n",
        )
    )
    tip = id_ = ""
    for number, (name, body) in enumerate(bodies, at):
        id_ = f"{day_of(number)}-{name}"
        text = documents.entry(serving, id_, number, tip, body)
        tip = f"{id_}@" + made.add(f"ledger/{serving.service}/{id_[:4]}/{id_}.yaml", text)
    return id_


def _matrices(made: Corpus, serving: Serving, captures: dict[str, str], tip: str) -> None:
    accepted = next(
        path.rpartition("/")[2][:-5]
        for path in made.files
        if path.startswith(f"ledger/{serving.service}/") and path.endswith("-threads-2.yaml")
    )
    factor = "  - {{factor: server.{0}, from: {1}, to: {2}, disposition: {3}}}\n"
    threads = factor.format("threads", '"1"', '"2"', f"changed, evidence: {accepted}")
    flash = factor.format("flash-attn", '"off"', '"on"', "retest, because: slower in its screen")
    batch = factor.format("batch-size", '"512"', '"1024"', "retest, because: slower in its screen")
    kv = "".join(
        factor.format(f"cache-type-{one}", "f16", "q8_0", "retest, because: no quality gate yet")
        for one in "kv"
    )
    same_kv = ["cache-type-k", "cache-type-v"]
    for candidate, rows_, kept in (
        (THREADS, threads, [*KEPT, *same_kv, "batch-size", "flash-attn"]),
        (FLASH, flash, [*KEPT, *same_kv, "batch-size", "threads"]),
        (DRAFT, threads + batch + kv, [*KEPT, "flash-attn"]),
    ):
        name = f"base-to-{candidate.name}"
        seen = (
            f"captures: {{parent: {captures['base']}, candidate: {captures[candidate.name]}}}\n"
            if candidate.name in captures
            else "# captures: when it has run once\n"
        )
        rows_ = (
            f"  - preserved:\n{''.join(f'      - server.{name}{chr(10)}' for name in kept)}{IMPLICIT}{rows_}"
        )
        text = documents.matrix(serving, name, candidate, seen, rows_, tip)
        made.add(f"matrix/{serving.service}/{name}.yaml", text)


def _syntax_error(made: Corpus, serving: Serving) -> None:
    path = f"manifests/services/{serving.service}/stacks/draft.yaml"
    made.spoil(path, '- ["--top-k", "40"]', '- ["--top-k", "40"', "syntax-error", True)


def _duplicate_key(made: Corpus, serving: Serving) -> None:
    path = f"manifests/services/{serving.service}/stacks/draft.yaml"
    made.spoil(path, "    env: {", "    build: b1\n    env: {", "duplicate-key", True)


def _misspelt_key(made: Corpus, serving: Serving) -> None:
    made.spoil(
        f"matrix/{serving.service}/base-to-draft.yaml", "workload:", "worklod:", "schema-violation", True
    )


def _value_mismatch(made: Corpus, serving: Serving) -> None:
    made.spoil(
        f"matrix/{serving.service}/base-to-threads-2.yaml", 'to: "2"', 'to: "3"', "value-mismatch", False
    )


def _dangling_reference(made: Corpus, serving: Serving) -> None:
    path = f"matrix/{serving.service}/base-to-threads-2.yaml"
    made.spoil(path, "evidence: 2026", "evidence: 2062", "dangling-reference", False)


FAULTS: tuple[Callable[[Corpus, Serving], None], ...] = (
    _syntax_error, _duplicate_key, _misspelt_key, _value_mismatch, _dangling_reference,
)  # fmt: skip


def write(made: Corpus, folder: Path) -> None:
    """The files on disk, committed to a fresh git repository."""
    for path, text in made.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        ["commit", "--quiet", "-m", "corpus"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True, env=git_environment())


def git_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {
        f"GIT_{role}_{what}": "benchmark" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    when = {f"GIT_{role}_DATE": "2026-11-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
    return kept | who | when | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def described(made: Corpus) -> Iterator[str]:
    """The corpus in a few lines: kinds, sizes, faults."""
    kinds: dict[str, list[str]] = {}
    for path in made.documents:
        kind = next(line for line in made.files[path].split("\n") if line.startswith("hio: "))
        kinds.setdefault(kind.removeprefix("hio: "), []).append(made.files[path])
    for kind, texts in sorted(kinds.items()):
        lines, size = sum(text.count("\n") for text in texts), sum(len(text.encode()) for text in texts)
        yield f"{len(texts):6} {kind:12} {lines / len(texts):6.1f} lines {size / len(texts):8.0f} bytes on average"
    all_ = [text for texts in kinds.values() for text in texts]
    lines, size = sum(text.count("\n") for text in all_), sum(len(text.encode()) for text in all_)
    yield f"{len(all_):6} {'together':12} {lines / len(all_):6.1f} lines {size / len(all_):8.0f} bytes on average"
    for fault in made.faults:
        yield f"planted {fault.rule} in {fault.file}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write the benchmark's repository of documents into a new folder."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", type=int, default=7, help="of the measured numbers (default: 7)")
    arguments = parser.parse_args()
    if arguments.folder.exists() and any(arguments.folder.iterdir()):
        parser.error(f"{arguments.folder} is not empty")
    made = corpus(arguments.documents, arguments.seed)
    write(made, arguments.folder)
    print("\n".join(described(made)))


if __name__ == "__main__":
    main()
