"""Three prepared pull requests of a lab-like service, as git repositories with the branches `main` and `change`.

Everything measured here is invented and says so (SYNTHETIC): none of it may enter a real ledger.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.small_repo import pin, sha, write

RECORDED = Path(__file__).parents[2] / "manifests/engines/llama-server"
SERVICE = "lab/gemma-270m"
ROOM = f"manifests/services/{SERVICE}"
SITE = "manifests/sites/lab.yaml"
BASE, THREADS_2 = f"{ROOM}/stacks/base.yaml", f"{ROOM}/stacks/threads-2.yaml"
MATRIX = f"matrix/{SERVICE}/base-to-threads-2.yaml"
HOST, MODEL = sha("a synthetic host"), sha("a synthetic model")

_WHEN = "2026-03-01T12:00:00+00:00"
_IDENTITY = {
    "GIT_AUTHOR_NAME": "A Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_AUTHOR_DATE": _WHEN,
    "GIT_COMMITTER_NAME": "A Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "GIT_COMMITTER_DATE": _WHEN,
}
"""With these the commit ids on a page are always the same."""


def git(root: Path, *words: str) -> str:
    """The standard output of one git command, by a person and at a time that never change."""
    done = subprocess.run(
        ["git", *words], cwd=root, env={**os.environ, **_IDENTITY}, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit(root: Path, message: str = "documents") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def stack(name: str, threads: int, build: str = "b10001", batch: int = 512, host: str = "${host}") -> str:
    """A stack of the service."""
    return f"""\
hio: stack/v1
name: {name}
processes:
  server:
    engine: llama-server
    build: {build}
    argv:
      - ["--model", "${{model}}"]
      - ["--host", "{host}"]
      - ["--port", "${{port}}"]
      - ["--ctx-size", "2048"]
      - ["--parallel", "1"]
      - ["--batch-size", "{batch}"]
      - ["--ubatch-size", "256"]
      - ["--threads", "{threads}"]
      - ["--flash-attn", "off"]
"""


def site(host: str = "127.0.0.1") -> str:
    return f"""\
hio: site/v1
name: lab
services:
  gemma-270m:
    host: {host}
    port: 18434
    paths:
      model: /opt/hio-lab/model/gemma-3-270m-q4-k-m.gguf
"""


_RETEST = '{factor: server.threads, from: "1", to: "2", disposition: retest, because: not measured yet}'


def matrix(row: str = _RETEST, more: str = "", captures: str = "", batch: bool = True) -> str:
    """The matrix base -> threads-2."""
    preserved = ["server.ctx-size", "server.parallel", "server.ubatch-size", "server.flash-attn"]
    preserved += ["server.batch-size"] if batch else []
    listed = "".join(f"      - {each}\n" for each in preserved)
    return f"""\
hio: matrix/v1
name: base-to-threads-2
service: {SERVICE}
parent: base
candidate: threads-2
{captures}rows:
  - preserved:
{listed}  - {row}
{more}"""


def entry(id_: str, kind: str, at: str, after: str, more: str) -> str:
    """An entry of the ledger; `after` is a pin, or nothing for the first one."""
    return f"""\
hio: entry/v1
id: {id_}
service: {SERVICE}
after: [{f'"{after}"' if after else ""}]
kind: {kind}
by: maintainers
at: "{at}"
{more}"""


def entry_file(id_: str) -> str:
    return f"ledger/{SERVICE}/2026/{id_}.yaml"


def capture(name: str, of: str, threads: int, at: str) -> str:
    """What a process of the service was; invented."""
    executable = next(
        line.split()[-1]
        for line in (RECORDED / "b10001/engine.yaml").read_text().splitlines()
        if "executable" in line
    )
    return f"""\
