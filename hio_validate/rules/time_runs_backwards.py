"""An entry older than what it follows, older than its evidence, or an approval that ends before it was given.

Times order nothing in the ledger (pins do), but they tell when something was dated to look better: the
decision of Monday on the run of Tuesday, a deployment recorded before the process that proves it had started.
Moments are compared exactly, fractions of a second too; equal ones are fine.

Judged: the entries that an entry follows, the runs and captures that it pins with the captures of a run's
legs, and, for a deployment or a rollback, the start of the processes that its capture shows. Where an entry
or what it follows is history from before hio (`imported: true`), whose clocks nobody can check any more, it
is a gate.

How to fix: date the entry when it was decided. In a committed entry leave the time and append a `correction`
that says what happened; where the clock of a host was wrong, say so there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Severity
from hio_validate.models.capture import Capture
from hio_validate.models.entry import Approval, Deployment, Rollback
from hio_validate.models.run import Run
from hio_validate.moment import moment
from hio_validate.repo import Item, references
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at

_HELP = "date it when it was decided; in a committed entry leave the time and append a correction"


def check(item: Item, view: View) -> Iterator[Problem]:
    yield from _before_what_it_follows(item, view)
    yield from _before_its_evidence(item, view)
    entry = item.model
    if isinstance(entry, Approval) and moment(entry.until) < moment(entry.at):
        yield Problem(
            at(item, "until"),
            f"this approval expires at {entry.until}, before it was given at {entry.at}",
            "write until when it holds",
            severity=_weight(item),
        )


def _weight(*items: Item) -> Severity | None:
    return Severity.GATE if any(item.model.imported for item in items) else None


def _before_what_it_follows(item: Item, view: View) -> Iterator[Problem]:
    ledger = view.ledger(item.service)
    for parent in map(ledger.entries.get, dict.fromkeys(ledger.after(item.name))):
        if parent is not None and moment(item.model.at) < moment(parent.model.at):
            yield Problem(
                at(item, "at"),
                f"{item.name} is of {item.model.at}, older than {parent.name} of "
                f"{parent.model.at}, which it follows",
                _HELP,
                (("what it follows", Place(parent.document, ("at",))),),
                _weight(item, parent),
            )


def _before_its_evidence(item: Item, view: View) -> Iterator[Problem]:
    for reference in references(item):
        cited = view.repo.find(reference.kind, reference.name, item.service) if reference.digest else None
        for seen in _moments(item, cited, view) if cited is not None and cited.model is not None else ():
            if moment(item.model.at) < moment(seen.at):
                yield Problem(
                    at(item, "at"),
                    f"{item.name} is of {item.model.at}, older than {seen.what} at {seen.at}, which it relies on; that is impossible",
                    _HELP,
                    (("the evidence", seen.place),),
                    _weight(item),
                )
                break


class _Seen(NamedTuple):
    """One moment of pinned evidence."""

    what: str
    at: str
    place: Place


def _moments(item: Item, cited: Item, view: View) -> Iterator[_Seen]:
    """When pinned evidence came to be; what tells most comes first."""
    match cited.model:
        case Capture():
            if isinstance(item.model, Deployment | Rollback):
                yield from _starts(cited)
            yield _taken(cited)
        case Run():
            if cited.model.at is not None:
                yield _Seen(f"the run {cited.name}", cited.model.at, Place(cited.document, ("at",)))
            legs = (view.repo.find(each.kind, each.name, cited.service) for each in references(cited))
            yield from (_taken(leg) for leg in legs if leg is not None and isinstance(leg.model, Capture))


def _taken(capture: Item) -> _Seen:
    return _Seen(f"the capture {capture.name}", capture.model.at, Place(capture.document, ("at",)))


def _starts(capture: Item) -> Iterator[_Seen]:
    """The start of each process: nothing was deployed before it ran."""
    for name, process in capture.model.processes.items():
        if process.started.at is not None:
            place = Place(capture.document, ("processes", name, "started", "at"))
            yield _Seen(f"the start of its own process {name}", process.started.at, place)


RULE = Rule(
    "time-runs-backwards", Scope.DOCUMENT, Severity.ERROR, "an entry is older than what it relies on", check,
    kinds=("entry/v1",), contract=("1.7", "8.1"), since=2, suppressible=False, spares_corrected=True,
)  # fmt: skip
