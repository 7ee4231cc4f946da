"""A file of UTF-16 with a byte order mark, as PowerShell's > writes it, read as the UTF-8 that everything else expects.

Invariant: what is no UTF-16 becomes bytes that are no UTF-8, so that the line is refused where it stands.
"""

from __future__ import annotations

import codecs
import io
from typing import IO, Any

_PIECE = 1 << 18


def wide_encoding(start: bytes) -> str | None:
    """What the first four bytes of a file say: utf-16-le, utf-16-be, or None for everything else."""
    if start in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return None
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    return marks.get(start[:2])


def utf8(handle: IO[bytes]) -> IO[bytes]:
    """The same bytes, or their UTF-8 where they begin with a byte order mark of UTF-16."""
    encoding = wide_encoding(handle.read(4))
    handle.seek(0 if encoding is None else 2)
    return handle if encoding is None else io.BufferedReader(_Narrowed(handle, encoding), _PIECE)


class _Narrowed(io.RawIOBase):
    """UTF-16 without its mark as UTF-8, piece by piece."""

    def __init__(self, wide: IO[bytes], encoding: str) -> None:
        self._wide = wide
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._waiting = b""
        self._has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._waiting and not self._has_ended:
            self._waiting = self._next()
        given, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def _next(self) -> bytes:
        piece = self._wide.read(_PIECE)
        self._has_ended = not piece
        if piece:
            return self._decoder.decode(piece).encode("utf-8", "surrogatepass")
        return b"\xff" if self._decoder.getstate()[0] else b""

    def close(self) -> None:
        self._wide.close()
        super().close()
