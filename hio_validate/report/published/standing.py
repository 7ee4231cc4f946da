"""What serves, what the next change starts from, the way back: as the ledger says."""

from __future__ import annotations

from typing import Any

from hio_validate.ledger import NOTHING, Ledger
from hio_validate.models.entry import Deployment, Opportunity
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.report.ledger import as_shape

Shape = dict[str, Any]
_NO_APPROVAL_MATTERS = "9999-12-31T23:59:59Z"
"""A moment for the ledger's page, of which only what serves is taken: a report has no clock."""


def of_ledger(ledger: Ledger) -> Shape:
    """`deployed`, `parent` (each null where there is none) and `rollback`."""
    told = as_shape(ledger, (), _NO_APPROVAL_MATTERS)
    return {"deployed": told["deployed"], "parent": told["parent"], "rollback": _rollback(ledger)}


def decision(item: Item) -> Shape:
    """An entry that stands on a run: what it decides and why."""
    model = item.model
    said = f"{model.benefit}; next: {model.next}" if isinstance(model, Opportunity) else model.because
    stack = pin_of(item, "stack")
    return {
        "entry": item.name,
        "kind": getattr(model, "decision", None) or model.kind,
        "by": model.by,
        "at": model.at,
        "factor": getattr(model, "factor", None),
        "stack": name_of(stack) if stack else None,
        "because": said,
    }


def _rollback(ledger: Ledger) -> Shape:
    """The way back from what serves; nothing to go back from where nothing was deployed."""
    entry = ledger.deployment
    plan = pin_of(entry, "rollback_plan") if entry is not None else None
    if entry is None or not isinstance(entry.model, Deployment):
        return {"command": None, "plan": None, "restores": None}
    to = entry.model.pins.rollback
    return {
        "command": f"hio rollback {ledger.service}",
        "plan": name_of(plan) if plan else None,
        "restores": name_of(to) if to else NOTHING,
    }
