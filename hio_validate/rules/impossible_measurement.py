"""A number of an observation that cannot be so: not finite, less than nothing, in no unit of what it is, under no definition.

hio import takes no such number: it tells it as a finding and leaves it out. Where one stands among the records all the same,
somebody else wrote it, or a definition was taken from another version of hio. A rate of NaN wins every comparison that is
written the wrong way round, and a number under a definition that nobody knows is compared with nothing (contract 6.5).

How to fix: records are never edited. Import the result file again under another name with `hio import`, and rely on that
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file

_AGAIN = "records are never edited: import the file again with hio import"
_MOST = 20
"""Numbers that are told of one file."""


def check(item: Item, view: View) -> Iterator[Problem]:
    raw = view.repo.beside(item, item.model.records.file)
    if raw is None:
        return
    file = normpath(f"{item.file}/../{item.model.records.file}")
    for line, fault in islice(_faults(raw), _MOST):
        yield Problem(in_file(file, line, 1), fault, _AGAIN, (("the observation", at(item, "records")),))


def _faults(raw: bytes) -> Iterator[tuple[int, str]]:
    # Imported here: few repositories have observations, and reading records loads json.
    from hio_validate.evidence.observed import faults_of
    from hio_validate.evidence.records import Wrong, rows_of

    for line, found in rows_of(raw):
        if not isinstance(found, Wrong):
            for measured in found.metrics:
                yield from ((line, f"{found.name}: {fault}") for fault in faults_of(measured))


RULE = Rule(
    "impossible-measurement", Scope.DOCUMENT, Severity.ERROR, "a number of an observation cannot be so", check,
    kinds=("observation/v1",), contract=("6.5",), since=5, suppressible=False,
)  # fmt: skip
