"""What a reader found, of bytes or of a history, as problems of the rule that names it. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Location
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem


def of_rule(item: Item, rule: str) -> Iterator[Problem]:
    """The faults of a document that belong to one rule."""
    document = item.document
    for fault in document.faults:
        if fault.rule == rule:
            related: tuple[tuple[str, Place], ...] = ()
            if fault.first:
                first = Place(document, fixed=Location(document.file, *fault.first))
                related = (("the first one is here", first),)
            place = Place(document, fixed=Location(document.file, fault.line, fault.column))
            yield Problem(place, fault.message, fault.help, related)


def in_history(found: Sequence[Diagnostic], rule: str) -> Iterator[Problem]:
    """What an audit found that belongs to one rule."""
    for each in found:
        if each.rule == rule:
            related = tuple((said, Place(None, fixed=place)) for said, place in each.related)
            yield Problem(Place(None, fixed=each.location), each.message, each.help, related, each.severity)
