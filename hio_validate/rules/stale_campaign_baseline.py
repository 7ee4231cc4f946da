"""A campaign whose baseline is not, or no longer, what the ledger calls the parent.

A champion replaces what serves. When an increment was accepted meanwhile, or the entry that is named is about another
stack, the campaign compares with something nobody serves any more. Contract 10.2: the baseline is recorded once and run
again after each material change; what changed the parent is one. Held against the ledger of the service, and only until the
campaign has run: its runs keep the baseline of their day.

How to fix: let `baseline` name the current parent and its entry (`hio ledger show` names both), and plan the cells from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import runs_of
from hio_validate.evidence.design import full_name
from hio_validate.models.campaign import Campaign
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    campaign: Campaign = item.model
    said = campaign.baseline
    if said is None or said.stack is None or runs_of(item, view.repo):
        return
    named = view.repo.find("entry/v1", said.entry, item.service) if said.entry else None
    if named is not None and named.model is not None:
        pin = pin_of(named, "stack")
        if pin is None or full_name(name_of(pin), named) != full_name(said.stack, item):
            about = name_of(pin) if pin else "no stack"
            yield Problem(
                at(item, "baseline", "entry"),
                f"{named.name} is about {about}, the baseline is {said.stack}",
                "name the entry that made it the parent",
                (("the entry", at(named, "kind")),),
            )
    ledger = view.ledger(item.service)
    parent = ledger.parent
    if parent is not None and parent != said.stack.rpartition("/")[2]:
        entry = ledger.parent_entry
        yield Problem(
            at(item, "baseline", "stack"),
            f"the parent of {item.service} is {parent}" + (f", by {entry.name}" if entry else ""),
            "measure against what serves: its stack, its entry",
            (("the entry", at(entry, "kind")),) if entry else (),
        )


RULE = Rule(
    "stale-campaign-baseline", Scope.DOCUMENT, Severity.ERROR, "a campaign compares with what is not the parent", check,
    kinds=("campaign/v1",), contract=("10.1", "10.2"), since=5,
)  # fmt: skip
