"""What a foreign file that cannot be imported is told with."""

from __future__ import annotations


class CannotImport(Exception):
    """A file that gives nothing; one sentence with what was expected and what to do. `code` is the exit code."""

    def __init__(self, file: str, line: int, message: str, help: str, code: int = 1) -> None:
        place = f"{file}:{line}" if line else file
        message, help = " ".join(message.split()), " ".join(help.split())
        super().__init__(f"{place}: {message}" + (f"; {help}" if help else ""))
        self.line, self.message, self.code = line, message, code


class Misunderstood(CannotImport):
    """A file that its importer could not follow: a fault of hio, told as a sentence about the file all the same."""


class Unrecognised(CannotImport):
    """A file of a kind that nobody here knows, rather than one with a fault."""
