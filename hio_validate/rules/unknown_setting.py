"""A setting that the build does not know, or that a matrix, a plan or a run names and no stack has.

A misspelt argument stops the server at its next start; a misspelt environment name is ignored without a word
(contract 2.3). The catalogue is the build's own `--help`, so this is judged only where a build was named and
learned.

In a matrix and in the arms of a plan or a run the harm is quieter: a row, a `depends:` or a `pairs:` about a name that
neither stack has covers nothing, and the real setting stays uncovered; an arm whose delta sets nothing compares
a stack with itself. Settings that the ledger accepted or excluded may have a row although no stack has them.

In a known-good registry a misspelt name is never set, so that what it forbids is never found: a row's setting must be
one of a build that is recorded (of those it names, where it names any).

How to fix: write the name as the build's help does, with its process where two processes have it
(`server.threads`). A never-adopted candidate needs no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Path, Severity
from hio_validate.inheritance import Inheritance, names_an_identity
from hio_validate.ledger import one_setting
from hio_validate.models.known_good import KnownGood
from hio_validate.models.matrix import FactorRow
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from hio_validate.models.stack import Stack
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.setting import Effective
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Stack):
        for wrong in view.misread(item, "unknown-setting"):
            yield Problem(at_key(item, *wrong.path), wrong.message, wrong.help)
    elif isinstance(item.model, Run | Plan):
        yield from _arms(item, item.model, view)
    elif isinstance(item.model, KnownGood):
        yield from _registry(item, item.model, view)
    elif found := view.inheritance(item):
        yield from _rows(item, found)
        yield from _depends(item, found)
        yield from _pairs(item, found)


def _rows(item: Item, found: Inheritance) -> Iterator[Problem]:
    decided = [entry.model.factor for entry in (*found.ledger.accepted(), *found.ledger.exclusions())]
    for each in found.covered:
        if each.compared is None and not any(one_setting(each.name, factor) for factor in decided):
            yield _in_neither(item, each.path, each.name, found)


def _depends(item: Item, found: Inheritance) -> Iterator[Problem]:
    for index, row in enumerate(found.matrix.rows):
        for position, name in enumerate(row.depends if isinstance(row, FactorRow) else ()):
            if found.difference.find(name) is None and not names_an_identity(name):
                yield _in_neither(item, ("rows", index, "depends", position), name, found)


def _in_neither(item: Item, path: Path, name: str, found: Inheritance) -> Problem:
    meant = found.difference.ambiguous(name)
    if meant:
        return Problem(at(item, *path), f"{name} is ambiguous here", f"write {' or '.join(meant)}")
    near = nearest(name, found.difference.names)
    advice = f"did you mean {near}?" if near else "remove it; never-adopted candidates need no row"
    return Problem(at(item, *path), f"neither stack has a setting {name}", advice)


def _pairs(item: Item, found: Inheritance) -> Iterator[Problem]:
    """Every member of a pair but the last is the parent's; one word is a process, two are a process's setting."""
    for name, members in found.matrix.pairs.items():
        if len(members) < 2 or len({" " in member for member in members}) > 1:
            advice = "write [process setting, ..., process setting], or [process, process] for a renamed one"
            yield Problem(
                at(item, "pairs", name), f"the pair {name} does not map one setting to another", advice
            )
            continue
        for index, member in enumerate(members):
            is_last = index == len(members) - 1
            stack, side = (found.candidate, found.ours) if is_last else (found.parent, found.theirs)
            process, _, spelling = member.partition(" ")
            place = at(item, "pairs", name, index)
            if process not in stack.model.processes:
                yield Problem(
                    place,
                    f"the stack {stack.name} has no process {process}",
                    f"its processes are {', '.join(stack.model.processes)}",
                )
            elif spelling and _knows(side, process, spelling.strip()) is False:
                yield Problem(
                    place, f"{process} of {stack.name} has no setting {spelling}", "correct the pair"
                )


def _arms(item: Item, run: Run | Plan, view: View) -> Iterator[Problem]:
    for name, arm in run.arms.items():
        stack = view.repo.find("stack/v1", name_of(arm.stack), item.service)
        if stack is None or stack.model is None:
            continue
        effective = view.settings.effective(stack)
        for address in arm.set:
            meant = [] if names_an_identity(address) else _meant(address, stack.model, effective)
            if meant is None:
                message, advice = (
                    f"no process of {stack.name} has a setting {address}",
                    _nearest(address, effective),
                )
            elif len(meant) > 1:
                message, advice = f"{address} is ambiguous here", f"write {' or '.join(meant)}"
            else:
                continue
            yield Problem(at_key(item, "arms", name, "set", address), message, advice)


def _registry(item: Item, registry: KnownGood, view: View) -> Iterator[Problem]:
    """Rows about a setting that none of the recorded builds has; where no help was learned nobody knows."""
    family = view.settings.family(registry.engine)
    for index, row in enumerate(registry.settings):
        known = list(_catalogues(registry.engine, row.builds, view))
        spelling = row.factor.lstrip("-")
        if not known or spelling[:1].isupper() or names_an_identity(spelling):
            continue
        name = family.aliases.get(spelling, spelling) if family else spelling
        if not any(each.find(name) or each.find(spelling) for each in known):
            near = known[-1].nearest(spelling)
            advice = f"did you mean {near}?" if near else "write it as the build's help does"
            place = at(item, "settings", index, "factor")
            yield Problem(place, f"no recorded build of {registry.engine} has a setting {row.factor}", advice)


def _catalogues(engine: str, builds: Sequence[str], view: View) -> Iterator[Catalogue]:
    for item in view.repo.of("engine/v1"):
        if item.model.family == engine and (not builds or item.name in builds):
            learned = view.settings.learned(item)
            if isinstance(learned, Catalogue):
                yield learned


def _nearest(address: str, effective: Effective) -> str:
    names = [*effective.settings, *(setting.factor for setting in effective.settings.values())]
    near = nearest(address, names)
    return f"did you mean {near}?" if near else "write it as process.setting, as the build's help names it"


def _meant(address: str, stack: Stack, effective: Effective) -> list[str] | None:
    """The settings that a delta's address could mean; None where no process can have it."""
    process, dot, factor = address.partition(".")
    if dot and process in stack.processes:
        return [address] if _knows(effective, process, factor) is not False else None
    knows = {name: _knows(effective, name, address) for name in stack.processes}
    if not any(known is not False for known in knows.values()):
        return None
    return [f"{name}.{address}" for name, known in knows.items() if known]


def _knows(side: Effective, process: str, spelling: str) -> bool | None:
    """Whether a process has a setting; None where its build's settings are not known."""
    catalogue = side.catalogues.get(process)
    if f"{process}.{spelling.lstrip('-')}" in side.settings or spelling[:1].isupper():
        return True
    return None if catalogue is None else catalogue.find(spelling) is not None


RULE = Rule(
    "unknown-setting", Scope.DOCUMENT, Severity.ERROR, "a setting that the build or the stacks do not have", check,
    kinds=("stack/v1", "matrix/v1", "run/v1", "plan/v1", "known-good/v1"), contract=("2.3", "8.6"),
)  # fmt: skip
