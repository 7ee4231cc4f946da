"""A rollback plan that leads to a stack which never served, or belongs to another site or deployment.

A rollback plan is carried out at 3 a.m. by somebody who trusts it: it names what is taken away and what serves
again (contract 12.2). What serves again must be a stack that the ledger of this service knows as baseline,
accepted or deployed. A deployment that pins a plan pins its own: the one that takes back its candidate and
restores its `rollback`, or nothing where nothing served on the host before.

How to fix: a plan is written once and never edited. Let `hio deploy` write the plan of this deployment, and pin
that one; a stack that never served is deployed, not restored.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.ledger import DEPLOYED, PARENT
from hio_validate.models.entry import Deployment
from hio_validate.models.entry import Rollback as Undone
from hio_validate.models.rollback import Rollback
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at

_WRITE = "hio deploy writes the plan of a deployment; pin that one"


def check(item: Item, view: View) -> Iterator[Problem]:
    match item.model:
        case Rollback():
            yield from _plan(item, view)
        case Deployment() | Undone():
            yield from _pinned(item, view)


def _plan(item: Item, view: View) -> Iterator[Problem]:
    """The plan by itself."""
    plan: Rollback = item.model
    if plan.site != plan.service.partition("/")[0]:
        yield Problem(at(item, "site"), f"{plan.service} is not at the site {plan.site}", _WRITE)
    if plan.restores is None:
        return
    served = _served(item, view)
    if plan.restores.partition("@")[2] not in served:
        yield Problem(
            at(item, "restores"),
            f"{name_of(plan.restores)} as it is pinned never served: the ledger of {plan.service} "
            f"{'names others' if served else 'knows of no stack that served'}",
            "restore a stack that was baseline, accepted or deployed; another one is deployed, not restored",
        )


def _served(item: Item, view: View) -> set[str]:
    """Digests of the stacks that the ledger of a plan's service names as baseline, accepted, deployed or restored."""
    ledger = view.ledger(item.model.service)
    entries = list(ledger.as_of())
    said = [
        word.outcome
        for entry in entries
        for word in ledger.words(entry)
        if word.subject in (PARENT, DEPLOYED)
    ]
    said += [pin for entry in entries if (pin := pin_of(entry, "parent"))]
    return {pin.partition("@")[2] for pin in said}


def _pinned(item: Item, view: View) -> Iterator[Problem]:
    """The plan that an entry pins, against that entry."""
    pin = pin_of(item, "rollback_plan")
    plan = view.repo.find("rollback/v1", name_of(pin), item.service) if pin else None
    if plan is None or plan.model is None:
        return
    where = at(item, "pins", "rollback_plan")
    if plan.model.service != item.service:
        yield Problem(where, f"{plan.name} is a plan of {plan.model.service}, not of {item.service}", _WRITE)
    pins = item.model.pins
    if isinstance(item.model, Deployment):
        pairs = (("takes_back", "takes away", pins.candidate), ("restores", "restores", pins.rollback))
    else:
        pairs = (("takes_back", "takes away", item.model.attempted), ("restores", "restores", pins.stack))
    for key, does, said in pairs:
        planned = getattr(plan.model, key)
        if planned is None and isinstance(item.model, Deployment):
            continue  # nothing served there before, whatever the ledger had accepted
        if said is not None and (planned or "").partition("@")[2] != said.partition("@")[2]:
            yield Problem(
                where,
                f"{plan.name} {does} {name_of(planned) if planned else 'nothing'}; this entry says {name_of(said)}",
                _WRITE,
                (("the plan", at(plan, key)),),
            )


RULE = Rule(
    "misdirected-rollback-plan", Scope.DOCUMENT, Severity.ERROR, "a rollback plan leads where it must not", check,
    kinds=("rollback/v1", "entry/v1"), contract=("12.2",), since=4, suppressible=False,
)  # fmt: skip