hio: capture/v1
name: {name}
service: {SERVICE}
stack: {of}
site: lab
at: "{at}"
by: SYNTHETIC, for a test
host: {{how: proc, id: "{HOST}", cpu: a synthetic processor}}
processes:
  server:
    pid: 4200
    family: llama-server
    build: b10001
    started: {{how: proc, at: "{at}"}}
    executable: {{path: /opt/hio-lab/llama-10001/bin/llama-server, sha256: "{executable}", how: hash}}
    libraries:
      libc.so.6: {{path: /usr/lib/libc.so.6, sha256: "{sha("a library")}", how: hash}}
    artifacts:
      model: {{path: /opt/hio-lab/model/gemma-3-270m-q4-k-m.gguf, sha256: "{MODEL}", how: hash}}
    argv:
      how: proc
      value:
        - [/opt/hio-lab/llama-10001/bin/llama-server]
        - [--model, /opt/hio-lab/model/gemma-3-270m-q4-k-m.gguf]
        - [--host, 127.0.0.1]
        - [--port, "18434"]
        - [--ctx-size, "2048"]
        - [--parallel, "1"]
        - [--batch-size, "512"]
        - [--ubatch-size, "256"]
        - [--threads, "{threads}"]
        - [--flash-attn, "off"]
    environ: {{how: proc}}
    threads: {{how: proc, count: {threads + 4}}}
    memory: {{how: unknown}}
    listening: {{how: proc, address: 127.0.0.1, port: 18434}}
    health: {{how: health, facts: {{status: ok}}}}
"""


BASELINE = entry(
    "2026-02-01-baseline",
    "baseline",
    "2026-02-01T10:00:00Z",
    "",
    f'because: what serves today\npins: {{stack: "{pin("base", stack("base", 1))}"}}\n',
)


def before() -> dict[str, str]:
    """The documents that `main` has."""
    engines = {
        f"manifests/engines/llama-server/{build}/{file}": (RECORDED / build / file).read_text()
        for build in ("b10001", "b11434")
        for file in ("engine.yaml", "help.txt")
    }
    return {
        **engines,
        SITE: site(),
        BASE: stack("base", 1),
        THREADS_2: stack("threads-2", 2),
        MATRIX: matrix(),
        entry_file("2026-02-01-baseline"): BASELINE,
    }


def hidden_default() -> dict[str, str]:
    """One line: the candidate names the next build. Two defaults move with it, and no row says so."""
    return {THREADS_2: stack("threads-2", 2, build="b11434")}


def without_evidence() -> dict[str, str]:
    """A larger batch, a row called changed though nothing measured it, and a site that listens everywhere."""
    batch = '  - {factor: server.batch-size, from: "512", to: "1024", disposition: retest, because: "seen | once, by @mara"}\n'
    changed = (
        '{factor: server.threads, from: "1", to: "2", disposition: changed, because: two cores are idle}'
    )
    return {
        THREADS_2: stack("threads-2", 2, batch=1024),
        MATRIX: matrix(changed, batch, batch=False),
        SITE: site("0.0.0.0"),
    }


ROWS = "leg\tarm\tdecode_tps\n" + "".join(
    f"{leg}\t{arm}\t{value}\n"
    for leg, (arm, value) in enumerate(
        [("one", 80.0), ("two", 112.0), ("two", 113.0), ("one", 81.0), ("two", 114.0), ("one", 82.0)], 1
    )
)


def promotion() -> dict[str, str]:
    """Measured, accepted, approved and deployed: everything that threads-2 needs to serve. All of it invented."""
    captures = {
        name: capture(name, of, threads, at)
        for name, of, threads, at in (
            ("leg-one", "base", 1, "2026-02-20T10:00:00Z"),
            ("leg-two", "threads-2", 2, "2026-02-20T10:10:00Z"),
            ("live-2026-02-22", "threads-2", 2, "2026-02-22T10:00:00Z"),
        )
    }
    run = _run(captures)
    row = (
        '{factor: server.threads, from: "1", to: "2", disposition: changed, evidence: 2026-02-20-threads, '
        "depends: [], because: measured}"
    )
    sides = (
        "captures: {parent: leg-one, candidate: leg-two}\nworkload: {fixture: synthetic-128, regime: cold}\n"
    )
    complete = matrix(row, captures=sides)
    entries = _entries(captures, run, complete)
    return {
        **{f"{ROOM}/captures/{name}.yaml": text for name, text in captures.items()},
        f"{ROOM}/runs/2026-02-20-threads/run.yaml": run,
        f"{ROOM}/runs/2026-02-20-threads/rows.tsv": ROWS,
        MATRIX: complete,
        **{entry_file(id_): text for id_, text in entries.items()},
    }


def _run(captures: Mapping[str, str]) -> str:
    arms = {"one": ("base", 1, "leg-one"), "two": ("threads-2", 2, "leg-two")}
    listed = "".join(
        f'  {arm}:\n    stack: "{pin(name, stack(name, threads))}"\n'
        f'    captures: ["{pin(leg, captures[leg])}"]\n'
        for arm, (name, threads, leg) in arms.items()
    )
    return f"""\
