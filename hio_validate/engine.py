"""Runs the rules and turns their problems into a report: ids, severities, positions, suppressions.

Invariants: a rule that raises is a finding and the others still run; a suppressed finding is counted, and a
suppression that keeps nothing quiet is a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hio_validate.diagnostic import Audited, Diagnostic, Location, Related, Report, Severity, Suppressed
from hio_validate.repo import ENDINGS, Item, Repo, references
from hio_validate.rules import RULES
from hio_validate.rules.base import Before, Place, Problem, Rule, Scope, View
from hio_validate.rules.internal_error import Crash
from hio_validate.settings.withholding import Shown, scrubbed, without_secrets
from hio_validate.source import Allowance, Document


def run(
    repo: Repo,
    before: Before | None = None,
    rules: Sequence[Rule] = RULES,
    gates: Sequence[str] = (),
    focus: frozenset[str] | None = None,
) -> Report:
    """Judge a repository. `before` is the base revision; with `focus` only findings in these files are told."""
    judge = _Judge(repo, rules, bool(gates))
    judge.everything(before)
    diagnostics = sorted(set(judge.found), key=reading_order)
    suppressed = judge.suppressed
    if focus is not None:
        diagnostics = [
            each for each in diagnostics if each.location.file in focus or each.rule == "internal-error"
        ]
        suppressed = [each for each in suppressed if each.diagnostic.location.file in focus]
    return Report(
        diagnostics=tuple(diagnostics),
        suppressed=tuple(suppressed),
        documents=len(repo.items) if focus is None else _judged(repo, before, focus),
        rules=in_scope(rules),
        gates=tuple(gates),
        unreadable=repo.unreadable,
    )


def of_history(
    found: Sequence[Diagnostic], documents: int, audited: Audited, rules: Sequence[Rule] = RULES
) -> Report:
    """Judge what an audit of the commits found."""
    nothing = Repo(_NoFiles(), ())
    judge = _Judge(nothing, rules, gated=False)
    judge.history(found)
    diagnostics = tuple(sorted(set(judge.found), key=reading_order))
    return Report(diagnostics, documents=documents, rules=in_scope(rules, history=True), audited=audited)


class _NoFiles:
    """A history is judged by what was found in it; no file is read again."""

    def paths(self) -> Sequence[str]:
        return ()

    def read(self, path: str) -> bytes:
        raise FileNotFoundError(path)


def in_scope(rules: Sequence[Rule], history: bool = False) -> int:
    """How many rules judge documents, or histories."""
    return sum((rule.scope is Scope.HISTORY) == history for rule in rules)


def _judged(repo: Repo, before: Before | None, focus: frozenset[str]) -> int:
    """Documents in focus, also those that were there before and are gone."""
    gone = {
        path
        for path in (before.paths() if before else ())
        if path in focus and path.endswith(ENDINGS) and path not in repo.paths
    }
    return len(gone) + sum(item.file in focus for item in repo.items)


def reading_order(found: Diagnostic) -> tuple[object, ...]:
    """By file, line and column, as a person reads."""
    return (found.location, found.rule, found.message)


class _Judge:
    def __init__(self, repo: Repo, rules: Sequence[Rule], gated: bool) -> None:
        self.repo, self.view, self.rules = repo, View(repo), rules
        self.gated = gated
        """Whether a gate was asked for: then no comment keeps anything quiet (contract 3.5)."""
        self.found: list[Diagnostic] = []
        self.suppressed: list[Suppressed] = []
        self._used: set[tuple[str, int, str]] = set()

    def everything(self, before: Before | None) -> None:
        for rule in self.rules:
            match rule.scope:
                case Scope.DOCUMENT:
                    for item in self.repo.items:
                        if _applies(rule, item):
                            self._try(rule, item, item, self.view)
                case Scope.REPO:
                    self._try(rule, None, self.view)
                case Scope.CHANGE:
                    self._try(rule, None, before, self.view)
        for rule in self.rules:
            if rule.scope is Scope.SUPPRESSION:
                self._try(rule, None, self._unused())

    def history(self, found: Sequence[Diagnostic]) -> None:
        for rule in self.rules:
            if rule.scope is Scope.HISTORY:
                self._try(rule, None, found)

    def _try(self, rule: Rule, item: Item | None, *given: object) -> None:
        try:
            problems = list(rule.check(*given))
        except Exception as error:
            self._crashed(rule, item, error)
            return
        for problem in problems:
            self._tell(rule, item, problem)

    def _crashed(self, rule: Rule, item: Item | None, error: Exception) -> None:
        crash = Crash(rule.id, item.document if item else None, error)
        for each in (known for known in self.rules if known.scope is Scope.CRASH):
            for problem in each.check(crash):
                self._tell(each, item, problem)

    def _tell(self, rule: Rule, item: Item | None, problem: Problem) -> None:
        location = self._location(problem.place)
        source_line, secrets = self._source_line(problem.place, location)
        found = Diagnostic(
            rule=rule.id,
            severity=self._severity(rule, item, problem),
            message=scrubbed(problem.message, secrets),
            location=location,
            help=scrubbed(problem.help, secrets),
            related=tuple(
                Related(scrubbed(said, secrets), self._location(place)) for said, place in problem.related
            ),
            source_line=source_line,
        )
        allowance = self._allowance(rule, problem.place.document, location)
        if allowance:
            self._used.add((location.file, allowance.line, rule.id))
        if allowance and not self.gated:
            self.suppressed.append(Suppressed(found, allowance.reason))
        else:
            self.found.append(found)

    def _severity(self, rule: Rule, item: Item | None, problem: Problem) -> Severity:
        """A frozen document is judged by the rules of its time, and what was put right since gives a note."""
        severity = problem.severity or rule.severity
        document = problem.place.document or (item.document if item else None)
        if document is not None and rule.spares_corrected and document.file in self.view.corrected:
            return Severity.NOTE
        spares = rule.suppressible or rule.spares_older
        newest = self._judged_by.get(document.file) if document and spares else None
        return Severity.NOTE if newest is not None and rule.since > newest else severity

    @cached_property
    def _judged_by(self) -> dict[str, int]:
        """File -> newest rule known when it was first pinned, or when hio wrote it."""
        return _stamps(self.repo)

    def _location(self, place: Place) -> Location:
        if place.fixed is not None:
            return place.fixed
        return place.document.locate(place.path, key=place.at_key) if place.document else Location(".")

    def _source_line(self, place: Place, location: Location) -> Shown:
        """The line that a finding stands on as it may be shown, and the secrets that must not be."""
        document = place.document if place.document and place.document.file == location.file else None
        if document is None and location.line:
            raw = self.repo.bytes_of(location.file)
            document = Document(location.file, raw) if raw is not None else None
        stated = self._stated.get(location.file, ())
        if document is None or not 0 < location.line <= len(document.lines):
            return Shown("", frozenset(value for _, value in stated))
        return without_secrets(document.lines, location.line, stated)

    @cached_property
    def _stated(self) -> dict[str, list[tuple[int, str]]]:
        """File -> line and value of every secret that it states."""
        return {
            item.file: [(item.document.locate(each.path).line, each.value) for each in secrets]
            for item in self.repo.items
            if (secrets := self.view.secrets(item))
        }

    def _allowance(self, rule: Rule, document: Document | None, location: Location) -> Allowance | None:
        if document is None or not rule.suppressible:
            return None
        return next(
            (
                each
                for each in document.allowances
                if each.rule == rule.id and each.line == location.line and each.reason
            ),
            None,
        )

    def _unused(self) -> list[tuple[Document, Allowance, str]]:
        known = {rule.id: rule for rule in self.rules}
        unused = []
        for item in self.repo.items:
            for each in item.document.allowances if item.model is not None else ():
                if (item.file, each.line, each.rule) not in self._used:
                    unused.append((item.document, each, _why_unused(each, known.get(each.rule))))
        return unused


def _why_unused(allowance: Allowance, rule: Rule | None) -> str:
    if rule is None:
        return "names no rule"
    if not rule.suppressible:
        return "has no effect: this rule cannot be suppressed"
    if not allowance.reason:
        return "has no effect: give the reason after a dash (# hio: allow RULE — reason)"
    return "keeps nothing quiet on this line"


def _applies(rule: Rule, item: Item) -> bool:
    return not rule.kinds or (item.kind in rule.kinds and item.model is not None)


def _stamps(repo: Repo) -> dict[str, int]:
    """The first stamp counts: pins of entries and runs in the order of their documents."""
    first: dict[str, int] = {}
    for item in repo.items:
        judged = getattr(item.model, "judged_by", None)
        if judged is None:
            continue
        first[item.file] = judged.rules
        for reference in references(item):
            target = repo.find(reference.kind, reference.name, item.service) if reference.digest else None
            if target is not None:
                first[target.file] = min(judged.rules, first.get(target.file, judged.rules))
    return first
