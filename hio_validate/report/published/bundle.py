"""A report with everything that it rests on, as files of one folder (contract 10.6).

Invariant: hashes.txt names every other file of the folder, and `sha256sum -c hashes.txt` there checks all of them; what
is missing stands in it as comments, which sha256sum passes over.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from hio_validate.repo import Repo
from hio_validate.report.json_ import dump
from hio_validate.report.published.page import render
from hio_validate.report.visible import visible

HASHES = "hashes.txt"
EVIDENCE = "evidence"
"""Folder of the bundle that repeats the repository's paths."""


def files(shape: dict[str, Any], repo: Repo) -> Iterator[tuple[str, bytes]]:
    """(path in the bundle, bytes) of every file, hashes.txt last: a folder without it was not written to its end."""
    hashes = []
    for name, content in _contents(shape, repo):
        hashes.append(_line(sha256(content).hexdigest(), name))
        yield name, content
    missing = [
        f"# missing: {visible(each['what'])}: {visible(each['sentence'])}" for each in shape["missing"]
    ]
    gaps = [f"# gap: {visible(each['id'])}: {visible(each['sentence'])}" for each in shape["gaps"]]
    yield HASHES, ("\n".join([*missing, *gaps, *sorted(hashes, key=_name)]) + "\n").encode()


def _contents(shape: dict[str, Any], repo: Repo) -> Iterator[tuple[str, bytes]]:
    yield "report.md", render(shape).encode()
    yield "report.json", dump(shape).encode()
    for each in shape["rests_on"]:
        content = repo.bytes_of(each["file"])
        if content is not None:
            yield f"{EVIDENCE}/{each['file']}", content


def _line(digest: str, name: str) -> str:
    """A line as sha256sum writes it: a name with a backslash or a line's end is escaped, and the line says so."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{chr(92) if escaped != name else ''}{digest}  {escaped}"


def _name(line: str) -> str:
    return line.partition("  ")[2]
