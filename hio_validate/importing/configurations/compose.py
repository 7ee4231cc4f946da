"""A docker compose file: one draft for each service that starts an engine (compose-spec: command, entrypoint, env)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.command import engine_in, engine_of, launched, unpack
from hio_validate.importing.configurations.environment import variables
from hio_validate.importing.configurations.found import Found, Source, Started, quoted
from hio_validate.importing.configurations.words import Unclosed, split
from hio_validate.source.foreign import Node

_INTERPOLATED = re.compile(r"\$\$|\$\{[^}\n]{0,1000}\}|\$[A-Za-z_]\w*")


def is_compose(document: Node) -> bool:
    """Whether a document has services that are images, builds or commands."""
    services = document.get("services")
    kinds = ("image", "command", "entrypoint", "build", "extends")
    return services is not None and any(
        service.get(kind) is not None for _, service in services.pairs() for kind in kinds
    )


def read(source: Source, document: Node) -> Iterator[Found]:
    """Every service that starts an engine; the others are not told, since a compose file has many. Raises CannotImport."""
    services = document.get("services")
    for name, service in services.pairs() if services else ():
        found = Found(name, source.file, service.line)
        started = _started(source, name, service, found)
        unpack(started, found, service.line)
        launched(started, found, service.line)
        if engine_of(started) or (started.launcher and engine_in(started.image)):
            found.processes["server"] = started
            yield found


def _started(source: Source, name: str, service: Node, found: Found) -> Started:
    image = service.get("image")
    started = Started(image=_value(image, found) if image else None)
    started.by_entry_point = service.get("entrypoint") is None
    for key in ("entrypoint", "command"):
        node = service.get(key)
        started.words += _words(source, node, found, f"{key} of {name}") if node else []
    for node in _files(service):
        started.env |= _of_file(source, node, found)
    env = service.get("environment")
    for variable, value, line in _environment(env) if env else ():
        if value is None or value.text is None:
            found.leave_open(
                line, f"{quoted(variable)} is passed on from whoever runs docker compose: unknown"
            )
        else:
            started.env[variable] = _value(value, found)
    if service.get("extends") is not None:
        found.leave_open(service.line, "extends: another service adds to this one and is not read")
    return started


def _words(source: Source, node: Node, found: Found, what: str) -> list[str]:
    if node.items is not None:
        return [_value(each, found) for each in node.words()]
    if node.text is None:
        return []
    try:
        return [_plain(word.text, found, word.line) for word in split(node.text, shell=False, line=node.line)]
    except Unclosed as error:
        raise CannotImport(source.file, node.line, f"{what}: {error}", "close it") from None


def _value(node: Node, found: Found) -> str:
    return _plain(node.text or "", found, node.line)


def _plain(text: str, found: Found, line: int) -> str:
    """`$$` is a dollar sign; what compose fills in from its own environment stays as written."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        found.leave_open(line, f"{match[0]} is filled in by docker compose: left as written")
        return match[0]

    return _INTERPOLATED.sub(value, text)


def _environment(env: Node) -> Iterator[tuple[str, Node | None, int]]:
    """Variables of a mapping, or of a list of NAME=value, with their lines."""
    for variable, value in env.pairs():
        yield variable, value, value.line
    for each in env.words():
        name, equals, text = (each.text or "").partition("=")
        yield name, Node(each.line, text=text) if equals else None, each.line


def _files(service: Node) -> Iterator[Node]:
    files = service.get("env_file")
    for each in (files.items or (files,)) if files else ():
        path = each.get("path") or each
        if path.text is not None:
            yield path


def _of_file(source: Source, node: Node, found: Found) -> dict[str, str]:
    name = node.text or ""
    raw = source.beside(name)
    if raw is None:
        found.leave_open(node.line, f"the environment file {name} is not here: its settings are unknown")
        return {}
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        found.leave_open(node.line, f"the environment file {name} is not UTF-8: its settings are unknown")
        return {}
    inner = Found(found.name, name, 1)
    env = variables(text, name, inner)
    found.open += inner.open
    return env
