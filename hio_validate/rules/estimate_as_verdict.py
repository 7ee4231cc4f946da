"""An estimate that is told, or cited, as if it were a result.

A multiplied number is soon cited as if it had been measured. Contract 9.5: no verdict from an estimate. Its status is DRAFT
or NEEDS_CONTEXT; its sentences promise no percentage as if it had been seen and say nothing of optimality; and no ledger
entry, row of a matrix or known-good setting rests on one.

How to fix: write what could be at most, and what would show it; then measure it with a plan, and cite that run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.entry import Decision
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item, references
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.optimality_words import WORDS

_RESULT = re.compile(
    r"\b(?:(?:was|were|is|are|has been|have been|runs?|ran) \d[\d.]* ?(?:%|percent|times|x) (?:faster|slower)"
    r"|(?:improved|improves|accelerated|gained|gains|won|sped up) (?:by )?\d[\d.]* ?(?:%|percent|times)"
    r"|(?:was|were|has been|is|are) (?:proven|confirmed|verified))\b",
    re.IGNORECASE,
)


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Estimate):
        yield from _estimate(item, item.model)
    else:
        yield from _citing(item, view)


def _estimate(item: Item, estimate: Estimate) -> Iterator[Problem]:
    if estimate.status == "VERDICT":
        yield Problem(
            at(item, "status"),
            "an estimate is never a VERDICT: nothing of it was measured",
            "write DRAFT, or NEEDS_CONTEXT where the workload's shape is missing",
        )
    for path, text in _sentences(estimate):
        found = _RESULT.search(text) or WORDS.search(text)
        if found:
            yield Problem(
                at(item, *path),
                f'"{found[0]}" tells of a result, and an estimate has none',
                "say what it could be at most, and which experiment would show it",
            )


def _sentences(estimate: Estimate) -> Iterator[tuple[Path, str]]:
    """What a person reads as a conclusion; what a baseline or a profile showed stands in their own documents."""
    for index, finding in enumerate(estimate.findings):
        yield ("findings", index), finding
    for index, candidate in enumerate(estimate.candidates):
        yield ("candidates", index, "mechanism"), candidate.mechanism
        if candidate.change:
            yield ("candidates", index, "change"), candidate.change
    if estimate.next:
        yield ("next", "experiment"), estimate.next.experiment
        yield ("next", "proves"), estimate.next.proves


def _citing(item: Item, view: View) -> Iterator[Problem]:
    """Names that lead to an estimate where an entry or a run is meant, and an estimate among a decision's evidence."""
    for reference in references(item):
        if reference.kind not in ("entry/v1", "run/v1") or view.repo.find(
            reference.kind, reference.name, item.service
        ):
            continue
        if view.repo.find("estimate/v1", reference.name, item.service):
            yield _cited(item, reference.path, reference.name)
    if isinstance(item.model, Decision):
        for noun, said in item.model.evidence.items():
            name = said.removesuffix(".yaml").rpartition("estimates/")[2].partition("@")[0]
            if _NAME.fullmatch(name) and view.repo.find("estimate/v1", name, item.service):
                yield _cited(item, ("evidence", noun), name)


_NAME = re.compile(r"[A-Za-z0-9._+/-]+")


def _cited(item: Item, path: Path, name: str) -> Problem:
    return Problem(
        at(item, *path),
        f"{name} is an estimate: nothing was measured, and nothing rests on it",
        "measure it with a plan and cite that run, or leave it undecided",
    )


RULE = Rule(
    "estimate-as-verdict", Scope.DOCUMENT, Severity.ERROR, "an estimate told or cited as if it were a result", check,
    kinds=("estimate/v1", "entry/v1", "matrix/v1", "known-good/v1"), contract=("9.5",), since=6,
    suppressible=False, spares_corrected=True,
)  # fmt: skip
