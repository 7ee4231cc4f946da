"""docker run --env-file, by our own reader of what opts/file.go of docker/cli does: docker itself would need a daemon."""

from __future__ import annotations

from hio_validate.render.bundle import CannotRender

NAME = "hio's own reader of docker's --env-file (docker/cli opts/file.go)"


def env_file(text: str, file: str) -> dict[str, str]:
    """The variables of a file. Raises CannotRender for a line that docker refuses or takes from its own environment."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        line = line.removesuffix("\r").lstrip(" \t")
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name or any(char.isspace() for char in name):
            raise CannotRender(f"{file}:{number}: docker reads no NAME=value here")
        found[name] = value
    return found
