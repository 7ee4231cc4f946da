"""A capture that claims to be a stack and shows other settings than the stack has.

A stack is a wish; a capture is what ran. As soon as someone edits the stack, or a launcher adds a flag, the old
capture goes on lending its hashes and slots to a stack that has never run (contract 1.7: the live process is
verified against the manifest; contract 1.5: unknown never passes as equal). The same holds where a matrix relies
on the capture for one of its sides, and where a run pins it for an arm: then it must show the stack with that
arm's delta.

Only what a capture can show is compared: the command line and the environment of the processes that both have,
never paths that a site fills in, nor facts and implicit values, which no command line contains.

How to fix: start the stack as it is now and capture it (`hio capture --stack NAME`), or put the stack right
if the process is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hio_validate.diagnostic import Severity
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.stack import Stack
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.settings.captured import stack_of
from hio_validate.settings.difference import Compared, Group
from hio_validate.settings.setting import Origin, Setting
from hio_validate.settings.value import text_of


class _Claim(NamedTuple):
    """Where a capture is said to show a stack, perhaps with an arm's delta."""

    stack: Item
    place: Place
    label: str = ""
    delta: Mapping[str, str] = MappingProxyType({})


def check(item: Item, view: View) -> Iterator[Problem]:
    for claim in _claims(item, view):
        if claim.stack.model is not None:
            yield from _processes(item, claim)
            yield from _settings(item, claim, view)


def _claims(item: Item, view: View) -> Iterator[_Claim]:
    """What the capture says of itself, unless an arm says better with which delta, and all who rely on it."""
    arms = list(_arms(item, view))
    own = view.repo.find("stack/v1", item.model.stack, item.service) if item.model.stack else None
    if own is not None and all(claim.stack is not own for claim in arms):
        yield _Claim(own, at(item, "stack"))
    yield from arms
    yield from _sides(item, view)


def _sides(item: Item, view: View) -> Iterator[_Claim]:
    """The sides of the matrices that rely on the capture."""
    for matrix in view.citing_captures.get(("matrix/v1", item.name), ()):
        for side in ("parent", "candidate"):
            if _means(getattr(matrix.model.captures, side, None), item, matrix, view):
                stack = view.repo.find("stack/v1", getattr(matrix.model, side), matrix.service)
                if stack is not None:
                    yield _Claim(stack, at(matrix, "captures", side))


def _arms(item: Item, view: View) -> Iterator[_Claim]:
    """The arms that a run pins this capture for."""
    for run in view.citing_captures.get(("run/v1", item.name), ()):
        for name, arm in run.model.arms.items():
            for index, pin in enumerate(arm.captures):
                if not _means(name_of(pin), item, run, view):
                    continue
                stack = view.repo.find("stack/v1", name_of(arm.stack), run.service)
                if stack is not None:
                    delta = {factor: text_of(value) for factor, value in arm.set.items()}
                    label = f" with the delta of the arm {name} of {run.name}" if delta else ""
                    yield _Claim(stack, at(run, "arms", name, "captures", index), label, delta)


def _means(name: str | None, capture: Item, there: Item, view: View) -> bool:
    """Whether a name in another document is this capture."""
    return name is not None and view.repo.find("capture/v1", name, there.service) is capture


def _settings(item: Item, claim: _Claim, view: View) -> Iterator[Problem]:
    capture: Capture = item.model
    shown = view.settings.resolve_capture(_as_stack(capture, claim.stack.model), capture)
    declared = view.settings.effective(claim.stack, item, claim.delta)
    for each in view.settings.difference(declared, shown).touched:
        setting = each.parent or each.candidate
        if each.group is Group.CHANGED and setting is not None and _can_be_shown(each, setting, capture):
            path = each.parent.path if each.parent else ()
            yield Problem(
                claim.place,
                f"the capture {item.name} shows {each.address} = {each.to}; "
                f"the stack {claim.stack.name}{claim.label} says {each.from_}",
                "capture the changed stack anew, or put the stack right",
                ((str(setting.origin), Place(claim.stack.document, path)),) if path else (),
            )


def _processes(item: Item, claim: _Claim) -> Iterator[Problem]:
    captured, declared = item.model.processes, claim.stack.model.processes
    missing = [name for name in declared if name not in captured]
    extra = [name for name in captured if name not in declared]
    related = (("its processes", Place(claim.stack.document, ("processes",), at_key=True)),)
    if missing:
        yield Problem(
            claim.place,
            f"the capture {item.name} does not show {listed(missing)} of the stack {claim.stack.name}",
            "capture all processes of the stack together",
            related,
        )
    if extra:
        yield Problem(
            claim.place,
            f"the capture {item.name} shows {listed(extra)}, which the stack {claim.stack.name} does not have",
            "name the process as the stack does, or add it to the stack",
            related,
        )


def _as_stack(capture: Capture, claimed: Stack) -> Stack:
    """What the capture shows; a build that it did not recognise is read with the grammar of the claimed one."""
    shown = stack_of(capture)
    processes = {
        name: process.model_copy(update={"build": process.build or claimed.processes[name].build})
        for name, process in shown.processes.items()
        if name in claimed.processes
    }
    return shown.model_copy(update={"processes": processes})


def _can_be_shown(each: Compared, setting: Setting, capture: Capture) -> bool:
    """Whether the capture could have shown the stack's value, had it been in force."""
    process = capture.processes.get(setting.address.partition(".")[0])
    if process is None or process.argv.value is None or "${" in setting.declared:
        return False
    seen = each.candidate is not None and each.candidate.set_by_a_person
    if setting.origin in (Origin.IMPLICIT, Origin.FACT) and not seen:
        return False
    return seen or setting.origin is not Origin.ENV or _shows_variable(process, setting.spelling)


def _shows_variable(process: CapturedProcess, name: str) -> bool:
    """Whether a variable's absence from the captured values says that it was not set."""
    environ = process.environ
    return environ.how != "unknown" and name not in environ.names and name not in environ.withheld


RULE = Rule(
    "capture-outdated", Scope.DOCUMENT, Severity.GATE, "a capture does not show the stack it claims to be", check,
    kinds=("capture/v1",), contract=("1.5", "1.7"), since=2,
)  # fmt: skip
