"""Whether an arm of a run had exactly a stack: by its resolved settings and its build, never by its name.

Invariant: bytes that are not the pinned ones are not known, hence no stack at all.
"""

from __future__ import annotations

from hio_validate.evidence.trials import pinned
from hio_validate.models.run import Arm
from hio_validate.repo import Item, Repo, name_of
from hio_validate.settings.difference import Compared, Difference, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Origin
from hio_validate.settings.value import text_of


def other_stack(arm: Arm, stack: Item, service: str | None, repo: Repo, settings: Settings) -> str | None:
    """What another stack an arm had, in a sentence; None where it had this one."""
    there = pinned(repo, "stack/v1", arm.stack, service)
    if there is None:
        return f"its stack {name_of(arm.stack)} has other bytes now than it pinned"
    if there.file == stack.file and not arm.set:
        return None
    if _builds(there) != _builds(stack):
        return f"it had another build ({name_of(arm.stack)})"
    theirs = settings.effective(there, None, {key: text_of(value) for key, value in arm.set.items()})
    compared = settings.difference(settings.effective(stack), theirs)
    differing = _differing(compared)
    if any(compared.not_understood):
        return f"what {name_of(arm.stack)} or {stack.name} gives is not understood: hio validate says which"
    if not differing:
        return None
    shown = ", ".join(f"{each.address} {each.to}" for each in differing[:3])
    more = f" and {len(differing) - 3} more" if len(differing) > 3 else ""
    return f"its stack differs: {shown}{more}"


def _builds(stack: Item) -> dict[str, tuple[str, str | None]]:
    return {role: (each.engine, each.build) for role, each in stack.model.processes.items()}


def _differing(difference: Difference) -> list[Compared]:
    """What makes two stacks of one build two stacks. A default that the build decides itself, and that nobody set on
    either side, is asked for alike: what became of it is a matter of the host, which is compared apart."""
    return [
        each
        for each in difference
        if each.group not in (Group.EQUAL, Group.ONE_SIDE) and not _is_left_to_the_build(each)
    ]


def _is_left_to_the_build(each: Compared) -> bool:
    sides = (each.parent, each.candidate)
    return (
        each.group is Group.UNKNOWN
        and all(side is not None and side.origin is Origin.DEFAULT for side in sides)
        and len({side.declared for side in sides if side}) == 1
    )
