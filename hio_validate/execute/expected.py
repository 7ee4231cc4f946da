"""What a process is against what its arm asks for: each reason why a leg drifted, in a sentence.

Invariant: a leg without a reason ran the pinned stack with the delta, from the bytes of the first leg (contract 1.6,
6.9); what nobody could observe is no reason here and stays unknown in the capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hio_validate.drift import side_by_side
from hio_validate.execute.arms import as_started
from hio_validate.execute.interpreted import as_executed
from hio_validate.execute.work import ArmWork
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.stack import Stack
from hio_validate.repo import Repo
from hio_validate.settings.captured import stack_of
from hio_validate.settings.difference import LEAVES_NO_DIFFERENCE, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.observed import contradictions
from hio_validate.settings.places import PLACE_HOLDER
from hio_validate.settings.setting import Class, Effective
from hio_validate.settings.value import UNKNOWN
from hio_validate.subjects import Subject

Identity = dict[str, str]
"""Part of a process -> SHA-256 of its bytes: executable, libraries by name, artifacts by role."""

_NO_DRIFT = LEAVES_NO_DIFFERENCE | {Group.UNKNOWN}


class Repinned(Exception):
    """A document is no longer the bytes that were pinned; says which."""


def pinned_stack(arm: ArmWork, repo: Repo, service: str) -> Stack:
    """The stack of an arm as it is started. Raises Repinned."""
    name, _, digest = arm.stack.partition("@")
    item = repo.find("stack/v1", name, service)
    if item is None or item.model is None or item.document.digest != digest:
        raise Repinned(f"the stack {name} is no longer the one that the trial was prepared from: restore it")
    return as_started(item.model, arm)


def asked(stack: Stack, settings: Settings) -> Effective:
    """The settings that an arm's command asks for."""
    return settings.resolve_processes(stack, {})


def drift(capture: Capture, stack: Stack, arm: ArmWork, settings: Settings) -> Iterator[str]:
    """How a process is not what its arm asks for."""
    process = capture.processes[arm.role]
    yield from arguments(process, arm)
    wished = Subject("arm", asked(stack, settings), stack=stack)
    seen = Subject("leg", settings.resolve_capture(stack_of(capture), capture), capture=capture)
    one, other = side_by_side(wished, seen, settings)
    for each in settings.difference(one.effective, other.effective).touched:
        if each.group not in _NO_DRIFT and each.class_ is not Class.SECRET:
            yield f"drifted: {each.address} is {each.to}, expected {each.from_}"


def contradicted(capture: Capture, arm: ArmWork, settings: Settings) -> Iterator[str]:
    """What a process reports of itself otherwise than its arguments and defaults give it."""
    for found in contradictions(arm.role, capture.processes[arm.role], settings):
        yield (
            f"drifted: {arm.role}.{found.factor} is {found.reported} by {found.shown_where}, "
            f"but {found.expected} by {found.origin}"
        )


def arguments(process: CapturedProcess, arm: ArmWork) -> Iterator[str]:
    """How the arguments of a process are not the arm's; a secret one is withheld and not compared."""
    if process.argv.value is None:
        yield "drifted: the arguments of the process could not be read"
        return
    words = [word for line in process.argv.value for word in line]
    wished = as_executed(arm.command)
    same = len(words) == len(wished) and all(
        word == wish or PLACE_HOLDER.search(wish) for word, wish in zip(words[1:], wished[1:], strict=True)
    )
    if not same:
        yield f"drifted: the process runs with other arguments than it was started with: {' '.join(words)}"


def identity(process: CapturedProcess) -> Identity:
    """What a process is made of, as far as it was hashed."""
    artifacts = {f"{_ARTIFACT}{name}": each for name, each in process.artifacts.items()}
    parts = {"executable": process.executable, **process.libraries, **artifacts}
    return {name: each.sha256 for name, each in parts.items() if each.sha256 not in (None, UNKNOWN)}


_ARTIFACT = "artifact."


def changed_bytes(mine: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What changed since the first leg of the same arm, and of the same program; records of legs, in order.

    Two arms may map different models and, by their settings, different libraries; none may map other bytes of one
    library.
    """
    known = [each for each in earlier if each["made_of"]]
    of_arm = next((each for each in known if each["arm"] == mine["arm"]), None)
    of_program = next((each for each in known if each["program"] == mine["program"]), None)
    now = mine["made_of"]
    found = dict.fromkeys(_other_bytes(now, of_arm) if of_arm else ())
    if of_arm:
        found |= dict.fromkeys(
            f"replaced: {part} of leg {of_arm['leg']} is not there"
            for part in sorted(of_arm["made_of"].keys() - now.keys())
        )
    if of_program and of_program is not of_arm:
        code = {part: sha256 for part, sha256 in now.items() if not part.startswith(_ARTIFACT)}
        found |= dict.fromkeys(_other_bytes(code, of_program))
    yield from found


def _other_bytes(now: Identity, leg: Mapping[str, Any]) -> Iterator[str]:
    for part, sha256 in now.items():
        before = leg["made_of"].get(part)
        if before not in (None, sha256):
            yield f"replaced: {part} is {sha256[:12]}, but was {before[:12]} in leg {leg['leg']}"
