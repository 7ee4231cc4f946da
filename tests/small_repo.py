"""A small repository of documents for tests: one service, three stacks, a learned build, and what was measured."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

SERVICE = "lab/tiny"
ROOM = f"manifests/services/{SERVICE}"

HELP = """\
----- common params -----

-h,    --help, --usage                  print usage and exit
-t,    --threads N                      number of CPU threads to use during generation (default: -1)
                                        (env: LLAMA_ARG_THREADS)
-tb,   --threads-batch N                number of threads to use during batch and prompt processing (default:
                                        same as --threads)
-c,    --ctx-size N                     size of the prompt context (default: 0, 0 = loaded from model)
                                        (env: LLAMA_ARG_CTX_SIZE)
-b,    --batch-size N                   logical maximum batch size (default: 2048)
                                        (env: LLAMA_ARG_BATCH)
-m,    --model FNAME                    model path to load
                                        (env: LLAMA_ARG_MODEL)

----- server-specific params -----

--host HOST                             ip address to listen (default: 127.0.0.1)
                                        (env: LLAMA_ARG_HOST)
--port PORT                             port to listen (default: 8080)
                                        (env: LLAMA_ARG_PORT)
"""


def sha(content: str | bytes) -> str:
    """Hex digest, as sha256sum prints it."""
    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def pin(name: str, content: str | bytes) -> str:
    """A reference with the digest of a document's bytes."""
    return f"{name}@sha256:{sha(content)}"


def stack(name: str, threads: int = 1, more: str = "") -> str:
    """A stack document."""
    return (
        f"hio: stack/v1\nname: {name}\nprocesses:\n  server:\n    engine: llama-server\n    build: b1\n    argv:\n"
        f'      - ["--threads", "{threads}"]\n      - ["--port", "8080"]\n{more}'
    )


EXECUTABLE, LIBRARY = sha("executable"), sha("library")


def capture(name: str, threads: str = "1", more: str = "", seen: str = "") -> str:
    """What a process of the stack `base` was."""
    return f"""\
hio: capture/v1
name: {name}
service: {SERVICE}
at: "2026-01-02T03:04:05Z"
by: hio
host: {{how: unknown}}
processes:
  server:
    pid: 7
    family: llama-server
    build: b1
    started: {{how: proc}}
    executable: {{path: /opt/engine/llama-server, sha256: "{EXECUTABLE}", how: hash}}
    libraries:
      libggml.so: {{path: /opt/engine/libggml.so, sha256: "{LIBRARY}", how: hash}}
    argv:
      how: proc
      value:
        - [/opt/engine/llama-server]
        - ["--threads", "{threads}"]
        - ["--port", "8080"]
{more}\
    environ: {{how: proc}}
    threads: {{how: unknown}}
    memory: {{how: unknown}}
{seen}"""


def matrix(candidate: str = "two", disposition: str = "retest", to: str = "2", more: str = "") -> str:
    """The matrix base -> candidate."""
    return (
        f"hio: matrix/v1\nname: base-to-{candidate}\nservice: {SERVICE}\nparent: base\ncandidate: {candidate}\nrows:\n"
        f'  - {{factor: server.threads, from: "1", to: "{to}", disposition: {disposition}}}\n{more}'
    )


def baseline(id_: str = "b0", pinned: str = "") -> str:
    """The first entry of a ledger."""
    return (
        f"hio: entry/v1\nid: {id_}\nservice: {SERVICE}\nafter: []\nkind: baseline\nby: someone\n"
        f'at: "2026-01-01T00:00:00Z"\npins: {{stack: "{pinned or pin("base", stack("base"))}"}}\n'
    )


ENGINE = (
    "hio: engine/v1\nname: b1\nfamily: llama-server\n"
    f'help: {{file: help.txt, sha256: "{sha(HELP)}"}}\nsource: {{revision: b1}}\n'
)
ROWS = "arm\tspeed\none\t10\none\t12\ntwo\t20\ntwo\t24\n"
RUN = f"""\
hio: run/v1
name: r1
service: {SERVICE}
arms:
  one: {{stack: "{pin("base", stack("base"))}"}}
  two: {{stack: "{pin("base", stack("base"))}", set: {{server.threads: 2}}}}
raw: {{file: rows.tsv, sha256: "{sha(ROWS)}", format: tsv, rows: 4, arm: arm}}
columns:
  arm: {{unit: text}}
  speed: {{unit: token/s, better: higher}}
"""

FILES: dict[str, str] = {
    "manifests/engines/llama-server/b1/engine.yaml": ENGINE,
    "manifests/engines/llama-server/b1/help.txt": HELP,
    "manifests/sites/lab.yaml": "hio: site/v1\nname: lab\n",
    f"{ROOM}/stacks/base.yaml": stack("base"),
    f"{ROOM}/stacks/two.yaml": stack("two", 2),
    f"{ROOM}/runs/r1/run.yaml": RUN,
    f"{ROOM}/runs/r1/rows.tsv": ROWS,
    f"matrix/{SERVICE}/base-to-two.yaml": matrix(),
    f"ledger/{SERVICE}/2026/b0.yaml": baseline(),
}
"""A repository that hio finds nothing wrong with; a retest row and sides nobody captured are its gates."""

MATRIX = f"matrix/{SERVICE}/base-to-two.yaml"
ENTRY = f"ledger/{SERVICE}/2026/b0.yaml"
BASE = f"{ROOM}/stacks/base.yaml"
TWO = f"{ROOM}/stacks/two.yaml"


def write(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """Put files into a folder."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """The standard output of one git command."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def committed(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """A git repository with these files in its first commit."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "documents")
    return root
