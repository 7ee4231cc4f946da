"""What hio says about a document: severity, place, sentence. Imports nothing of ours.

Invariant: a diagnostic always has a rule id, a file and one complete sentence; line 0 means "the file
as a whole".
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

Path = tuple[str | int, ...]
"""A symbolic place in a document, e.g. ("rows", 2, "to"). Line and column are found late, from this."""


class Severity(StrEnum):
    """How a finding weighs (docs/adr/0005-error-gate-note.md)."""

    ERROR = "error"
    """A contradiction: blocks a commit."""
    GATE = "gate"
    """Honest but not deployable: shown, and blocks only where the gate is asked for."""
    NOTE = "note"
    """Worth knowing."""


class Location(NamedTuple):
    """A place in a file; line and column count from 1, and line 0 is the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Related(NamedTuple):
    """A second place that explains the first, e.g. where the other value comes from."""

    message: str
    location: Location


class Diagnostic(NamedTuple):
    """One finding, ready to print."""

    rule: str
    severity: Severity
    message: str
    location: Location
    help: str = ""
    related: tuple[Related, ...] = ()
    source_line: str = ""


class Suppressed(NamedTuple):
    """A finding that a `# hio: allow RULE — reason` comment on its line keeps quiet; still counted."""

    diagnostic: Diagnostic
    reason: str


class Audited(NamedTuple):
    """What an audit of a history looked at."""

    head: str
    """Full id of the commit at its end."""
    since: str | None
    """Full id of the commit where it began, itself left out; None: the first commits."""
    commits: int
    entries: int
    """Entries of ledgers that stand at its end."""
    files: int
    """Other files that are frozen by where they stand: captures, runs with all their files."""
    anchors: int
    """Anchors that were compared, recorded and given ones."""
    decisions: int | None
    """Additions of decisions, approvals and deployments whose signature was checked; None: not asked for."""
    signed: int | None
    """Those of them that are signed as asked."""
    uncommitted: int
    """Changed files in the rooms that no commit has; not part of any history."""


class Report(NamedTuple):
    """What one run of the rules found.

    `documents` counts the documents that were judged, `rules` the rules that ran. `gates` are the gates
    the caller asked for: with any of them, a finding of severity gate fails the run.
    """

    diagnostics: tuple[Diagnostic, ...]
    suppressed: tuple[Suppressed, ...] = ()
    documents: int = 0
    rules: int = 0
    gates: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Files that the operating system would not let us read, with the reason."""
    audited: Audited | None = None
    """Where a history was audited: what was looked at."""

    def of(self, severity: Severity) -> list[Diagnostic]:
        return [found for found in self.diagnostics if found.severity is severity]

    @property
    def exit_code(self) -> int:
        """0 no error, 1 errors or asked-for gates, 3 could not check (precedence 3 > 1 > 0)."""
        crashed = any(found.rule == "internal-error" for found in self.diagnostics)
        if crashed or self.unreadable or not self.documents:
            return 3
        blocking = bool(self.of(Severity.ERROR)) or (bool(self.gates) and bool(self.of(Severity.GATE)))
        return int(blocking)
