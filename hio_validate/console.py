"""What every verb has around it: the repository, the terminal, how to stop with a sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from hio_validate.history import GitError, top_of
from hio_validate.places import ROOMS
from hio_validate.report.visible import visible


def stop(message: str, code: int = 3) -> NoReturn:
    """End with one sentence on standard error; what a document put into it reaches the terminal as visible text."""
    print(f"hio: {visible(message)}", file=sys.stderr)
    sys.exit(code)


def root_of(repo: Path | None) -> tuple[Path, bool]:
    """The folder that holds the rooms, and whether git keeps it.

    The nearest one around the given folder that has any of them, so that several hio repositories can live in
    one git repository; the top of the work tree where none has.
    """
    folder = (repo or Path()).resolve()
    if not folder.is_dir():
        stop(f"{repo} is no folder", 2)
    try:
        top = top_of(folder)
    except GitError as error:
        stop(f"git does not let hio read {folder}: {error}")
    if top is None:
        return folder, False
    around = [each for each in (folder, *folder.parents) if each == top or top in each.parents]
    return next((each for each in around if any((each / room).is_dir() for room in ROOMS)), top), True


def user() -> str:
    """Who runs hio."""
    import getpass  # only for who writes an entry

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        stop("this user has no name; say who decided with --by", 2)


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    import shutil  # with all its archives only where somebody looks

    return shutil.get_terminal_size((80, 24)).columns


def color() -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR says otherwise."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show(text: str) -> None:
    """Print a report as it is; undecodable file names stay printable. A reader that stops early ends hio."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
        sys.stdout.flush()
    except BrokenPipeError:
        # Ended here, since click would end with 1, as if something was found; discarded, or exit tries it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(3)
