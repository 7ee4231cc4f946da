"""A stack that is deployed, or may be, against what is known of its model.

A registry says of a model which settings it does not boot without, which ones crash it under load or make it wrong, and
which are allowed only to who asked or only in a phase (contract 8.6, manifests/known-good/). It is held against the
settings in force: a default that a build moved violates it like a flag. What is deployed by the ledger is an error, what a
matrix makes a candidate is a gate. A value, a build or a model that nobody knows satisfies nothing and is a gate, too. What
was learnt after the deployment (`at:` of the row) is a gate there: the entry is history, and the next one puts it right.

How to fix: give the candidate the setting as the row says; where the row is wrong, correct it with its reason; where the
setting was asked for, add the stack to `opted_in:`. What serves already is taken back (`hio rollback`) or replaced.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.known_good import Violation, judge
from hio_validate.models.entry import Deployment
from hio_validate.models.matrix import Matrix
from hio_validate.moment import moment
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    if next(view.repo.of("known-good/v1"), None) is None:
        return
    match item.model:
        case Deployment() if view.ledger(item.service).deployment is item:
            pins = item.model.pins
            captures = [name_of(pins.capture) if pins.capture else None]
            yield from _held(item, ("pins", "candidate"), name_of(pins.candidate), captures, view)
        case Matrix() if view.deployment_of(item) is None:
            captures = [getattr(item.model.captures, side, None) for side in ("parent", "candidate")]
            yield from _held(item, ("candidate",), item.model.candidate, captures, view)


def _held(item: Item, path: Path, name: str, captures: list[str | None], view: View) -> Iterator[Problem]:
    stack = view.repo.find("stack/v1", name, item.service)
    if stack is None or stack.model is None:
        return
    found = (view.repo.find("capture/v1", each, item.service) for each in captures if each)
    believed = [each for each in found if each is not None and each.model is not None]
    for violation in judge(view.repo, item.service, stack, view.settings, captures=believed).violations:
        yield Problem(
            at(item, *path),
            f"{stack.name}: {violation.message}",
            "give the setting as the registry says, or correct the registry with its reason",
            _row(violation),
            severity=_severity(item, violation),
        )


def _row(violation: Violation) -> tuple[tuple[str, Place], ...]:
    if violation.registry is None:
        return ()
    return (("what is known", at(violation.registry, "settings", violation.number)),)


def _severity(item: Item, violation: Violation) -> Severity:
    """An error where the ledger says that it is deployed, and that was known then."""
    entry = item.model
    if not isinstance(entry, Deployment) or entry.imported or violation.verdict == "unknown":
        return Severity.GATE
    learnt = violation.requirement.at if violation.requirement else None
    return Severity.GATE if learnt and moment(learnt) > moment(entry.at) else Severity.ERROR


RULE = Rule(
    "violates-known-good", Scope.DOCUMENT, Severity.ERROR, "a stack to be deployed violates what is known of its model", check,
    kinds=("entry/v1", "matrix/v1"), contract=("8.6",), since=4,
)  # fmt: skip
