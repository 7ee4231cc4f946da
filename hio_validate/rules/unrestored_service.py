"""A plan that stops a service and does not say what serves afterwards, or would bring back something else.

The end state is part of the plan (contract 4.3): `restore` names the stack that serves again, and that is what serves
now, by the ledger: the latest deployment or rollback, else the current parent. Keeping the winner is a deployment, and
needs an approval of kind `deploy` (contract 5.1); without one in the ledger it is a gate.

How to fix: with `during: stop` write `restore:` and the stack that the ledger says serves; with `leave` or `none` remove
it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import full_name
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Approval, Deployment
from hio_validate.models.plan import Plan
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.planned import is_open


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    serving, ledger = plan.serving, view.ledger(item.service)
    if serving.during == "stop" and serving.restore is None:
        yield Problem(
            at(item, "serving", "during"),
            f"{item.service} is stopped, and nothing says what serves afterwards",
            f"write restore: {serves(ledger) or 'the stack that serves now'}",
        )
    elif serving.during != "stop" and serving.restore is not None:
        yield Problem(
            at(item, "serving", "restore"),
            f"nothing is stopped (during: {serving.during}), so nothing is restored",
            "remove restore:, or write during: stop",
        )
    elif serving.restore is not None and is_open(item, view):
        now = serves(ledger)
        if now is not None and full_name(serving.restore, item) != full_name(now, item):
            yield Problem(
                at(item, "serving", "restore"),
                f"{serving.restore} would serve afterwards; what serves now is {now}, by the ledger",
                f"write restore: {now}",
            )
    if serving.then == "keep-winner" and is_open(item, view) and not _may_deploy(item, ledger):
        yield Problem(
            at_key(item, "serving", "then"),
            f"keeping the winner deploys it, and the ledger has no approval of kind deploy for {item.service}",
            "ask the owner and append the approval, or write then: restore-parent",
            severity=Severity.GATE,
        )


def serves(ledger: Ledger) -> str | None:
    """The stack that serves, by the ledger: what was deployed last, else the current parent."""
    entry = ledger.deployment
    if entry is None:
        return ledger.parent
    pins = entry.model.pins
    pin = pins.candidate if isinstance(entry.model, Deployment) else pins.stack
    return name_of(pin) if pin else None


def _may_deploy(item: Item, ledger: Ledger) -> bool:
    """Whether some approval of kind deploy covers the service; its expiry is checked when the plan is run."""
    return any(
        isinstance(entry.model, Approval)
        and entry.model.approves == "deploy"
        and item.service in entry.model.services
        for entry in ledger.entries.values()
    )


RULE = Rule(
    "unrestored-service", Scope.DOCUMENT, Severity.ERROR, "the service that a trial stops is not brought back", check,
    kinds=("plan/v1",), contract=("4.3", "5.1"), since=3,
)  # fmt: skip
