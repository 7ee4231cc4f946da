"""llama-swap: the entry of one model, whose cmd is one text that llama-swap takes apart itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import yaml11
from hio_validate.render.launch import Launch
from hio_validate.render.limits import limits_of
from hio_validate.render.target import Asked, Draft, Target, below

FILE = "llama-swap.yaml"
NAME = f"hio's own reader of llama-swap's models (its cmd: shlex of Python), on {yaml11.NAME}"


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    limits_of(launch.place, "llama-swap", {})
    return (Draft(FILE, f"llama-swap/{FILE}.j2", 0o644, below(asked.root, FILE)),)


def _words(launch: Launch) -> list[str]:
    return launch.words(launch.secret_files())


def _context(launch: Launch, asked: Asked) -> dict[str, Any]:
    return {"words": _words(launch), "proxy": f"http://{launch.ready.host}:{launch.ready.port}"}


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    said = yaml11.read(texts[FILE], FILE)
    model = (said.get("models") or {}).get(launch.model_name) if isinstance(said, dict) else None
    if not isinstance(model, dict) or said.keys() != {"models"} or len(said["models"]) != 1:
        raise CannotRender(f"{FILE} has other entries than the model {launch.model_name}")
    meant = {
        "cmd": _words(launch),
        "env": [f"{name}={value}" for name, value in launch.said.items()],
        "proxy": f"http://{launch.ready.host}:{launch.ready.port}",
        "checkEndpoint": launch.ready.path,
    }
    read = {**model, "cmd": _split(str(model.get("cmd"))), "env": model.get("env") or []}
    other = [key for key in {**meant, **read} if read.get(key) != meant.get(key)]
    if other or "${" in texts[FILE]:
        raise CannotRender(
            f"{FILE}: its consumer reads {', '.join(other) or 'a macro'} otherwise than the stack says it"
        )
    return {FILE: NAME}


def _split(cmd: str) -> list[str]:
    """The words of a cmd; a line feed would make lines that begin with # or end in a backslash special."""
    if "\n" in cmd:
        raise CannotRender(f"{FILE}: cmd has several lines")
    try:
        return shlex.split(cmd)
    except ValueError as error:
        raise CannotRender(f"{FILE}: cmd cannot be split into words: {error}") from None


TARGET = Target(_drafts, _context, _read_back)
