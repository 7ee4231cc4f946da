"""slurm: a batch script with the whole environment of the process; nothing of whoever submits it gets in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import slurm
from hio_validate.render.launch import Launch
from hio_validate.render.limits import limits_of, plain
from hio_validate.render.options import options_of
from hio_validate.render.target import Asked, Draft, Target, below

FILE = "job.sbatch"
_WORD = re.compile(r"[A-Za-z0-9_.,:+-]+")
_OPTIONS = {"partition": _WORD, "account": _WORD, "qos": _WORD, "time": re.compile(r"[0-9:-]+"), "gres": _WORD,
            "nodelist": _WORD, "output": re.compile(r"(/[A-Za-z0-9_.,@%+-]+)+")}  # fmt: skip
_LIMITS = {"memory_max": "mem", "cpus": "cpus-per-task"}


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    launch.secret_files()
    return (Draft(FILE, f"slurm/{FILE}.j2", 0o755, below(asked.root, FILE)),)


def _directives(launch: Launch) -> dict[str, str]:
    limits = limits_of(launch.place, "slurm", _LIMITS)
    found = {"job-name": f"hio-{launch.model_name}", "nodes": "1", "ntasks": "1", "export": "NIL"}
    if "memory_max" in limits:
        found["mem"] = f"{int(-(-limits['memory_max'] // (1 << 20)))}M"
    if "cpus" in limits:
        found["cpus-per-task"] = plain(-(-limits["cpus"] // 1))
    return found | options_of(launch, "slurm", _OPTIONS)


def _words(launch: Launch) -> list[str]:
    return launch.words(launch.secret_files())


def _context(launch: Launch, asked: Asked) -> dict[str, Any]:
    directives = _directives(launch)
    return {
        "words": _words(launch),
        "directives": directives,
        "devices": slurm.DEVICES if "gres" in directives else "",
    }


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    said, who = slurm.script(texts[FILE], FILE)
    variables = [f"{name}={value}" for name, value in launch.plain.items()]
    other = [
        what
        for what, read, meant in (
            ("directives", said.directives, _directives(launch)),
            ("folder", said.folder, launch.command.folder),
            ("command", said.words, [*slurm.BEGIN, *variables, *_words(launch)]),
            ("devices", said.hands_on_devices, "gres" in _directives(launch)),
        )
        if read != meant
    ]
    if other:
        raise CannotRender(f"{FILE}: its reader finds {', '.join(other)} otherwise than the stack says it")
    return {FILE: who}


TARGET = Target(_drafts, _context, _read_back)
