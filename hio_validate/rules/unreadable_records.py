"""The records of an observation are not what hio import wrote: a line is no record, a name stands twice, the count is another.

An observation says what another tool measured, one record a line. A reader that skips a line it does not understand
compares with what happened to be readable, and a name that means two records lets each side of a comparison take the one
it likes. So every line is a record, every name is one, and there are as many as the document says (contract 6.5, 7.3).

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
"""Lines that are told of one file; a file of another kind has a million."""


def check(item: Item, view: View) -> Iterator[Problem]:
    # Imported here: few repositories have observations, and reading records loads json.
    from hio_validate.evidence.records import Wrong, rows_of

    kept = item.model.records
    raw = view.repo.beside(item, kept.file)
    if raw is None:
        return
    file, lines = normpath(f"{item.file}/../{kept.file}"), dict[str, int]()
    wrong = []
    for line, found in rows_of(raw):
        if isinstance(found, Wrong):
            wrong.append((line, f"this line is no record: {found}"))
        elif first := lines.get(found.name):
            wrong.append((line, f"a second record called {found.name}; the first is on line {first}"))
        else:
            lines[found.name] = line
    for line, message in islice(wrong, _MOST):
        yield Problem(in_file(file, line, 1), message, _AGAIN, (("the observation", at(item, "records")),))
    count = raw.count(b"\n")
    if count != kept.count:
        yield Problem(
            at(item, "records", "count"), f"count is {kept.count}; {kept.file} has {count} lines", _AGAIN
        )


RULE = Rule(
    "unreadable-records", Scope.DOCUMENT, Severity.ERROR, "records of an observation are not what hio import wrote", check,
    kinds=("observation/v1",), contract=("6.5", "7.3"), since=5, suppressible=False,
)  # fmt: skip
