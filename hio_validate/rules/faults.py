"""What the reader found in the bytes, as problems of the rule that names it. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Location
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
