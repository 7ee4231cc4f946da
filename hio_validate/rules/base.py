"""What a rule is: one file, one `RULE`, a generator that yields problems with symbolic paths.

Invariant: rules are pure. No clock, no I/O beside the tree they are given, no git, no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from hio_validate.diagnostic import Location, Path, Severity
from hio_validate.evidence.outcome import Outcome
from hio_validate.inheritance import Inheritance, Said, inheritance
from hio_validate.ledger import Ledger, ledgers
from hio_validate.models.entry import Deployment
from hio_validate.models.site import Site
from hio_validate.models.stack import Stack
from hio_validate.repo import Item, Repo, name_of, pin_of, references
from hio_validate.settings.argv import Misread
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.literal import Literal, literals_of_site, literals_of_stack
from hio_validate.source import Document


class Scope(StrEnum):
    """What a rule looks at, hence the signature of its check."""

    DOCUMENT = "document"
    """check(item, view)"""
    REPO = "repo"
    """check(view)"""
    CHANGE = "change"
    """check(before, view)"""
    SUPPRESSION = "suppression"
    """check(unused): comments that kept nothing quiet."""
    HISTORY = "history"
    """check(found): what an audit of the commits found, this rule's among it."""
    CRASH = "crash"
    """check(crash): a rule that raised."""


class Place(NamedTuple):
    """Where something stands: a symbolic path in a document, or a fixed place in any file."""

    document: Document | None
    path: Path = ()
    at_key: bool = False
    fixed: Location | None = None


class Problem(NamedTuple):
    """What a rule found; the engine adds id, severity and position."""

    place: Place
    message: str
    help: str = ""
    related: tuple[tuple[str, Place], ...] = ()
    severity: Severity | None = None
    """Only where one rule weighs a known and an unknown contradiction differently."""


class Before(Protocol):
    """The files as they were at the base revision."""

    def paths(self) -> Iterable[str]: ...

    def same(self, path: str, raw: bytes) -> bool:
        """Whether the file had exactly these bytes."""
        ...

    def commit_of(self, path: str) -> str:
        """The commit that has the file, as git is told."""
        ...


