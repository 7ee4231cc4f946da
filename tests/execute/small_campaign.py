"""A repository with a campaign of two cells over tests/execute/llama_like.py: real processes, real requests."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.execute.experiment import ROOM, SERVICE, approval, baseline, fixture, pin, plan, yaml
from tests.execute.place import ENGINE, KNOWN, Place, place, stack_of
from tests.small_repo import sha, write

CAMPAIGN_FILE = f"{ROOM}/campaigns/threads.yaml"
REVISION = "4c3be2d0aa1d9f0f2ab56b7dcd4d1e1c8b4f5a67"


def identity() -> dict[str, Any]:
    """The bytes of the program that runs here: an interpreter and its C library."""
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    libraries = {
        Path(each).name: digest(Path(each)) for each in mapped if Path(each).name.startswith("libc.so")
    }
    return {"kind": "native", "executable": digest(Path(sys.executable).resolve()), "libraries": libraries}


def digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def cell_plan(name: str, threads: int, **more: Any) -> dict[str, Any]:
    """A plan of four short legs that changes the threads alone."""
    said = plan(
        name=name,
        question=f"do {threads} threads decode faster than one on this host?",
        arms={"one": {"stack": "base"}, name: {"stack": "base", "set": {"server.threads": threads}}},
        order=["one", name, name, "one"],
        requests={"warm_up": 0, "measured": 1},
        checks=["words"],
        decide={
            "metric": "tpot_ms",
            "better": "lower",
            "at_least_percent": 5.0,
            "test": "permutation",
            "alpha": 0.05,
        },
        limits={"memory": "4GiB", "available": "64MiB", "start_s": 300.0, "leg_s": 600.0, "total_s": 3000.0},
    )
    return {**said, **more}


def campaign(**more: Any) -> dict[str, Any]:
    """Two and four threads, with everything that a campaign needs."""
    said: dict[str, Any] = {
        "hio": "campaign/v1", "name": "threads", "service": SERVICE,
        "question": "which thread count suits decoding on this host?",
        "model": {"name": "tiny"},
        "engines": {"stock": {"family": "llama-server", "build": "b1", "revision": REVISION}},
        "target": {"hardware": "two cores without a device", "devices": 0, "scheduler": "host"},
        "deployment": {"stack": "base"},
        "workload": {"shapes": {"short": "tides"}, "loads": {"one": {"concurrency": 1}}, "warm_up": 0, "trials": 2},
        "focus": {"metric": "tpot_ms", "better": "lower", "accuracy": {"checks": ["words"]}},
        "baseline": {"stack": "base", "entry": "b0"},
        "cells": {name: {"plan": name, "engine": "stock", "regime": "short answers"} for name in ("two", "four")},
    }  # fmt: skip
    return {**said, **more}


def small_campaign(tmp_path: Path, document: dict[str, Any] | None = None, **plans: Any) -> Place:
    """The repository; `plans` changes both plans."""
    env = {"LLAMA_LIKE": "forgets"}  # a cold cache, whatever was asked before
    here = place(tmp_path, env=env)
    first = baseline(stack_of(env=env))
    engine = {"hio": "engine/v1", "name": "b1", "family": "llama-server", "source": {"revision": "b1"},
              "help": {"file": "help.txt", "sha256": sha(KNOWN)}, "identity": identity()}  # fmt: skip
    checked = fixture(
        "words", prompt="say the last word", expect={"source": "the engine repeats it", "contains": ["word"]}
    )
    write(here.root, {
        ENGINE: yaml(engine),
        CAMPAIGN_FILE: yaml(document or campaign()),
        f"{ROOM}/plans/two.yaml": yaml(cell_plan("two", 2, **plans)),
        f"{ROOM}/plans/four.yaml": yaml(cell_plan("four", 4, **plans)),
        f"{ROOM}/fixtures/words.yaml": yaml(checked),
        f"ledger/{SERVICE}/2026/yes.yaml": yaml(approval(after=[pin("b0", yaml(first))])),
    })  # fmt: skip
    return here
