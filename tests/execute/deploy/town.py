"""A small repository whose service is the small engine: a base, its candidates, and all that a deployment stands on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.execute.conftest import ENGINE
from tests.execute.deploy.receipt import receipt
from tests.small_repo import pin, sha, write

SERVICE = "here/small"
ROOM = f"manifests/services/{SERVICE}"
HELP = """\
----- common params -----

--port PORT                             port to listen (default: 8080)
--mode MODE                             what is peculiar about it (default: none)
"""
FAMILY = {
    "hio": "family/v1",
    "name": "small",
    "positional": "script",
    "classes": {"locator": ["script"], "endpoint": ["port"], "observability": ["mode"]},
}


def yaml(data: dict[str, Any]) -> str:
    """A document as YAML; JSON is YAML."""
    return "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in data.items())


def stack(name: str, mode: str | None = None) -> str:
    argv = [["${engine}"], ["--port", "${port}"], *([["--mode", mode]] if mode else [])]
    server = {"engine": "small", "build": "s1", "argv": argv}
    return yaml({"hio": "stack/v1", "name": name, "processes": {"server": server}})


def entry(id_: str, after: list[str], **more: Any) -> str:
    said = {
        "hio": "entry/v1",
        "id": id_,
        "service": SERVICE,
        "after": after,
        "by": "ana",
        "at": "2026-11-28T00:00:00Z",
    }
    return yaml({**said, **more})


def capture(name: str, mode: str | None = None) -> str:
    """What a process of a stack was, somewhere else."""
    program = {"path": "/opt/small/engine", "sha256": sha("engine"), "how": "hash"}
    argv = [["/opt/small/engine"], ["engine.py"], ["--port", "8080"], *([["--mode", mode]] if mode else [])]
    unknown = {"how": "unknown"}
    process = {
        "pid": 7, "family": "small", "build": "s1", "started": unknown, "executable": program,
        "argv": {"how": "proc", "value": argv}, "environ": unknown, "threads": unknown, "memory": unknown,
    }  # fmt: skip
    return yaml({
        "hio": "capture/v1", "name": f"{name}-seen", "service": SERVICE, "stack": name, "at": "2026-11-27T00:00:00Z",
        "by": "hio", "host": unknown, "processes": {"server": process},
    })  # fmt: skip


def matrix(parent: str, candidate: str) -> str:
    rows = [{"factor": "server.mode", "disposition": "changed", "from": "none", "to": candidate}]
    return yaml({
        "hio": "matrix/v1", "name": f"{parent}-to-{candidate}", "service": SERVICE, "parent": parent,
        "candidate": candidate, "captures": {"parent": f"{parent}-seen", "candidate": f"{candidate}-seen"}, "rows": [{"preserved": ["server.script", "server.port"]}, *rows],
    })  # fmt: skip


def qualification(name: str, text: str, healthy: bool = True) -> dict[str, str]:
    """File -> text of the receipt of a stack and of its rows."""
    return receipt(ROOM, SERVICE, pin(name, text), "s1", {"executable": "unknown"}, healthy)


def documents(port: int, candidates: tuple[str, ...] = ("quick",), **place: Any) -> dict[str, str]:
    """File -> text. The candidate `quick` has the mode quick, and so on."""
    base = stack("base")
    baseline = entry("b0", [], kind="baseline", pins={"stack": pin("base", base)})
    yes = entry(
        "yes", [pin("b0", baseline)], kind="approval", approves="deploy", services=[SERVICE], owners=["ana"],
        scope="deploy on this host", until="2099-01-01T00:00:00Z",
    )  # fmt: skip
    engine = {
        "hio": "engine/v1",
        "name": "s1",
        "family": "small",
        "help": {"file": "help.txt", "sha256": sha(HELP)},
    }
    where = {
        "host": "127.0.0.1",
        "port": port,
        "paths": {"engine": ENGINE},
        "limits": {"start_s": 300},
        **place,
    }
    site = {
        "hio": "site/v1",
        "name": "here",
        "services": {"small": where},
        "programs": {"s1": sys.executable},
    }
    made = {
        "manifests/engines/small/family.yaml": yaml(FAMILY),
        "manifests/engines/small/s1/engine.yaml": yaml(engine),
        "manifests/engines/small/s1/help.txt": HELP,
        "manifests/sites/here.yaml": yaml(site),
        f"{ROOM}/stacks/base.yaml": base,
        f"{ROOM}/captures/base-seen.yaml": capture("base"),
        **qualification("base", base),
        f"ledger/{SERVICE}/2026/b0.yaml": baseline,
        f"ledger/{SERVICE}/2026/yes.yaml": yes,
    }
    for name in candidates:
        text = stack(name, name)
        made |= {
            f"{ROOM}/stacks/{name}.yaml": text,
            f"{ROOM}/captures/{name}-seen.yaml": capture(name, name),
            **qualification(name, text),
            f"matrix/{SERVICE}/base-to-{name}.yaml": matrix("base", name),
        }
    return made


def build(root: Path, port: int, candidates: tuple[str, ...] = ("quick",), **place: Any) -> Path:
    """The repository as files."""
    write(root, documents(port, candidates, **place))
    return root
