"""A stack beside a process: what the process would be, had it been started from that stack and nothing changed.

Invariant: a process that runs what the stack asks for differs in nothing, and only in that case. What the stack
leaves to run time is answered by the process itself (settings/resolve.py); what was hashed of the process is not
taken for the stack's, but compared with the build that the stack names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.stack import Process, Stack
from hio_validate.settings.captured import stack_of
from hio_validate.settings.knowledge import Settings, runs_another
from hio_validate.settings.places import SECRET, place_holders
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Class, Effective, Origin, Setting
from hio_validate.settings.value import UNKNOWN
from hio_validate.subjects import Subject

UNRECORDED = "unrecorded"
"""The build of a process that certainly is not the one its stack names, and none of the recorded ones."""


def side_by_side(one: Subject, other: Subject, settings: Settings) -> tuple[Subject, Subject]:
    """Both sides as they are compared; nothing changes unless one is a stack and the other a process."""
    if one.stack and other.capture:
        return _beside(one, one.stack, other, other.capture, settings)
    if other.stack and one.capture:
        return _beside(other, other.stack, one, one.capture, settings)[::-1]
    return one, other


def _beside(
    asked: Subject, stack: Stack, seen: Subject, capture: Capture, settings: Settings
) -> tuple[Subject, Subject]:
    pairs = _pairs(stack, capture)
    if not pairs:
        return asked, seen
    kept = {role: stack.processes[role] for role in pairs}
    left = [role for role in stack.processes if role not in pairs]
    notes = [
        *asked.notes,
        *(f"its process {role} is not among those observed: not compared" for role in left),
    ]
    notes += _unfilled(kept)
    builds = {
        pairs[role]: _build(process, capture.processes[pairs[role]], settings)
        for role, process in kept.items()
    }
    seen = _recognised(seen, capture, builds, settings)
    narrowed = stack.model_copy(update={"processes": kept})
    return replace(
        asked, effective=_expected(narrowed, asked, seen, capture, pairs, settings), notes=tuple(notes)
    ), seen


def _pairs(stack: Stack, capture: Capture) -> dict[str, str]:
    """Role in the stack -> role in the capture: of the same name, or the only one that it can be."""
    same = {role: role for role in stack.processes if role in capture.processes}
    if same or len(capture.processes) > 1:
        return same
    role, process = next(iter(capture.processes.items()))
    of_its_family = [name for name, each in stack.processes.items() if each.engine == process.family]
    return {of_its_family[0]: role} if len(of_its_family) == 1 else {}


def _unfilled(processes: Mapping[str, Process]) -> list[str]:
    names = dict.fromkeys(
        name
        for process in processes.values()
        for _, name in place_holders(process)
        if not name.startswith(SECRET)
    )
    return [f"${{{name}}} is nothing that a site defines: compared as it is written" for name in names]


def _build(process: Process, seen: CapturedProcess, settings: Settings) -> str | None:
    """The build a process is; unrecorded where it certainly is not the one that the stack names."""
    build = seen.build or settings.build_of(seen)
    named = settings.repo.find("engine/v1", process.build) if process.build else None
    if build is None and named is not None and named.model is not None and runs_another(seen, named.model):
        return UNRECORDED
    return build


def _recognised(
    seen: Subject, capture: Capture, builds: Mapping[str, str | None], settings: Settings
) -> Subject:
    """The observed side with the builds that are known of it."""
    effective = seen.effective
    late = {
        role: capture.processes[role].model_copy(update={"build": build})
        for role, build in builds.items()
        if build not in (None, UNRECORDED, capture.processes[role].build)
    }
    if late:
        known = capture.model_copy(update={"processes": {**capture.processes, **late}})
        effective = settings.resolve_capture(stack_of(known), known)
    unrecorded = {
        f"{role}.build": Setting(f"{role}.build", "build", UNRECORDED, Origin.IDENTITY)
        for role, build in builds.items()
        if build == UNRECORDED
    }
    return replace(
        seen, effective=effective.showing({**effective.settings, **unrecorded}, effective.observed)
    )


def _expected(
    stack: Stack,
    asked: Subject,
    seen: Subject,
    capture: Capture,
    pairs: Mapping[str, str],
    settings: Settings,
) -> Effective:
    """The settings of the stack, what it leaves open answered by the process, without what was hashed of it."""
    observed = {role: _of_the_same_files(asked, seen, role, other, capture) for role, other in pairs.items()}
    known = settings.knowledge(stack, observed)
    for role, other in pairs.items():
        if stack.processes[role].build is None:
            learned = seen.effective.catalogues.get(other)
            known[role] = known[role]._replace(catalogue=learned or known[role].catalogue)
    effective = resolve(stack, known)
    own = {
        address: each
        for address, each in effective.settings.items()
        if each.origin is not Origin.IDENTITY or each.factor.partition(".")[0] == "build"
    }
    for role, other in pairs.items():
        own |= _recorded_bytes(role, known[role].build, capture.processes[other], settings)
    return effective.showing(own, frozenset())


def _recorded_bytes(
    role: str, build: str | None, seen: CapturedProcess, settings: Settings
) -> dict[str, Setting]:
    """The hashes of program and libraries that the stack's build has, of those that the process mapped."""
    engine = settings.repo.find("engine/v1", build) if build else None
    identity = engine.model.identity if engine and engine.model else None
    if identity is None:
        return {}
    mapped = {_factor(name) for name in seen.libraries}
    recorded = {
        _factor(name): sha256 for name, sha256 in identity.libraries.items() if _factor(name) in mapped
    }
    if identity.executable not in (None, UNKNOWN):
        recorded["executable"] = identity.executable
    return {
        f"{role}.{factor}": Setting(f"{role}.{factor}", factor, sha256, Origin.IDENTITY)
        for factor, sha256 in recorded.items()
    }


def _factor(library: str) -> str:
    return f"lib.{library.partition('.so')[0]}"


def _of_the_same_files(
    asked: Subject, seen: Subject, role: str, other: str, capture: Capture
) -> CapturedProcess:
    """The process as it answers for the stack: another model's metadata are not the stack's."""
    process = capture.processes[other]
    for setting in asked.effective.settings.values():
        theirs = seen.effective.settings.get(f"{other}.{setting.factor}")
        if (
            setting.class_ is Class.ARTIFACT
            and setting.address == f"{role}.{setting.factor}"
            and setting.value != (theirs.value if theirs else None)
        ):
            return process.model_copy(update={"artifacts": {}})
    return process
