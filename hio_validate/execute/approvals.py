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


def _why_not(item: Item, plan: Item, ledger: Ledger, now: str) -> str:
    """Why an approval of the right kind does not cover a plan; nothing where it does."""
    approval: Approval = item.model
    if plan.service not in approval.services:
        return f"covers {', '.join(approval.services)}"
    if moment(approval.until) <= moment(now):
        return f"expired at {approval.until}"
    if moment(now) < moment(approval.at):
        return f"is not given before {approval.at}"
    if item.name in ledger.corrected:
        return f"was corrected by {ledger.corrected[item.name]}"
    pins = approval.pins.model_dump(exclude_none=True) if approval.pins else {}
    if pins and pins.get("plan", "").partition("@")[2] != plan.document.digest:
        return f"is about {', '.join(sorted(pins))} {', '.join(pin.partition('@')[0] for pin in pins.values())} only"
    return ""


def _asked_for(kind: str, plan: Item, reasons: list[str]) -> str:
    known = f" ({'; '.join(reasons)})" if reasons else ""
    return (
        f"no approval of kind {kind} covers {plan.name} now{known}{ASK}"
        f"hio ledger append approval --service {plan.service} --approves {kind} "
        f'--plan {plan.name} --scope "the plan {plan.name}" --owner OWNER --until YYYY-MM-DDTHH:MM:SSZ'
    )
