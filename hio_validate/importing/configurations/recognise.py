"""Which format a file has, by what stands in it and never by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hio_validate.importing.cannot import CannotImport, Unrecognised
from hio_validate.importing.configurations import (
    argv,
    compose,
    environment,
    kubernetes,
    llama_swap,
    production_stack,
    roles,
    unit,
)
from hio_validate.importing.configurations.found import Found, Source
from hio_validate.importing.configurations.words import Unclosed
from hio_validate.source.characters import Unreadable, decode
from hio_validate.source.fault import Malformed
from hio_validate.source.foreign import Node, documents

LARGEST = 4 << 20
"""Bytes; the largest real configuration has a hundredth of it."""
_KEY = re.compile(r"""(?m)^(?:- )?["']?[A-Za-z_][\w./-]*["']?\s*:(?:\s|$)""")
EXPECTED = (
    "a systemd unit, docker compose, Kubernetes or Helm YAML, a llama-swap configuration, an environment file "
    "or a command line"
)


def read(path: Path, shown: str | None = None) -> list[Found]:
    """The drafts to be in a file. Raises CannotImport."""
    file = shown or path.name
    raw = _bytes(path, file)

    def beside(name: str) -> bytes | None:
        try:
            found = path.parent / name
            return found.read_bytes() if found.is_file() and found.stat().st_size <= LARGEST else None
        except (OSError, ValueError):
            return None

    source = Source(file, _text(raw, file), beside)
    try:
        drafts = list(_read(source, path))
    except Unclosed as error:
        raise CannotImport(file, error.line, str(error), "close it") from None
    if not drafts:
        raise Unrecognised(
            file,
            0,
            "nothing in it starts an engine that hio knows (llama-server, vllm, sglang)",
            f"expected {EXPECTED}",
            3,
        )
    return drafts


def _bytes(path: Path, file: str) -> bytes:
    try:
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no file" if path.exists() else "not there"
            raise CannotImport(file, 0, f"it is {what}", "name a configuration file", 3)
        with path.open("rb") as handle:
            raw = handle.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise CannotImport(
            file, 0, f"it cannot be read: {getattr(error, 'strerror', None) or error}", "", 3
        ) from None
    if len(raw) > LARGEST:
        raise Unrecognised(file, 0, f"it is larger than {LARGEST >> 20} MiB", "a configuration is smaller")
    return raw


def _text(raw: bytes, file: str) -> str:
    try:
        return decode(raw.replace(b"\r\n", b"\n"))
    except Unreadable as error:
        raise CannotImport(file, error.line, error.message, error.help) from None


def _read(source: Source, path: Path) -> Iterator[Found]:
    text = source.text
    if not text.strip():
        raise Unrecognised(source.file, 0, "the file is empty", f"expected {EXPECTED}")
    if unit.is_unit(text):
        return iter(unit.read(source, path))
    if environment.is_environment(text):
        return iter(environment.read(source))
    if argv.words_of_json(text) is not None:
        return iter(argv.read(source))
    if _KEY.search(text) is None and not text.lstrip().startswith("{"):
        return iter(argv.read(source))
    return _of_yaml(source)


def _of_yaml(source: Source) -> Iterator[Found]:
    try:
        stream = [each for each in documents(source.text) if each.entries or each.items]
    except Malformed as error:
        fault = error.fault
        help = fault.help or "correct the YAML"
        if "{{" in source.text:
            help = "this is a Helm template: import what `helm template` renders, or its values.yaml"
        raise CannotImport(source.file, fault.line, fault.message, help) from None
    if not any(each.entries for each in stream):
        raise Unrecognised(source.file, 1, "no configuration that hio can read", f"expected {EXPECTED}")
    pods = [each for each in stream if kubernetes.has_containers(each)]
    if pods:
        yield from kubernetes.read(source, stream)
    for document in stream:
        yield from _of_document(source, document)


def _of_document(source: Source, document: Node) -> Iterator[Found]:
    if llama_swap.is_llama_swap(document):
        yield from llama_swap.read(source, document)
    elif production_stack.is_production_stack(document):
        yield from production_stack.read(source, document)
    elif compose.is_compose(document):
        yield from compose.read(source, document)
    elif roles.is_recipe(document):
        yield from roles.read(source, document)
