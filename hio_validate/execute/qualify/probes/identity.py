"""Whether the process is the stack and healthy: every point of its verification (contract 1.7)."""

from __future__ import annotations

from pathlib import PurePosixPath

from hio_validate.execute.qualify.asking import Row
from hio_validate.execute.qualify.subject import Subject
from hio_validate.execute.verified import Verification

NAME = "identity"


def ask(subject: Subject) -> list[Row]:
    """One row a check; the checks were made just before."""
    foreign = _of_the_system(subject.verification)
    return [
        {"probe": NAME, "check": each.name, "verdict": each.verdict}
        | ({"unrecorded": True} if each.verdict == "not observable" and each.name in foreign else {})
        for each in subject.verification.checks
    ]


def _of_the_system(found: Verification) -> set[str]:
    """Checks of hashed libraries that do not stand beside the program: this qualification puts them on record."""
    process = found.process
    if process is None or process.executable.path is None:
        return set()
    home = PurePosixPath(process.executable.path).parent
    return {
        f"library {name}"
        for name, library in process.libraries.items()
        if library.sha256 and library.path and PurePosixPath(library.path).parent != home
    }
