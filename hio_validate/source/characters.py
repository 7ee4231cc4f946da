"""The bytes of a document before YAML sees them: size, encoding, line ends, characters nobody can see.

Invariant: what passes here is UTF-8 with LF line ends and no invisible control character, so that a digest
checked with sha256sum, an editor and every YAML reader mean the same text.
"""

from __future__ import annotations

import re

LARGEST_DOCUMENT = 8 * 1024 * 1024
"""Bytes. Evidence (logs, rows, help texts) lives in files of its own, never inside a document."""

_SUSPECT = re.compile(
    rb"[\x00-\x08\x0b-\x1f\x7f]|\xef\xbb\xbf|\xc2[\x80-\x9f]|\xef\xbf[\xbe\xbf]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)
_BOM = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """The text cannot be used; says what is wrong, and at which line and column (0: the whole file)."""

    def __init__(self, message: str, help: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message, self.help, self.line, self.column = message, help, line, column


def decode(raw: bytes) -> str:
    """The document's text without its byte order mark. Raises Unreadable."""
    if len(raw) > LARGEST_DOCUMENT:
        raise Unreadable(
            f"the file has more than {LARGEST_DOCUMENT:,} bytes, the most a document has",
            "keep measured data in a file of its own and name it with its sha256",
        )
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(
            "the file is UTF-16; expected UTF-8", "save it as UTF-8 without byte order mark", 1, 1
        )
    body = raw.removeprefix(_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _place(body, error.start)
        raise Unreadable(
            f"byte 0x{body[error.start]:02x} is not UTF-8", "save the file as UTF-8", line, column
        ) from None
    suspect = _SUSPECT.search(body)
    if suspect:
        _refuse(body, suspect.start())
    return text


def _refuse(body: bytes, offset: int) -> None:
    line, column = _place(body, offset)
    character = body[offset:].decode("utf-8", errors="ignore")[0]
    message, advice = _INVISIBLE.get(
        character,
        (
            f"control character U+{ord(character):04X}",
            f'remove it, or write it as an escape in double quotes ("\\u{ord(character):04x}")',
        ),
    )
    if character == "\r" and body[offset + 1 : offset + 2] != b"\n":
        message = "carriage return U+000D without a line feed"
    raise Unreadable(message, advice, line, column)


_INVISIBLE = {
    "\0": ("NUL character U+0000", "remove it; the file may be damaged or binary"),
    "\r": (
        "the line ends with CRLF; documents end lines with LF, or their sha256 differs between machines",
        "convert the file (dos2unix, or `* text eol=lf` in .gitattributes)",
    ),
    "\ufeff": (
        "a second byte order mark U+FEFF inside the text",
        "remove it; it is invisible in most editors",
    ),
    "\x85": ("line separator U+0085 (NEL)", "end lines with LF"),
    "\u2028": ("line separator U+2028", "end lines with LF"),
    "\u2029": ("paragraph separator U+2029", "end lines with LF"),
    **{
        chr(code): (f"bidirectional control U+{code:04X}: the text reads differently than it is", "remove it")
        for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
}


def _place(body: bytes, offset: int) -> tuple[int, int]:
    """Line and column (characters, from 1) of a byte offset."""
    start = body.rfind(b"\n", 0, offset) + 1
    return body.count(b"\n", 0, offset) + 1, len(body[start:offset].decode("utf-8", errors="replace")) + 1
