"""The approvals that a plan needs, and the entries that give them (contract 5.1).

Invariant: one kind never stands for another; an approval of other documents, for another service or of a past
day covers nothing. A corrected approval is withdrawn.
"""

from __future__ import annotations

from hio_validate.execute.work import Approved
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Approval
from hio_validate.models.plan import Plan
from hio_validate.moment import moment
from hio_validate.repo import Item

ASK = "; its owner gives one with: "
"""Between the sentence of a missing approval and the command that gives it."""


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
    found, missing = [], []
    for kind in needed(plan.model):
        entries = [
            item
            for item in ledger.as_of()
            if isinstance(item.model, Approval) and item.model.approves == kind
        ]
        covering = [item for item in entries if not _why_not(item, plan, ledger, now)]
        if covering:
            best = max(covering, key=lambda item: (moment(item.model.until), item.name))
            found.append(Approved(f"{best.name}@{best.document.digest}", kind, best.model.until))
        else:
            reasons = [f"{item.name} {_why_not(item, plan, ledger, now)}" for item in entries]
            missing.append(_asked_for(kind, plan, reasons))
    return tuple(found), tuple(missing)


def for_stack(kind: str, stack: Item, service: str, ledger: Ledger, now: str) -> Approved | str:
    """The approval of a kind that covers work with a stack at `now`, else a sentence that asks for one."""
    reasons = []
    for item in reversed(list(ledger.as_of())):
        if isinstance(item.model, Approval) and item.model.approves == kind:
            why = _withheld(item, service, ledger, now) or _about_others(item, "stack", stack)
            if not why:
                return Approved(f"{item.name}@{item.document.digest}", kind, item.model.until)
            reasons.append(f"{item.name} {why}")
    known = f" ({'; '.join(reasons)})" if reasons else ""
    return (
        f"no approval of kind {kind} covers {stack.name} now{known}{ASK}"
        f"hio ledger append approval --service {service} --approves {kind} --stack {stack.name} "
        f'--scope "{kind} of {stack.name}" --owner OWNER --until YYYY-MM-DDTHH:MM:SSZ'
    )


def _why_not(item: Item, plan: Item, ledger: Ledger, now: str) -> str:
    """Why an approval of the right kind does not cover a plan; nothing where it does."""
    return _withheld(item, plan.service or "", ledger, now) or _about_others(item, "plan", plan)


def _withheld(item: Item, service: str, ledger: Ledger, now: str) -> str:
    """Why an approval gives nothing to a service at a moment; nothing where it does."""
    approval: Approval = item.model
    if service not in approval.services:
        return f"covers {', '.join(approval.services)}"
    if moment(approval.until) <= moment(now):
        return f"expired at {approval.until}"
    if moment(now) < moment(approval.at):
        return f"is not given before {approval.at}"
    if item.name in ledger.corrected:
        return f"was corrected by {ledger.corrected[item.name]}"
    return ""


def _about_others(item: Item, role: str, document: Item) -> str:
    """Which other documents an approval is about; nothing where it names none, or this one."""
    pins = item.model.pins.model_dump(exclude_none=True) if item.model.pins else {}
    if pins and pins.get(role, "").partition("@")[2] != document.document.digest:
        return f"is about {', '.join(sorted(pins))} {', '.join(pin.partition('@')[0] for pin in pins.values())} only"
    return ""


def _asked_for(kind: str, plan: Item, reasons: list[str]) -> str:
    known = f" ({'; '.join(reasons)})" if reasons else ""
    return (
        f"no approval of kind {kind} covers {plan.name} now{known}{ASK}"
        f"hio ledger append approval --service {plan.service} --approves {kind} "
        f'--plan {plan.name} --scope "the plan {plan.name}" --owner OWNER --until YYYY-MM-DDTHH:MM:SSZ'
    )
