"""What a review says, as plain records: per service settings, rows, entries, runs, captures, findings.

Invariant: nothing here holds a secret's value, and every tuple has an order that depends on its content alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from hio_validate.diagnostic import Severity
from hio_validate.settings.difference import Group


class How(StrEnum):
    """What became of a document."""

    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"
    UNTOUCHED = "untouched"
    """Its own file is as before; what it depends on is not."""
    SERVES = "serves"
    """It takes the place of what served before."""


class SettingChange(NamedTuple):
    """One setting in force, before and after; `hidden` where no changed line of a document says so."""

    setting: str
    group: Group
    from_: str
    to: str
    from_origin: str
    to_origin: str
    hidden: bool = False
    cause: str = ""
    """What moved it, where the stack's own lines do not: a build, a family table, a site."""


class StackChange(NamedTuple):
    """What changes in the settings in force of one stack, or of several that change alike."""

    stacks: tuple[str, ...]
    how: How
    was: str | None = None
    """Its name before, where it was renamed."""
    against: str | None = None
    """The stack that a new one is compared with."""
    because: str = ""
    """Why that one, or why with none."""
    settings: tuple[SettingChange, ...] = ()
    unlisted: Mapping[str, int] = {}
    """Group -> how many settings are in it that nobody needs to read one by one."""

    @property
    def hidden(self) -> int:
        return sum(each.hidden for each in self.settings)


class Exposure(NamedTuple):
    """A stack that would listen to more than before. `approval` covers it, where there is one."""

    stack: str
    setting: str
    from_: str
    to: str
    reason: str
    approval: str | None = None


class Evidence(NamedTuple):
    """What a row cites: the entry, its run, its published number."""

    entry: str
    kind: str
    run: str | None = None
    published: str | None = None


class RowChange(NamedTuple):
    """One setting of a matrix: its disposition before and after, None where no row names it."""

    setting: str
    before: str | None
    after: str | None
    values: str = ""
    """`1 -> 2` where the row states values and they are not part of what changed."""
    evidence: Evidence | None = None
    because: str = ""
    unfounded: bool = False
    """Whether it decides something and cites nothing."""


class MatrixChange(NamedTuple):
    """What changes in a matrix."""

    name: str
    how: How
    was: str | None
    parent: str
    candidate: str
    rows: tuple[RowChange, ...] = ()
    preserved: int = 0
    """Settings that its rows preserve."""
    others: tuple[str, ...] = ()
    """Sentences on what changed beside the rows."""


class Added(NamedTuple):
    """A document of the record (an entry, a run, a capture) that is new."""

    kind: str
    name: str
    says: tuple[str, ...]
    """Sentences, the most telling first."""
    because: str = ""
    """The words of whoever wrote it."""


class Finding(NamedTuple):
    """An error or a gate at the head, or one that was resolved."""

    rule: str
    severity: Severity
    service: str | None
    document: str
    line: int
    reason: str
    help: str = ""
    new: bool = True

    @property
    def blocks(self) -> str:
        return "merging" if self.severity is Severity.ERROR else "deployment"


class Quiet(NamedTuple):
    """A finding that a comment of this change keeps quiet, and the reason it gives."""

    rule: str
    service: str | None
    document: str
    line: int
    finding: str
    reason: str


class StatusChange(NamedTuple):
    """The status of a stack in a service, before and after; None where the stack does not exist."""

    stack: str
    before: str | None
    after: str | None
    why: str
    missing: tuple[str, ...] = ()


class ServiceReview(NamedTuple):
    """What changes in one service."""

    service: str
    how: How
    serving: tuple[str | None, str | None]
    """The stack that the ledger says serves, before and after."""
    stacks: tuple[StackChange, ...] = ()
    worded: tuple[str, ...] = ()
    """Stacks whose text changed and whose settings did not."""
    exposures: tuple[Exposure, ...] = ()
    matrices: tuple[MatrixChange, ...] = ()
    entries: tuple[Added, ...] = ()
    records: tuple[Added, ...] = ()
    """Runs and captures."""
    statuses: tuple[StatusChange, ...] = ()

    @property
    def needs_approval(self) -> tuple[Exposure, ...]:
        return tuple(each for each in self.exposures if each.approval is None)


class Unread(NamedTuple):
    """A document that one side cannot read, and what is therefore not known."""

    file: str
    side: str
    unknown: str


class Renamed(NamedTuple):
    """A document that has another name or place now."""

    kind: str
    was: str
    now: str


class Review(NamedTuple):
    """A change of the documents, judged."""

    base: str
    head: str
    basis: str
    """What exactly was compared, in a sentence."""
    services: tuple[ServiceReview, ...] = ()
    shared: tuple[Added, ...] = ()
    """Builds, family tables and sites that changed."""
    findings: tuple[Finding, ...] = ()
    """Errors and gates at the head; `new` tells those that the change brings."""
    resolved: tuple[Finding, ...] = ()
    quiet: tuple[Quiet, ...] = ()
    """What comments of this change keep quiet."""
    renamed: tuple[Renamed, ...] = ()
    unread: tuple[Unread, ...] = ()
    changed: int = 0
    """Files of the rooms that differ."""
    gates: tuple[str, ...] = ()
    """Gates that were asked for."""
    incomplete: tuple[str, ...] = ()
    """Why the review is not complete, e.g. a rule that crashed."""

    def blocking(self, service: str | None, severity: Severity) -> list[Finding]:
        """What blocks in one service, or in what all share."""
        return [each for each in self.findings if each.service == service and each.severity is severity]

    @property
    def exit_code(self) -> int:
        """0 nothing blocks merging, 1 errors (or gates that were asked for), 3 not complete."""
        if self.incomplete:
            return 3
        errors = any(each.severity is Severity.ERROR for each in self.findings)
        return int(errors or (bool(self.gates) and self.blocks_deployment))

    @property
    def blocks_deployment(self) -> bool:
        """Whether an error, a gate or a missing approval does."""
        return bool(self.findings) or any(service.needs_approval for service in self.services)
