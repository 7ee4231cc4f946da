"""local: what hio's own backend installs and starts a service from: launch.json, and its environment for a reader."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hio_validate import launch_file
from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import shell
from hio_validate.render.launch import Launch
from hio_validate.render.reading import refuse_difference
from hio_validate.render.target import Asked, Draft, Target, below, nothing_more

LAUNCH, ENVIRONMENT = launch_file.NAME, "environment"


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    launch.secret_files()
    return tuple(
        Draft(name, f"local/{name}.j2", 0o600, below(asked.root, name)) for name in (LAUNCH, ENVIRONMENT)
    )


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    _refuse_other_launch(texts[LAUNCH], launch)
    said, who = shell.variables(texts[ENVIRONMENT], ENVIRONMENT)
    refuse_difference(ENVIRONMENT, said, launch.plain)
    return {LAUNCH: "hio's own reader of launch.json, by which hio starts it", ENVIRONMENT: who}


def _refuse_other_launch(text: str, launch: Launch) -> None:
    try:
        started = launch_file.read(text.encode(), LAUNCH)
    except launch_file.Unlaunchable as error:
        raise CannotRender(str(error)) from None
    said = json.loads(text)
    meant = {
        "service": launch.service,
        "limits": dict(launch.place.limits),
        "ready": {"url": launch.ready.url, "within_s": launch.ready.within_s},
    }
    other = [key for key, value in meant.items() if said.get(key) != value]
    if started.command != launch.command:
        other.append("command")
    if started.secrets != launch.secrets:
        other.append("secrets")
    if other:
        raise CannotRender(f"{LAUNCH} says another {', '.join(other)} than the stack {launch.stack.name}")


TARGET = Target(_drafts, nothing_more, _read_back)
