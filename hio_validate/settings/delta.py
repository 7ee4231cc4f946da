"""The delta of an arm: which process and factor each of its names means in a stack."""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.models.stack import Stack
from hio_validate.settings.argv import read_argv
from hio_validate.settings.setting import Knowledge


def delta_of(
    process: str, delta: Mapping[str, str], stack: Stack, knowledge: Mapping[str, Knowledge]
) -> dict[str, str]:
    """The part of a delta that is about one process, by factor."""
    found = {}
    for name, value in delta.items():
        owner, dot, factor = name.partition(".")
        if not (dot and owner in stack.processes):
            owner, factor = _process_of(name, stack, knowledge) or "", name
        if owner == process:
            found[_canonical(factor, knowledge.get(process))] = _meant(factor, value, knowledge.get(process))
    return found


def _process_of(factor: str, stack: Stack, knowledge: Mapping[str, Knowledge]) -> str | None:
    """The one process that a bare factor means: the only one, or the only one that knows or gives it."""
    if len(stack.processes) == 1:
        return next(iter(stack.processes))
    owners = []
    for name, process in stack.processes.items():
        known = knowledge.get(name, Knowledge())
        given = read_argv(process.argv, known.family, known.catalogue)[0]
        mine = {each.factor for each in given} | process.env.keys() | process.facts.keys()
        wanted = _canonical(factor, known)
        if (
            wanted in mine
            or f"{name}.{wanted}" in stack.implicit
            or (known.catalogue and known.catalogue.find(factor))
        ):
            owners.append(name)
    return owners[0] if len(owners) == 1 else None


def _meant(factor: str, value: str, known: Knowledge | None) -> str:
    """`no-mmap: on` means that mmap is off."""
    option = known.catalogue.find(f"--{factor}") if known and known.catalogue else None
    if option is None or f"--{factor}" not in option.negations:
        return value
    return {"on": "off", "true": "off", "1": "off", "off": "on", "false": "on", "0": "on"}.get(value, value)


def _canonical(factor: str, known: Knowledge | None) -> str:
    catalogue = known.catalogue if known else None
    option = catalogue and (catalogue.find(factor) or catalogue.find(f"-{factor}"))
    return option.factor if option else factor
