"""compose: one service in the network of its host, so that it listens where its site says; its image by digest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import compose
from hio_validate.render.launch import Launch
from hio_validate.render.limits import limits_of, plain
from hio_validate.render.options import IMAGE, image_of, options_of
from hio_validate.render.target import Asked, Draft, Target, below

FILE = "compose.yaml"
_LIMITS = {
    "memory_max": "mem_limit",
    "tasks_max": "pids_limit",
    "cpus": "cpus",
    "stop_s": "stop_grace_period",
}


def _image(launch: Launch) -> str:
    return image_of(launch, "compose", options_of(launch, "compose", {"image": IMAGE}))


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    _image(launch)
    return (Draft(FILE, f"compose/{FILE}.j2", 0o644, below(asked.root, FILE)),)


def _words(launch: Launch) -> list[str]:
    return launch.words({name: f"/run/secrets/{name}" for name in launch.secrets})


def _limits(launch: Launch) -> dict[str, str]:
    found = limits_of(launch.place, "compose", _LIMITS)
    return {_LIMITS[name]: plain(value) + ("s" if name == "stop_s" else "") for name, value in found.items()}


def _context(launch: Launch, asked: Asked) -> dict[str, Any]:
    return {
        "image": _image(launch),
        "words": _words(launch),
        "mounts": launch.mounts,
        "secret_files": launch.secret_files(),
        "container_limits": _limits(launch),
    }


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    said, who = compose.service(texts[FILE], FILE, launch.model_name)
    words = _words(launch)
    meant = {
        "image": _image(launch),
        "network_mode": "host",
        "entrypoint": words[:1],
        "command": words[1:],
        "environment": launch.said,
        "working_dir": launch.command.folder,
    }
    other = [key for key, value in meant.items() if (said.get(key) or {}) != (value or {})]
    if sorted(map(_mount, said.get("volumes") or [])) != [f"{path}:{path}:ro" for path in launch.mounts]:
        other.append("volumes")
    if {_source(each) for each in said.get("secrets") or []} != set(launch.secrets):
        other.append("secrets")
    unknown = said.keys() - {*meant, *_limits(launch), "volumes", "secrets", "restart"}
    if other or unknown:
        raise CannotRender(
            f"{FILE}: its consumer reads {', '.join([*other, *sorted(unknown)])} otherwise than the stack says it"
        )
    return {FILE: who}


def _mount(volume: Any) -> str:
    """A volume in its short form."""
    if isinstance(volume, dict):
        return f"{volume.get('source')}:{volume.get('target')}:{'ro' if volume.get('read_only') else 'rw'}"
    return str(volume)


def _source(secret: Any) -> str:
    return str(secret.get("source") if isinstance(secret, dict) else secret)


TARGET = Target(_drafts, _context, _read_back)
