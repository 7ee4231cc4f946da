"""A llama-swap configuration: one draft for each of its models.

Macros are put in as llama-swap does it (internal/config/load.go): the last one first, a model's own in the place of a
global one of that name. `${PORT}` is given out at run time and belongs to a place; `${env.NAME}` is whatever the host has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.command import unpack
from hio_validate.importing.configurations.found import Found, Source, Started, quoted
from hio_validate.importing.configurations.words import Unclosed, split
from hio_validate.source.foreign import Node

_MACRO = re.compile(r"\$\{(env\.)?([A-Za-z0-9_.-]+)\}")
_LARGEST = 1 << 18
"""Characters of a command; macros that hold macros double it with every line."""


def is_llama_swap(document: Node) -> bool:
    """Whether a document has models with commands."""
    models = document.get("models")
    return models is not None and any(model.get("cmd") is not None for _, model in models.pairs())


def read(source: Source, document: Node) -> Iterator[Found]:
    """Every model of a configuration. Raises CannotImport."""
    shared = _macros(document)
    models = document.get("models")
    for name, model in models.pairs() if models else ():
        yield _model(source, name, model, shared)


def _macros(node: Node) -> dict[str, str]:
    macros = node.get("macros")
    return {name: value.text for name, value in (macros.pairs() if macros else ()) if value.text is not None}


def _model(source: Source, name: str, model: Node, shared: dict[str, str]) -> Found:
    found = Found(name, source.file, model.line)
    cmd = model.get("cmd")
    if cmd is None or cmd.text is None:
        raise CannotImport(
            source.file, model.line, f"the model {name} has no cmd", "give the command that starts it"
        )
    macros = {"MODEL_ID": name, **shared}
    macros |= _macros(model)
    text = _filled(_without_comments(cmd.text), macros, source, cmd)
    try:
        words = [word.text for word in split(_continued(text), shell=False, line=cmd.line)]
    except Unclosed as error:
        raise CannotImport(source.file, cmd.line, f"cmd of {name}: {error}", "close it") from None
    if not words:
        raise CannotImport(source.file, cmd.line, f"the cmd of the model {name} is empty", "give the command")
    started = Started(words=words)
    _environment(model, started, found, macros, source)
    _leave_open(words, started, found, cmd.line)
    unpack(started, found, cmd.line)
    found.processes["server"] = started
    return found


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))


def _continued(text: str) -> str:
    """Line ends, with or without a backslash, are blanks."""
    return "\n".join(
        line.rstrip()[:-1] if line.rstrip().endswith("\\") else line for line in text.split("\n")
    )


def _filled(text: str, macros: dict[str, str], source: Source, at: Node) -> str:
    for name, value in reversed(macros.items()):
        text = text.replace(f"${{{name}}}", value)
        if len(text) > _LARGEST:
            raise CannotImport(
                source.file,
                at.line,
                f"the macros make more than {_LARGEST:,} characters",
                "write fewer macros in macros",
            )
    return text.replace("${PORT}", "${port}")


def _environment(model: Node, started: Started, found: Found, macros: dict[str, str], source: Source) -> None:
    env = model.get("env")
    for each in env.words() if env else ():
        name, equals, value = _filled(each.text or "", macros, source, each).partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
            started.env[name] = value
        else:
            found.leave_open(each.line, f"{quoted(name)} is no NAME=value")


def _leave_open(words: list[str], started: Started, found: Found, line: int) -> None:
    for text in [*words, *started.env.values()]:
        for of_host, name in _MACRO.findall(text):
            if of_host:
                found.leave_open(
                    line, f"${{env.{name}}} is the environment of llama-swap itself: left as written"
                )
            elif name != "port":
                found.leave_open(line, f"the macro ${{{name}}} is defined nowhere: left as written")
    if any("${port}" in word for word in words):
        found.leave_open(
            line, "llama-swap gives the port out at run time (startPort): the site says which one"
        )
