"""local: what hio's own backend installs and starts a service from: launch.json, and its environment for a reader."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import shell
from hio_validate.render.launch import Launch
from hio_validate.render.reading import refuse_difference
from hio_validate.render.target import Asked, Draft, Target, below, nothing_more

LAUNCH, ENVIRONMENT = "launch.json", "environment"


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    launch.secret_files()
    return tuple(
        Draft(name, f"local/{name}.j2", 0o600, below(asked.root, name)) for name in (LAUNCH, ENVIRONMENT)
    )


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    _refuse_other_launch(texts[LAUNCH], launch)
    said, who = shell.variables(texts[ENVIRONMENT], ENVIRONMENT)
    refuse_difference(ENVIRONMENT, said, launch.plain)
    return {LAUNCH: "the JSON reader of Python, by which hio starts it", ENVIRONMENT: who}


def _refuse_other_launch(text: str, launch: Launch) -> None:
    try:
        said = json.loads(text)
    except ValueError as error:
        raise CannotRender(f"{LAUNCH} is no JSON: {error}") from None
    meant = {
        "service": launch.service,
        "program": launch.command.program,
        "arguments": list(launch.command.arguments),
        "environment": dict(launch.command.environment),
        "folder": launch.command.folder,
        "secrets": dict(launch.secrets),
        "limits": dict(launch.place.limits),
        "ready": {"url": launch.ready.url, "within_s": launch.ready.within_s},
    }
    other = [key for key, value in meant.items() if not isinstance(said, dict) or said.get(key) != value]
    if other:
        raise CannotRender(f"{LAUNCH} says another {', '.join(other)} than the stack {launch.stack.name}")


TARGET = Target(_drafts, nothing_more, _read_back)
