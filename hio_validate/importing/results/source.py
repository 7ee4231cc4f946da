"""A result file on its way in: its first bytes to recognise it by, its lines as a stream, its JSON read strictly.

Invariants: JSON that says a key twice is refused; integers are exact; NaN and Infinity stay what they are, so that each
importer decides where they are allowed; memory is bounded by one line, or by WHOLE for what has to be read as one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.credentials_seen import without_credentials
from hio_validate.importing.results.wide_text import utf8, wide_encoding
from hio_validate.source.strict_json import Twice, strict_json

HEAD = 64 << 10
"""Bytes that a format is recognised by."""
WHOLE = 128 << 20
"""Most bytes of a file that has to be read as one, such as a JSON object; lines have no such end."""
LONGEST = 32 << 20
"""Most bytes of one line."""


class Source:
    """One file. `told` is called with the bytes that were read so far, for whoever waits.

    `skip_log_lines`: whether whoever imports it asked that lines which are no data be left out; an importer that does so
    tells it as a finding, with the first line and how many.
    """

    def __init__(
        self,
        path: Path,
        shown: str | None = None,
        told: Callable[[int], None] | None = None,
        skip_log_lines: bool = False,
    ) -> None:
        self.path, self.file, self.told = path, shown or path.name, told
        self.skip_log_lines = skip_log_lines

    def refuse(self, message: str, help: str = "", line: int = 0, code: int = 1) -> CannotImport:
        """The exception to raise for this file; what its sentence quotes is shown without credentials."""
        return CannotImport(self.file, line, without_credentials(message), help, code)

    def open(self) -> IO[bytes]:
        """Its bytes as UTF-8, whatever its byte order mark says. Raises CannotImport."""
        try:
            if not self.path.is_file():
                what = "a folder" if self.path.is_dir() else "no file" if self.path.exists() else "not there"
                raise self.refuse(f"it is {what}", "name a file", code=3)
            return utf8(self.path.open("rb"))
        except (OSError, ValueError) as error:
            raise self.refuse(
                f"it cannot be read: {getattr(error, 'strerror', None) or error}", code=3
            ) from None

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        with self.open():
            return self.path.stat().st_size

    @cached_property
    def first(self) -> bytes:
        """Its first bytes, as they are."""
        with self.open() as handle:
            return handle.read(16)

    @cached_property
    def head(self) -> str:
        """The first HEAD bytes as text, for recognising; what is no UTF-8 is replaced."""
        with self.open() as handle:
            return handle.read(HEAD).decode("utf-8", "replace").removeprefix("\ufeff")

    @cached_property
    def is_wide(self) -> bool:
        """Whether it is UTF-16, by its byte order mark."""
        with self.path.open("rb") as handle:
            return wide_encoding(handle.read(4)) is not None

    def tail(self, count: int) -> str:
        """About the last `count` bytes as text; what is no text is replaced. Raises OSError."""
        with self.path.open("rb") as handle:
            encoding = wide_encoding(handle.read(4)) or "utf-8"
            handle.seek(max(self.size - 2 * count, 0) // 2 * 2 if self.is_wide else max(self.size - count, 0))
            return handle.read().decode(encoding, "replace")

    def lines(self, replaced: bool = False) -> Iterator[tuple[int, str]]:
        """(number from 1, text without its end) of every line that is not blank. Raises CannotImport.

        `replaced`: what is no UTF-8 is replaced, as for logs that print halves of characters; otherwise it is refused.
        """
        done = 0
        with self.open() as handle:
            number = 0
            while raw := handle.readline(LONGEST + 1):
                number += 1
                done += len(raw)
                if len(raw) > LONGEST:
                    raise self.refuse(
                        f"the line is longer than {LONGEST >> 20} MiB", "import its parts", number
                    )
                if self.told is not None:
                    self.told(done)
                text = raw.decode("utf-8", "replace") if replaced else self._decoded(raw, number)
                if text.strip():
                    yield number, text.rstrip("\r\n")

    def _decoded(self, raw: bytes, line: int) -> str:
        try:
            return raw.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError:
            raise self.refuse("the line is not UTF-8", "convert the file to UTF-8", line) from None

    @cached_property
    def text(self) -> str:
        """The whole text, for what has to be read as one. Raises CannotImport."""
        if self.size > WHOLE:
            raise self.refuse(
                f"it is larger than {WHOLE >> 20} MiB and has to be read as one",
                "import a part of it, or JSON lines",
            )
        return "\n".join(text for _, text in self._every_line())

    def _every_line(self) -> Iterator[tuple[int, str]]:
        with self.open() as handle:
            for number, raw in enumerate(handle, 1):
                yield number, self._decoded(raw, number).rstrip("\r\n")

    def json(self) -> Any:
        """The whole file as one JSON value. Raises CannotImport."""
        return self.value_of(self.text, 1)

    def value_of(self, text: str, line: int) -> Any:
        """A text as JSON; `line` is where it begins. Raises CannotImport."""
        try:
            return strict_json(text)
        except Twice as error:
            raise self.refuse(
                f"the key {error} stands twice in one object", "keep the one that is meant", line
            ) from None
        except json.JSONDecodeError as error:
            at = line + error.lineno - 1
            raise self.refuse(
                f"no JSON from here on ({error.msg})", "import the file as the tool wrote it", at
            ) from None
        except (ValueError, RecursionError):
            raise self.refuse(
                "it is nested too deeply, or a number is too long", "import a part of it", line
            ) from None


@contextmanager
def of_bytes(raw: bytes, named: str) -> Iterator[Source]:
    """Bytes that are no file of their own, such as those of a commit, as a source that is told as `named`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "source")
        path.write_bytes(raw)
        yield Source(path, named)
