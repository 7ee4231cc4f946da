"""Compose files and their env files, read by docker-compose itself where it is installed (`docker-compose config`)."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs, yaml11

PROGRAM = "docker-compose"
OWN = "hio's own reader of compose (docker-compose is not installed)"
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)='((?:[^'\\]|\\'|\\(?!['\\]))*)'\n|#[^\n]*\n|\n")


def env_file(text: str, file: str) -> tuple[dict[str, str], str]:
    """The variables of an env file, and who read them. Raises CannotRender."""
    own = _env_file(text, file)
    if programs.path_of(PROGRAM) is None:
        return own, OWN
    service = {"services": {"it": {"image": "image", "env_file": file}}}
    said = _config({"compose.yaml": json.dumps(service), file: text})
    environment = said["services"]["it"].get("environment") or {}
    return {name: _undoubled(value) for name, value in environment.items()}, version()


def _env_file(text: str, file: str) -> dict[str, str]:
    """By our own reader, of the form in which compose 1 and 2 agree: NAME='...', in which \\' is a quote."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        if match is None:
            raise CannotRender(f"{file}:{text.count(chr(10), 0, at) + 1}: neither a comment nor NAME='...'")
        if match[1]:
            found[match[1]] = match[2].replace("\\'", "'")
        at = match.end()
    return found


def service(text: str, file: str, name: str) -> tuple[dict[str, Any], str]:
    """A service of a compose file with every `$$` taken for `$`, and who read it. Raises CannotRender."""
    own, who = yaml11.read(text, file), OWN
    if programs.path_of(PROGRAM) is not None:
        own, who = _config({"compose.yaml": text}), version()
    services = own.get("services") if isinstance(own, dict) else None
    if not isinstance(services, dict) or list(services) != [name]:
        raise CannotRender(f"{file}: its consumer finds other services than {name}")
    found: dict[str, Any] = _filled_in(services[name])
    return found, who


def version() -> str:
    return f"docker-compose {programs.version(PROGRAM, 'version', '--short')}"


def _config(files: dict[str, str]) -> Any:
    with tempfile.TemporaryDirectory(prefix="hio-compose-") as folder:
        for name, text in files.items():
            Path(folder, name).write_bytes(text.encode())
        words = [PROGRAM, "--project-directory", folder, "-f", f"{folder}/compose.yaml", "config"]
        said = programs.run(words, environment={"HOME": folder}, folder=folder)
        if said.returncode or said.stderr:
            told = said.stderr.decode(errors="replace").replace(folder, "").strip()
            raise CannotRender(f"docker-compose config says: {told[:500]}")
    return yaml11.read(said.stdout.decode(), "docker-compose config")


def _filled_in(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _filled_in(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each) for each in value]
    return _undoubled(value)


def _undoubled(value: Any) -> Any:
    """A text when compose has filled it in; nothing may be left to fill in."""
    if not isinstance(value, str):
        return value
    pieces = value.split("$$")
    if any("$" in piece for piece in pieces):
        raise CannotRender("a text has a $ that compose would fill in")
    return "$".join(pieces)
