"""A small repository with one planned experiment: two arms of one stack, a fixture, a site, the approvals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hio_validate.execute.prepare import prepare
from hio_validate.execute.work import Work
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.small_repo import HELP, pin, sha, write

SERVICE = "here/tiny"
ROOM = f"manifests/services/{SERVICE}"
NOW = "2026-11-29T12:00:00Z"
JOB = "threads-1"
PLAN_FILE = f"{ROOM}/plans/threads.yaml"
SITE_FILE = "manifests/sites/here.yaml"
APPROVAL_FILE = f"ledger/{SERVICE}/2026/yes.yaml"


def yaml(data: dict[str, Any]) -> str:
    """A document as YAML; JSON is YAML."""
    return "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in data.items())


def stack(name: str = "base", more: list[list[str]] | None = None, **process: Any) -> dict[str, Any]:
    """A stack of one process of the build b1."""
    argv = [
        ["--model", "${model}"],
        ["--host", "${host}"],
        ["--port", "${port}"],
        ["--threads", "1"],
        *(more or []),
    ]
    server = {"engine": "llama-server", "build": "b1", "argv": argv, **process}
    return {"hio": "stack/v1", "name": name, "processes": {"server": server}}


def site(program: str = "/bin/true", **more: Any) -> dict[str, Any]:
    """A site where the build b1 is a program that exists."""
    place = {
        "host": "127.0.0.1",
        "port": 8089,
        "paths": {"model": "/bin/sh"},
        **more.pop("place", {}),
    }
    said = {"hio": "site/v1", "name": "here", "services": {"tiny": place}, "programs": {"b1": program}}
    return {**said, **more}


CHAIN: dict[str, Any] = {
    "temperature": 0.0, "top_k": "model", "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0,
    "presence_penalty": 0.0, "frequency_penalty": 0.0, "dry_multiplier": 0.0, "xtc_probability": 0.0,
    "dynatemp_range": 0.0,
}  # fmt: skip
"""A complete sampling chain, in which the model decides one setting."""


def fixture(name: str = "tides", **more: Any) -> dict[str, Any]:
    """A fixture that asks for eight tokens."""
    said = {"hio": "fixture/v1", "name": name, "prompt": "Why has the sea tides?", "max_tokens": 8, "ignore_eos": True,
            "seed": 1, "sampling": CHAIN}  # fmt: skip
    return {**said, **more}


def plan(**more: Any) -> dict[str, Any]:
    """Two legs of two arms that differ in the threads."""
    said: dict[str, Any] = {
        "hio": "plan/v1",
        "name": "threads",
        "service": SERVICE,
        "question": "do two threads decode faster than one on this host?",
        "stage": "screening",
        "hypothesis": {"claim": "two threads decode 50 % faster", "operation": "matrix times vector of each layer",
                       "mechanism": "its rows are shared among the threads"},
        "baseline": "one",
        "arms": {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"server.threads": 2}}},
        "factors": ["server.threads"],
        "order": ["one", "two", "two", "one"],
        "fixture": "tides",
        "requests": {"warm_up": 1, "measured": 2},
        "same_work": {"content": "any"},
        "decide": {"metric": "decode_tps", "better": "higher", "at_least_percent": 5.0, "test": "permutation",
                   "alpha": 0.05},
        "limits": {"memory": "4GiB", "available": "1GiB", "start_s": 60.0, "leg_s": 120.0, "total_s": 900.0},
        "abort_owner": "the owner of this host",
        "serving": {"during": "none"},
        "known_failures": ["none is known"],
        "untested": ["long prompts"],
    }  # fmt: skip
    return {**said, **more}


def approval(**more: Any) -> dict[str, Any]:
    """An approval of load tests that follows the baseline."""
    said = {"hio": "entry/v1", "id": "yes", "service": SERVICE, "after": [pin("b0", yaml(baseline()))],
            "kind": "approval", "by": "owner", "at": "2026-11-29T00:00:00Z", "approves": "load-test",
            "services": [SERVICE], "owners": ["owner"], "scope": "load tests on this host",
            "until": "2099-01-01T00:00:00Z"}  # fmt: skip
    return {**said, **more}


def baseline(of: dict[str, Any] | None = None) -> dict[str, Any]:
    """The first entry of the ledger."""
    return {"hio": "entry/v1", "id": "b0", "service": SERVICE, "after": [], "kind": "baseline", "by": "owner",
            "at": "2026-11-28T00:00:00Z", "pins": {"stack": pin("base", yaml(of or stack()))}}  # fmt: skip


def documents() -> dict[str, str]:
    """File -> text of the whole repository."""
    engine = {"hio": "engine/v1", "name": "b1", "family": "llama-server", "source": {"revision": "b1"},
              "help": {"file": "help.txt", "sha256": sha(HELP)}}  # fmt: skip
    return {
        "manifests/engines/llama-server/b1/engine.yaml": yaml(engine),
        "manifests/engines/llama-server/b1/help.txt": HELP,
        SITE_FILE: yaml(site()),
        f"{ROOM}/stacks/base.yaml": yaml(stack()),
        f"{ROOM}/fixtures/tides.yaml": yaml(fixture()),
        PLAN_FILE: yaml(plan()),
        f"ledger/{SERVICE}/2026/b0.yaml": yaml(baseline()),
        APPROVAL_FILE: yaml(approval()),
    }


def prepared(
    root: Path, files: dict[str, str] | None = None, now: str = NOW, job: str = JOB
) -> Work | list[str]:
    """What comes of the plan `threads` in a repository of these files."""
    write(root, files or documents())
    view = View(load(Folder(root)))
    found = view.repo.find("plan/v1", "threads", SERVICE)
    assert found is not None and found.model is not None, found
    return prepare(view, found, root, job, now)
