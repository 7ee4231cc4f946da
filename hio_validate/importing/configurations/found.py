"""What a foreign configuration starts, and what in it stays open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hio_validate.settings.credentials import credentials_in
from hio_validate.settings.secrets import WITHHELD


def quoted(word: str) -> str:
    """A word as a remark may show it: no credential, and not without end."""
    if credentials_in(word):
        name, equals, _ = word.partition("=")
        return f"{name}={WITHHELD}" if equals and not credentials_in(name) else WITHHELD
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}..."


_LONGEST = 120


@dataclass(frozen=True)
class Open:
    """Something that could not be resolved, where it stands."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass
class Started:
    """One process: its words, the program first, and its own environment."""

    words: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    image: str | None = None
    """A container image whose entry point may be the program, so that the words are its arguments."""
    by_entry_point: bool = True
    """Whether the image's own entry point starts it; a command of its own takes the place of that."""
    launcher: str | None = None
    """A script that decides the command line, so that nobody knows it."""
    places: dict[str, str] = field(default_factory=dict)
    """What place-holders stand for that the reader of the format put there; `secret:NAME` -> where it is kept."""


@dataclass
class Found:
    """One draft to be: the processes of one model, by role."""

    name: str
    file: str
    line: int
    processes: dict[str, Started] = field(default_factory=dict)
    open: list[Open] = field(default_factory=list)

    def leave_open(self, line: int, what: str) -> None:
        """List something that stays as it is written."""
        noted = Open(self.file, line, what)
        if noted not in self.open:
            self.open.append(noted)


@dataclass(frozen=True)
class Source:
    """A file with its text, and a way to read files that it names beside it."""

    file: str
    text: str
    beside: Callable[[str], bytes | None]
    """The bytes of a file by its path, relative to this one; None where there is none."""

    @property
    def stem(self) -> str:
        """The file's name without its folder and ending."""
        return self.file.rpartition("/")[2].split(".")[0] or "imported"
