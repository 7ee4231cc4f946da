"""Secrets in text, found by detect-secrets; the only importer of it.

Invariants: nothing leaves the machine (no verification of what was found); a missing scanner is told, never
skipped; a secret's value is never printed.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from hio_validate.checkpoint.plan import CannotTell, Refusal
from hio_validate.settings.secrets import WITHHELD, says_secret
from hio_validate.source import read

_NOT_ASKED = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"})
"""Every digest of a document is a string of high entropy, and a public address is no secret."""
_OF_THIS_FIELD = {
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "NVIDIA API key": re.compile(r"\bnvapi-[\w-]{40,}"),
}
"""What serving needs and detect-secrets 1.5 does not know."""
_READ_BY_KIND = frozenset(
    {".yaml", ".yml", ".json", ".ini", ".cfg", ".conf", ".properties", ".toml", ".py", ".sh", ".js", ".go"}
)
_HELP = (
    "take it out, and revoke it if it was ever shared; a document names a secret and never holds one. Where it is "
    "none, say so on its line: pragma: allowlist secret"
)


def scanner() -> str:
    """Name and version of what scans. Raises CannotTell where it is not installed."""
    try:
        # Only here: a third of a second, needed by no other verb.
        from detect_secrets.__version__ import VERSION
    except ImportError:
        raise CannotTell(
            "checkpoint scans for secrets with detect-secrets: pip install 'hio-validate[deliver]'"
        ) from None
    return f"detect-secrets {VERSION}"


def refusals(files: Sequence[tuple[str, bytes]]) -> list[Refusal]:
    """One refusal for each line that holds a secret."""
    found: dict[tuple[str, int], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path, bytes_ in files:
            raw = _as_utf8(bytes_)
            for line, what in (*_own(path, raw), *_scanned(folder, path, raw)):
                found.setdefault((path, line), what)
    return [
        Refusal(f"{path}:{line}", f"holds a secret ({what})", _HELP)
        for (path, line), what in sorted(found.items())
    ]


def _as_utf8(raw: bytes) -> bytes:
    """The same text as the scanner reads it: an editor's UTF-16 would hide what it says between zero bytes."""
    marks = {
        b"\xff\xfe\x00\x00": "utf-32",
        b"\x00\x00\xfe\xff": "utf-32",
        b"\xff\xfe": "utf-16",
        b"\xfe\xff": "utf-16",
    }
    encoding = next((name for mark, name in marks.items() if raw.startswith(mark)), None)
    return raw.decode(encoding, errors="replace").encode() if encoding else raw


def _own(path: str, raw: bytes) -> Iterator[tuple[int, str]]:
    lines = raw.decode(errors="replace").split("\n")
    allowed = {number for number, line in enumerate(lines, 1) if "pragma: allowlist secret" in line}
    for number, line in enumerate(lines, 1):
        if number not in allowed:
            yield from ((number, what) for what, pattern in _OF_THIS_FIELD.items() if pattern.search(line))
    document = read(raw, path) if path.endswith((".yaml", ".yml")) else None
    if document is not None and document.data is not None:
        for place, flag in _flags(document.data, ()):
            found_at = document.locate(place).line
            if found_at not in allowed:
                yield found_at, f"the value of {flag}"


def _flags(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where a list gives a flag that says it is secret a value of its own, as argv does."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flags(each, (*place, key))
    elif isinstance(value, list):
        match value:
            case [str(flag), str(given)] if (
                flag.startswith("-") and says_secret(flag.lstrip("-")) and _is_given(given)
            ):
                yield place, flag
            case _:
                for index, each in enumerate(value):
                    yield from _flags(each, (*place, index))
    elif isinstance(value, str) and value.startswith("-") and "=" in value:
        flag, _, given = value.partition("=")
        if says_secret(flag.lstrip("-")) and _is_given(given):
            yield place, flag


def _is_given(value: str) -> bool:
    return value not in ("", WITHHELD) and not value.startswith("$")


def _scanned(folder: str, path: str, raw: bytes) -> Iterator[tuple[int, str]]:
    # A third of a second, needed by no other verb.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import transient_settings

    ending = os.path.splitext(path)[1]
    # Undecodable bytes are replaced, or the scanner would pass over the whole file; its name tells it how to read.
    copy = os.path.join(folder, f"content{ending if ending in _READ_BY_KIND else ''}")
    with open(copy, "w", encoding="utf-8", newline="") as file:
        file.write(raw.decode(errors="replace"))
    known = {each.__name__ for each in get_mapping_from_secret_type_to_class().values()}
    with transient_settings({"plugins_used": [{"name": name} for name in sorted(known - _NOT_ASKED)]}):
        yield from ((found.line_number, found.type) for found in scan_file(copy))
