"""Reads an environment file as systemd does (src/basic/env-file.c): comments, quotes, continuations.

Invariant: nothing is expanded; a `$` stays a `$`.
"""

from __future__ import annotations

import re
from pathlib import Path

from hio_validate.observe.refusal import Unobservable

_LARGEST_BYTES = 1 << 20


def text_of(file: Path) -> str:
    """The text of a unit or environment file. Raises Unobservable for what can be neither."""
    try:
        with file.open("rb") as handle:
            raw = handle.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise Unobservable(f"{file}: cannot be read: {error.strerror}") from None
    if len(raw) > _LARGEST_BYTES:
        raise Unobservable(f"{file}: larger than {_LARGEST_BYTES >> 20} MiB: no unit or environment file")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unobservable(f"{file}: not UTF-8 at byte {error.start}") from None
    if "\0" in text:
        raise Unobservable(f"{file}: holds a NUL byte: no unit or environment file")
    return text.removeprefix("\ufeff")


def environment_file(text: str, file: str, unresolved: list[str]) -> dict[str, str]:
    """NAME=value lines as systemd reads them: comments, quotes, continuations; later ones win."""
    env: dict[str, str] = {}
    at, counted, line = 0, 0, 1
    while at < len(text):
        line, counted = line + text.count("\n", counted, at), at
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        head = text[at:end].lstrip()
        if not head or head[0] in "#;":
            at = end + 1
            continue
        name, equals, _ = text[at:end].partition("=")
        if not equals:
            unresolved.append(f"{file}:{line}: systemd ignores this line: it has no '='")
            at = end + 1
            continue
        value, at = _file_value(text, at + len(name) + 1)
        if re.fullmatch(r"[A-Za-z_]\w*", name.strip()):
            env[name.strip()] = value
        else:
            unresolved.append(f"{file}:{line}: systemd ignores {name.strip()!r}: it is no variable's name")
    return env


def _file_value(text: str, at: int) -> tuple[str, int]:
    """The value that begins at `at` and where the next line begins (src/basic/env-file.c of systemd)."""
    value: list[str] = []
    quote, kept = "", 0
    begun = False
    while at < len(text):
        char = text[at]
        following = text[at + 1 : at + 2]
        at += 1
        if quote:
            if char == quote:
                quote, begun = "", False
            elif char == "\\" and quote == '"' and following:
                value.append(
                    "" if following == "\n" else following if following in '"\\`$' else "\\" + following
                )
                at += 1
            else:
                value.append(char)
            kept = len(value)
        elif char == "\n":
            break
        elif char == "\\" and following:
            value.append("" if following == "\n" else following)
            at, begun, kept = at + 1, True, len(value)
        elif char in "'\"" and not begun:
            quote = char
        elif char.isspace():
            value.append(char if begun else "")
        else:
            value.append(char)
            begun = True
            kept = len(value)
    return "".join(value[:kept]), at
