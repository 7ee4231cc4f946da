"""A live process together with the build it is: captured, matched with the recorded builds, its help learned.

Invariant: a process is a recorded build only where the running executable and every library that both know
have the recorded bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.observe import proc
from hio_validate.observe.asked import Asked
from hio_validate.observe.capture import capture_process
from hio_validate.observe.hashing import Progress
from hio_validate.observe.help_text import is_the_program
from hio_validate.observe.refusal import Unobservable
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import Catalogue, UnreadableHelp
from hio_validate.settings.knowledge import Settings


@dataclass(frozen=True)
class Recognised:
    """A captured process, the catalogue of its build, and what could not be found out."""

    process: CapturedProcess
    catalogue: Catalogue | None
    notes: tuple[str, ...]


def recognised_process(
    pid: int,
    settings: Settings,
    *,
    family: str | None = None,
    port: int | None = None,
    log: str | None = None,
    progress: Progress | None = None,
    asked: Asked | None = None,
    deadline_s: float = 60.0,
) -> Recognised:
    """Capture a process with the grammar of its build. Raises Unobservable."""
    asked = asked or Asked()
    look = partial(
        capture_process, pid, port=port, progress=progress, deadline=deadline_s, cache=asked.hashes
    )
    name = family or families.recognised(proc.argv(pid))
    table = settings.family(name) if name else None
    build = settings.build_of(look(table, None))
    catalogue, notes = _catalogue(pid, table, build, settings, asked)
    seen = look(table, catalogue, log=log, build=build)
    return Recognised(seen, catalogue, notes)


def _catalogue(
    pid: int, table: Family | None, build: str | None, settings: Settings, asked: Asked
) -> tuple[Catalogue | None, tuple[str, ...]]:
    """The recorded build's catalogue; else that of the running executable, asked itself."""
    if table is None:
        return None, ("the program is of no family hio knows, so nothing is known of its settings",)
    item = settings.repo.find("engine/v1", build) if build else None
    learned = settings.learned(item) if item else None
    if isinstance(learned, Catalogue):
        return learned, ()
    advice = "no recorded build has these bytes; hio engine learn --binary records one"
    program = Path(f"/proc/{pid}/exe")
    if not is_the_program(program, table):
        return None, (advice, "an interpreter runs it, so its defaults are unknown")
    try:
        return asked.catalogue(program, table), (advice,)
    except (Unobservable, UnreadableHelp) as error:
        return None, (advice, f"its defaults are unknown: {error}")
