"""A live process together with the build it is: captured, matched with the recorded builds, its help learned.

Invariant: a process is a recorded build only where the running executable and every library that both know
have the recorded bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.engine import Engine
from hio_validate.models.family import Family
from hio_validate.observe import proc
from hio_validate.observe.capture import capture_process
from hio_validate.observe.hashing import Progress
from hio_validate.observe.help_text import help_of, is_the_program
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
) -> Recognised:
    """Capture a process with the grammar of its build. Raises Unobservable."""
    name = family or families.recognised(proc.argv(pid))
    table = settings.family(name) if name else None
    first = capture_process(pid, table, None, port=port, progress=progress)
    build = _recorded_build(first, (item.model for item in settings.repo.of("engine/v1")))
    catalogue, notes = _catalogue(pid, table, build, settings)
    seen = capture_process(pid, table, catalogue, port=port, log=log, build=build, progress=progress)
    return Recognised(seen, catalogue, notes)


def _recorded_build(seen: CapturedProcess, engines: Iterable[Engine]) -> str | None:
    for engine in engines:
        identity = engine.identity
        if identity is None or identity.executable != seen.executable.sha256:
            continue
        shared = identity.libraries.keys() & seen.libraries.keys()
        if shared and all(seen.libraries[name].sha256 == identity.libraries[name] for name in shared):
            return engine.name
    return None


def _catalogue(
    pid: int, table: Family | None, build: str | None, settings: Settings
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
        return families.learn(help_of(program, table), table), (advice,)
    except (Unobservable, UnreadableHelp) as error:
        return None, (advice, f"its defaults are unknown: {error}")