hio: run/v1
name: 2026-02-20-threads
service: {SERVICE}
question: "SYNTHETIC: do two threads decode faster than one?"
at: "2026-02-20T10:00:00Z"
scope: {{host: "{HOST}", model: "{MODEL}", fixture: synthetic-128, regime: cold}}
arms:
{listed}raw: {{file: rows.tsv, sha256: "{sha(ROWS)}", format: tsv, rows: 6, arm: arm}}
columns:
  leg: {{unit: "1"}}
  arm: {{unit: text}}
  decode_tps: {{unit: token/s, better: higher}}
"""


def _entries(captures: Mapping[str, str], run: str, complete: str) -> dict[str, str]:
    """Increment, approval and deployment, each after the one before."""
    result = "{metric: decode_tps, from: one, to: two, statistic: median, change_percent: 39.5062}"
    two = pin("threads-2", stack("threads-2", 2))
    increment = entry(
        "2026-02-20-threads", "increment", "2026-02-20T12:00:00Z", pin("2026-02-01-baseline", BASELINE),
        f"because: SYNTHETIC numbers of a test\nfactor: server.threads\nresult: {result}\n"
        f'pins: {{run: "{pin("2026-02-20-threads", run)}", stack: "{two}"}}\n',
    )  # fmt: skip
    approval = entry(
        "2026-02-21-approval", "approval", "2026-02-21T12:00:00Z", pin("2026-02-20-threads", increment),
        f"because: a better default for the lab\napproves: deploy\nservices: [{SERVICE}]\nowners: [the lab]\n"
        "scope: switch the lab's service to threads-2 on its one host, on 22 February\n"
        f'until: "2026-02-28T00:00:00Z"\npins: {{stack: "{two}"}}\n',
    )  # fmt: skip
    pins = {
        "matrix": pin("base-to-threads-2", complete),
        "parent": pin("base", stack("base", 1)),
        "candidate": two,
        "capture": pin("live-2026-02-22", captures["live-2026-02-22"]),
        "rollback": pin("base", stack("base", 1)),
        "approval": pin("2026-02-21-approval", approval),
    }
    listed = "".join(f'  {role}: "{each}"\n' for role, each in pins.items())
    deployment = entry(
        "2026-02-22-deployment", "deployment", "2026-02-22T12:00:00Z", pin("2026-02-21-approval", approval),
        f"because: SYNTHETIC, a test's deployment\nsite: lab\npins:\n{listed}",
    )  # fmt: skip
    return {
        "2026-02-20-threads": increment,
        "2026-02-21-approval": approval,
        "2026-02-22-deployment": deployment,
    }


@dataclass(frozen=True)
class PullRequest:
    """What a branch adds to `main`."""

    name: str
    change: Callable[[], dict[str, str]]
    exit_code: int
    base: Mapping[str, str] = field(default_factory=before)


PULL_REQUESTS = (
    PullRequest("hidden-default", hidden_default, 1),
    PullRequest("without-evidence", without_evidence, 0),
    PullRequest("promotion", promotion, 0),
)


def prepared(
    root: Path, change: Mapping[str, str | bytes | None], base: Mapping[str, str] | None = None
) -> Path:
    """A repository with `main` and, checked out, `change`; a file that is None is deleted."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    write(root, before() if base is None else base)
    commit(root)
    git(root, "switch", "-q", "-c", "change")
    write(root, {file: text for file, text in change.items() if text is not None})
    for file in (file for file, text in change.items() if text is None):
        (root / file).unlink()
    commit(root, "change")
    return root
