"""An approval of another kind, for another service, expired, given elsewhere, or about other documents.

An owner said yes once, to something. The yes to a load test is no yes to a deployment, the yes of one
service's owner is none for another service, and the yes of last month ended last month. Contract 5.1:
approvals are typed, name the affected services, their scope and expiry, and one never stands for another.

Judged wherever an approval is relied on: in the pins of a deployment and in the `owner-approval` of a
decision to deploy. The entry that relies on it must follow it in the ledger, lie before its `until`, and
deploy the stack and the matrix that it names, where it names any. In history from before hio (`imported:
true`) it is a gate.

How to fix: ask the owner again, append the approval (kind `approval`, `approves: deploy`, this service, the
documents it is about), and rely on that one. Neither `--yes` nor a decision replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Approval, Decision, Deployment
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed, with_article

_AGAIN = "ask the owner again and append an approval of kind deploy for this service"


def check(item: Item, view: View) -> Iterator[Problem]:
    severity = Severity.GATE if item.model.imported else None
    for place, approval in _relied_on(item, view):
        for message, advice, key in _faults(item, approval, view):
            related = (("the approval", Place(approval.document, (key,))),)
            yield Problem(place, message, advice, related, severity)


def _relied_on(item: Item, view: View) -> Iterator[tuple[Place, Item]]:
    """Where an entry relies on an approval, and the entry that it names there."""
    match item.model:
        case Deployment(pins=pins) if pins.approval:
            found = view.repo.find("entry/v1", pins.approval.partition("@")[0], item.service)
            if found is not None and found.model is not None:
                yield at(item, "pins", "approval"), found
        case Decision(decision="deploy", evidence=evidence):
            found = view.ledger(item.service).entry(evidence.get("owner-approval", ""))
            if found is not None and isinstance(found.model, Approval):
                yield at(item, "evidence", "owner-approval"), found


def _faults(item: Item, approval: Item, view: View) -> Iterator[tuple[str, str, str]]:
    """(message, advice, key of the approval that shows it) of everything that it does not cover."""
    given = approval.model
    if not isinstance(given, Approval):
        yield f"{approval.name} is {with_article(given.kind)}, no approval", _AGAIN, "kind"
        return
    if given.approves != "deploy":
        yield (
            f"{approval.name} approves {given.approves}, not deploy; one never stands for another",
            _AGAIN,
            "approves",
        )
    if item.service not in given.services:
        yield f"{approval.name} covers {listed(given.services)}, not {item.service}", _AGAIN, "services"
    if moment(given.until) < moment(item.model.at):
        yield (
            f"{approval.name} expired at {given.until}, before this entry at {item.model.at}",
            _AGAIN,
            "until",
        )
    ledger = view.ledger(item.service)
    if ledger.entry(approval.name) is not approval or approval.name not in ledger.ancestors(
        ledger.after(item.name)
    ):
        advice = (
            "an entry relies only on what it follows: append the approval first, then this entry after it"
        )
        yield f"{item.name} does not follow {approval.service}/{approval.name}", advice, "id"
    for what, approved, deployed in _documents(item, given):
        yield f"{approval.name} is about the {what} {approved}, not {deployed}", _AGAIN, "pins"


def _documents(item: Item, approval: Approval) -> Iterator[tuple[str, str, str]]:
    """What the approval is about and what is deployed instead; equal bytes are the same document."""
    approved, pins = approval.pins, item.model.pins
    deployed = getattr(pins, "candidate", None) or getattr(pins, "stack", None)
    for what, one, other in (
        ("stack", getattr(approved, "stack", None), deployed),
        ("matrix", getattr(approved, "matrix", None), getattr(pins, "matrix", None)),
    ):
        if one is not None and other is not None and one.partition("@")[2] != other.partition("@")[2]:
            yield what, one.partition("@")[0], other.partition("@")[0]


RULE = Rule(
    "approval-does-not-cover", Scope.DOCUMENT, Severity.ERROR, "an approval does not cover what relies on it", check,
    kinds=("entry/v1",), contract=("5.1",), since=2, suppressible=False,
)  # fmt: skip
