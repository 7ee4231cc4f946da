"""The approvals that plans, probes and deployments need, and the entries that give them (contract 5.1).

Invariant: one kind never stands for another; an approval of other documents, for another service or of a past
day covers nothing. A corrected approval is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hio_validate.execute.work import Approved
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Approval
from hio_validate.models.plan import Plan
from hio_validate.moment import moment
from hio_validate.repo import Item, name_of

ASK = "; its owner gives one with: "
"""Between the sentence of a missing approval and the command that gives it."""

About = Mapping[str, Item | None]
"""Key among an approval's pins -> the document that the work is about; None: it has none of that kind."""


def needed(plan: Plan) -> tuple[str, ...]:
    """The kinds of approval that a plan needs."""
    kinds = ["load-test"]
    if plan.serving.during == "stop":
        kinds.append("stop-production")
    if plan.serving.then == "keep-winner":
        kinds.append("deploy")
    return tuple(kinds)


def given(plan: Item, ledger: Ledger, now: str) -> tuple[tuple[Approved, ...], tuple[str, ...]]:
    """The approvals that cover a plan at `now` (UTC, ends in Z), and a sentence for each that is missing."""
    scope = f'--plan {plan.name} --scope "the plan {plan.name}"'
    answers = [_given(kind, ledger, now, {"plan": plan}, plan, scope) for kind in needed(plan.model)]
    return (
        tuple(each for each in answers if isinstance(each, Approved)),
        tuple(each for each in answers if isinstance(each, str)),
    )


def for_stack(kind: str, stack: Item, ledger: Ledger, now: str, matrix: Item | None = None) -> Approved | str:
    """The approval of a kind that covers work with a stack at `now`, else a sentence that asks for one.

    `matrix`: that of the change, where the work is one.
    """
    scope = f'--stack {stack.name} --scope "{kind} of {stack.name}"'
    return _given(kind, ledger, now, {"stack": stack, "matrix": matrix}, stack, scope)


def _given(kind: str, ledger: Ledger, now: str, about: About, named: Item, scope: str) -> Approved | str:
    """Of those that cover it the one that ends last, else the sentence that asks for one."""
    entries = [
        item for item in ledger.as_of() if isinstance(item.model, Approval) and item.model.approves == kind
    ]
    against = {item.name: _why_not(item, ledger, now, about) for item in entries}
    covering = [item for item in entries if not against[item.name]]
    if covering:
        best = max(covering, key=lambda item: (moment(item.model.until), item.name))
        return Approved(best.pin, kind, best.model.until)
    return _asked_for(kind, ledger.service, named, scope, (f"{name} {why}" for name, why in against.items()))


def _why_not(item: Item, ledger: Ledger, now: str, about: About) -> str:
    """Why an approval of the right kind does not cover the work; nothing where it does."""
    approval: Approval = item.model
    if ledger.service not in approval.services:
        return f"covers {', '.join(approval.services)}"
    if moment(approval.until) <= moment(now):
        return f"expired at {approval.until}"
    if moment(now) < moment(approval.at):
        return f"is not given before {approval.at}"
    if item.name in ledger.corrected:
        return f"was corrected by {ledger.corrected[item.name]}"
    return _about_others(approval, about)


def _about_others(approval: Approval, about: About) -> str:
    """Which other documents an approval is about; nothing where it names none, or those of the work."""
    pins = approval.pins.model_dump(exclude_none=True) if approval.pins else {}
    named = {role: pin.partition("@")[2] for role, pin in pins.items() if role in about}
    found = {role: item.document.digest for role, item in about.items() if item is not None}
    if not pins or (named and all(found.get(role) == digest for role, digest in named.items())):
        return ""
    return f"is about {', '.join(f'{role} {name_of(pin)}' for role, pin in pins.items())} only"


def _asked_for(kind: str, service: str, named: Item, scope: str, against: Iterable[str]) -> str:
    told = "; ".join(against)
    return (
        f"no approval of kind {kind} covers {named.name} now{f' ({told})' if told else ''}{ASK}"
        f"hio ledger append approval --service {service} --approves {kind} {scope} "
        "--owner OWNER --until YYYY-MM-DDTHH:MM:SSZ"
    )