class View:
    """One repository with everything that rules share, computed once."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._inheritances: dict[str, Inheritance | None] = {}
        self._secrets: dict[str, tuple[Literal, ...]] = {}
        self._verdicts: dict[str, Outcome] = {}

    @cached_property
    def settings(self) -> Settings:
        return Settings(self.repo)

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        return ledgers(self.repo)

    def ledger(self, service: str | None) -> Ledger:
        return self.ledgers.get(service or "") or Ledger(service or "", {})

    def inheritance(self, matrix: Item) -> Inheritance | None:
        """A matrix, resolved; None where a side is missing or unreadable.

        A pinned matrix is frozen: it answers for what the ledger knew then, not for what was learned later.
        """
        if matrix.file not in self._inheritances:
            ledger, pinning = self.ledger(matrix.service), self._pinning.get(matrix.file)
            known = ledger.before(pinning[0].name) if pinning else ledger
            self._inheritances[matrix.file] = inheritance(matrix, self.repo, self.settings, known)
        return self._inheritances[matrix.file]

    def verdict(self, run: Item) -> Outcome:
        """What a readable run says and what that may be used for; of whole runs, whatever arms a row counts."""
        # Imported here: most documents need no verdict, and statistics are not free to load.
        from hio_validate.evidence.tiers import verdict

        if run.file not in self._verdicts:
            self._verdicts[run.file] = verdict(self._whole(run), self)
        return self._verdicts[run.file]

    def _whole(self, run: Item) -> Item:
        """The run as its document says it, where an item of it was narrowed to some arms."""
        return self.repo.find("run/v1", run.name, run.service) or run

    def misread(self, stack: Item, rule: str) -> Iterator[Misread]:
        """What a stack's arguments and environment got wrong, as far as it is this rule's."""
        return (wrong for wrong in self.settings.effective(stack).misread if wrong.rule == rule)

    @cached_property
    def corrected(self) -> frozenset[str]:
        """Files of the entries that a later correction of their ledger puts right."""
        return frozenset(
            ledger.entries[name].file for ledger in self.ledgers.values() for name in ledger.corrected
        )

    def deployment_of(self, matrix: Item) -> Item | None:
        """The first deployment of its service that pins a matrix."""
        pinning = self._pinning.get(matrix.file, ())
        return next((entry for entry in pinning if isinstance(entry.model, Deployment)), None)

    @cached_property
    def _pinning(self) -> dict[str, list[Item]]:
        """File of a matrix -> the entries of its service that pin it, in the order of the ledger."""
        found: dict[str, list[Item]] = {}
        for service, ledger in self.ledgers.items():
            for entry in ledger.as_of():
                pin = pin_of(entry, "matrix")
                matrix = self.repo.find("matrix/v1", name_of(pin), service) if pin else None
                if matrix is not None and matrix.service == service:
                    found.setdefault(matrix.file, []).append(entry)
        return found

    def secrets(self, item: Item) -> tuple[Literal, ...]:
        """The secrets whose values a document states; they are shown nowhere."""
        if item.file not in self._secrets:
            self._secrets[item.file] = tuple(self._literals(item))
        return self._secrets[item.file]

    def _literals(self, item: Item) -> Iterator[Literal]:
        if isinstance(item.model, Stack):
            known = self.settings.knowledge(item.model, {})
            grammars = {role: Grammar(each.family, each.catalogue) for role, each in known.items()}
            yield from literals_of_stack(item.model, grammars)
        elif isinstance(item.model, Site):
            yield from literals_of_site(item.model)

    @cached_property
    def citing_captures(self) -> dict[tuple[str, str], list[Item]]:
        """(kind, bare name of a capture) -> the matrices or runs that cite one of that name, in path order."""
        found: dict[tuple[str, str], list[Item]] = {}
        for kind in ("matrix/v1", "run/v1"):
            for item in self.repo.of(kind):
                cited = (each.name for each in references(item) if each.kind == "capture/v1")
                for name in {name.rpartition("/")[2] for name in cited}:
                    found.setdefault((kind, name), []).append(item)
        return found


class Rule(NamedTuple):
    """A named defect, how it weighs, and how it is found."""

    id: str
    scope: Scope
    severity: Severity
    summary: str
    check: Callable[..., Iterator[Problem]]
    kinds: tuple[str, ...] = ()
    """Document scope: the kinds it looks at; none = every document, also those that are not valid."""
    contract: tuple[str, ...] = ()
    since: int = 1
    suppressible: bool = True
    spares_older: bool = False
    """Gives only notes on documents frozen before it, as every suppressible rule does; pins, ledger and history never do."""
    spares_corrected: bool = False
    """An entry that a later correction puts right gets a note: it stays as it is, and nobody can mend it."""


def at(item: Item, *path: str | int) -> Place:
    """The value at a path of an item's document."""
    return Place(item.document, path)


def at_key(item: Item, *path: str | int) -> Place:
    """The key at the end of a path of an item's document."""
    return Place(item.document, path, at_key=True)


def in_file(file: str, line: int = 0, column: int = 0) -> Place:
    """A place in a file that is no document."""
    return Place(None, fixed=Location(file, line, column))


def origins(said: Iterable[Said]) -> tuple[tuple[str, Place], ...]:
    """Where values come from, each with its side and origin, as the related places of a problem."""
    return tuple(
        (
            f"{each.side}: {each.setting.shown} ({each.setting.origin})",
            Place(each.stack.document, each.setting.path),
        )
        for each in said
    )


def listed(words: Iterable[Any], most: int = 6) -> str:
    """Some words, and how many more there are."""
    shown = [str(word) for word in words]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def with_article(noun: str) -> str:
    """`a baseline`, `an approval`: the kind of an entry in a sentence."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"
