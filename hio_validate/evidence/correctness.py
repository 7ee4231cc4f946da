"""Open correctness failures: numbers of a stack that is known to be wrong are numbers of a broken machine (contract 9.6)."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.evidence.design import full_name
from hio_validate.ledger import Ledger
from hio_validate.models.entry import FailedRun
from hio_validate.repo import Item, name_of, pin_of

WRONG = ("non-finite-values", "malformed-state")
"""Hazards of a failed run that say so."""


def open_failures(ledger: Ledger, stack: str, item: Item) -> Iterator[Item]:
    """The failures of a stack, as a document names it, that no later correction puts right."""
    for entry in ledger.as_of():
        pin = pin_of(entry, "stack") if isinstance(entry.model, FailedRun) else None
        if pin is None or entry.model.hazard not in WRONG or entry.name in ledger.corrected:
            continue
        if full_name(name_of(pin), entry) == full_name(stack, item):
            yield entry
