"""What a file of others is: results of a known format first, then a configuration, told by its content and never its name."""

from __future__ import annotations

import re
from typing import NamedTuple

from hio_validate.importing.cannot import CannotImport, Unrecognised
from hio_validate.importing.configurations.found import Found
from hio_validate.importing.configurations.recognise import EXPECTED, read
from hio_validate.importing.results.nearly import refusal
from hio_validate.importing.results.reading import Reading, reading
from hio_validate.importing.results.recognise import IMPORTERS
from hio_validate.importing.results.source import Source

_LINES = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\{")
"""Two objects, a line each: no configuration is written so."""
_PAGE = re.compile(r"^[ >\t|:]*-{2,}:?[ \t]*\|", re.MULTILINE)
"""The rule below the head of a table in Markdown; YAML, units and command lines have none."""


class Configuration(NamedTuple):
    """A file that starts engines."""

    drafts: list[Found]


def recognised(source: Source) -> Reading | Configuration:
    """What a file is. Raises CannotImport; where it is neither, the sentence names both worlds."""
    found = reading(source)
    if found is not None:
        return found
    if nearly := refusal(source):
        raise nearly
    try:
        return Configuration(read(source.path, source.file))
    except CannotImport as error:
        if _LINES.match(source.head):
            lines = Unrecognised(
                source.file, 0, "its JSON lines have the keys of no tool that it knows", "", 3
            )
            raise _neither(source, lines) from None
        if isinstance(error, Unrecognised) or source.head.lstrip()[:1] in ("{", "["):
            raise _neither(source, error) from None
        if _PAGE.search(source.head):
            page = Unrecognised(source.file, 0, "its tables in Markdown have other columns", "", 3)
            raise _neither(source, page) from None
        raise


def _neither(source: Source, error: CannotImport) -> CannotImport:
    formats = ", ".join(importer.format for importer in IMPORTERS)
    return CannotImport(
        source.file,
        error.line,
        f"no results that hio knows, and no configuration: {error.message}",
        f"expected results ({formats}) or {EXPECTED}",
        error.code,
    )
