"""A deployment without its matrix, parent, capture, rollback or approval, or with one that is about something else.

A deployment is the one entry that others bet their night on. It pins the matrix that accounts for every
difference, the stack that served before, a capture that proves what serves now, the stack to go back to and
the owner's approval. Where the accepted stack itself is deployed (`parent` and `candidate` are one), nothing is
replaced, and no matrix is needed. The matrix must be that of this parent and candidate and complete (contract 8.3: no
`retest`, nothing undecided, nothing missing, every cited entry before the deployment), judged by the ledger
as it was then. The capture must claim the candidate. The way back must lead to the parent or to a stack that
was accepted before. A rollback undoes a deployment that it follows, to the stack which that deployment named; or it
took back an attempt that never became a deployment (`attempted`), and says what failed of it. What was attempted
serves again only where it was accepted before: the accepted stack itself was started anew.

Whether the approval covers it is asked by `approval-does-not-cover`. History from before hio (`imported:
true`) may be incomplete, and may say what the owner went past (`overridden`): there every finding is a gate.

How to fix: complete the matrix, take a capture of the live process with `hio capture --stack <candidate>`,
pin what is missing, and only then append the deployment. In a committed entry nothing is edited: deploy
again, or roll back.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Inheritance
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Deployment, Rollback
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key, listed, with_article
from hio_validate.rules.cited import decided_rows

_NEEDED = {
    "matrix": "the matrix that accounts for every difference",
    "parent": "the stack that served before",
    "capture": "the capture that proves what serves now",
    "rollback": "the stack to go back to",
    "approval": "the owner's approval",
}


def check(item: Item, view: View) -> Iterator[Problem]:
    severity = Severity.GATE if item.model.imported else None
    match item.model:
        case Deployment():
            problems = _deployment(item, view)
        case Rollback():
            problems = _rollback(item, view)
        case _:
            return
    for problem in problems:
        yield problem._replace(severity=severity)


def _deployment(item: Item, view: View) -> Iterator[Problem]:
    deployment: Deployment = item.model
    ledger = view.ledger(item.service).before(item.name)
    for key, what in _NEEDED.items():
        if getattr(deployment.pins, key) is None and not (
            key == "matrix" and _is_no_replacement(item, ledger, view)
        ):
            yield Problem(
                at_key(item, "pins"),
                f"this deployment pins no {key}: {what}",
                f'add pins: {{{key}: "<name>@sha256:<digest>"}}, the digest that sha256sum prints',
            )
    if deployment.overridden and not deployment.imported:
        yield Problem(
            at_key(item, "overridden"),
            "only history from before hio says what its owner went past",
            "take overridden: away; what blocks a deployment is put right before it",
        )
    yield from _matrix(item, ledger, view)
    yield from _captured(item, "candidate", view)
    yield from _way_back(item, ledger, view)


def _is_no_replacement(item: Item, ledger: Ledger, view: View) -> bool:
    """Whether the stack that was accepted already is deployed as it is: a matrix accounts for a replacement."""
    candidate = _pinned(item, "candidate", view)
    if candidate is None or candidate is not _pinned(item, "parent", view):
        return False
    return _is_accepted(candidate, ledger, view)


def _is_accepted(stack: Item, ledger: Ledger, view: View) -> bool:
    """Whether a stack was accepted by the ledger as it was."""
    accepted = (view.repo.find("stack/v1", name, ledger.service) for name in ledger.accepted_stacks())
    return any(each is stack for each in accepted)


def _pinned(item: Item, key: str, view: View) -> Item | None:
    """What a pin of this entry leads to; None where there is none or nobody can read it, which others report."""
    pin = getattr(item.model.pins, key)
    kind = {"matrix": "matrix/v1", "capture": "capture/v1"}.get(key, "stack/v1")
    found = view.repo.find(kind, pin.partition("@")[0], item.service) if pin else None
    return found if found is not None and found.model is not None else None


def _matrix(item: Item, ledger: Ledger, view: View) -> Iterator[Problem]:
    matrix = _pinned(item, "matrix", view)
    found = view.inheritance(matrix) if matrix else None
    if matrix is None or found is None:
        return
    for side, stack in (("parent", found.parent), ("candidate", found.candidate)):
        mine = _pinned(item, side, view)
        if mine is not None and mine is not stack:
            yield Problem(
                at(item, "pins", "matrix"),
                f"the {side} of {matrix.name} is {stack.name}; deployed is a change {_in_words(side, mine)}",
                "pin the matrix of this parent and this candidate",
                ((f"its {side}", at(matrix, side)),),
            )
    open_ = list(_open(found.as_known_to(ledger), view))
    if open_:
        yield Problem(
            at(item, "pins", "matrix"),
            f"{matrix.name} is not complete: {listed(said for said, _ in open_)}",
            "deployment needs every row decided; measure what is open, then deploy with the completed matrix",
            tuple(open_[:6]),
        )


def _in_words(side: str, stack: Item) -> str:
    return f"{'from' if side == 'parent' else 'to'} {stack.name}"


def _open(found: Inheritance, view: View) -> Iterator[tuple[str, Place]]:
    """What of a matrix is not decided, in words, and where."""
    matrix = found.item
    for index, row in enumerate(found.matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.disposition in ("retest", "undecided"):
            name = row.factor if isinstance(row, FactorRow) else f"the bundle {row.bundle}"
            said = "awaits a retest" if row.disposition == "retest" else "is undecided"
            yield f"{name} {said}", at(matrix, "rows", index, "disposition")
    defaults = found.matrix.defaults
    if defaults is not None and defaults.disposition in ("retest", "undecided"):
        yield "unknown defaults are not decided", at(matrix, "defaults", "disposition")
    if defaults is None and found.sides_without_defaults():
        yield (
            f"the defaults of the {' and the '.join(found.sides_without_defaults())} are unknown",
            at(matrix, "rows"),
        )
    for required in found.missing():
        yield f"{required.compared.address} is missing ({required.why})", at_key(matrix, "rows")
    for cited in decided_rows(matrix, view, "changed", "excluded"):
        conditional = isinstance(cited.row, FactorRow) and cited.row.requires is not None
        if cited.row.evidence is None and cited.needs_evidence and not conditional:
            yield (
                f"{cited.name} is {cited.row.disposition} without evidence",
                at(matrix, *cited.path, "disposition"),
            )
        elif cited.entry is not None and found.ledger.entry(cited.entry.name) is not cited.entry:
            yield (
                f"{cited.name} rests on {cited.entry.name}, which the deployment does not follow",
                at(matrix, *cited.evidence_path),
            )


def _captured(item: Item, key: str, view: View) -> Iterator[Problem]:
    """Whether the capture claims the stack that shall serve."""
    capture, stack = _pinned(item, "capture", view), _pinned(item, key, view)
    if capture is None or stack is None:
        return
    claimed = capture.model.stack
    if claimed is None or view.repo.find("stack/v1", claimed, capture.service) is not stack:
        yield Problem(
            at(item, "pins", "capture"),
            f"{capture.name} claims {f'the stack {claimed}' if claimed else 'no stack'}; what serves now is {stack.name}",
            f"capture the live process: hio capture --stack {stack.name}",
            (("what it claims", at(capture, "stack")),),
        )


def _way_back(item: Item, ledger: Ledger, view: View) -> Iterator[Problem]:
    back, candidate, parent = (_pinned(item, key, view) for key in ("rollback", "candidate", "parent"))
    if back is None or back is parent:
        return
    if back is candidate or not _is_accepted(back, ledger, view):
        what = "is what is deployed" if back is candidate else "never served and was never accepted before"
        yield Problem(
            at(item, "pins", "rollback"),
            f"the way back leads to {back.name}, which {what}",
            "go back to the parent, or to a stack that was accepted before",
        )


def _rollback(item: Item, view: View) -> Iterator[Problem]:
    yield from _captured(item, "stack", view)
    yield from _attempt(item, view)
    entry: Rollback = item.model
    if entry.undoes is not None:
        yield from _undone(item, entry.undoes, view)
    elif entry.attempted is None:
        yield Problem(
            at(item, "kind"),
            f"{item.name} takes nothing back: it names neither a deployment nor an attempt",
            "name the deployment that was taken back (undoes), or the stack that was tried (attempted)",
        )


def _undone(item: Item, undoes: str, view: View) -> Iterator[Problem]:
    """Whether a rollback takes back a deployment that it follows, once, to the stack which that one named."""
    undone = view.repo.find("entry/v1", undoes, item.service)
    if undone is None or undone.model is None:
        return
    if not isinstance(undone.model, Deployment):
        yield Problem(
            at(item, "undoes"),
            f"{undone.name} is {with_article(undone.model.kind)}; a rollback undoes a deployment",
            "name the deployment that was taken back",
            (("what is named", at(undone, "kind")),),
        )
        return
    known = view.ledger(item.service).before(item.name)
    earlier = _taken_back_by(undone, known)
    if earlier is not None:
        yield Problem(
            at(item, "undoes"),
            f"{undone.name} was taken back by {earlier.name} already",
            "name the deployment that serves now; hio ledger show says which",
            (("the earlier rollback", at(earlier, "undoes")),),
        )
    if known.entry(undone.name) is not undone:
        yield Problem(
            at(item, "undoes"),
            f"{item.name} does not follow {undone.name}, which it undoes",
            "a rollback follows the deployment it takes back",
        )
    yield from _another_way(item, undone, view)


def _taken_back_by(undone: Item, known: Ledger) -> Item | None:
    """The rollback that took a deployment back."""
    rollbacks = (
        each for each in known.entries.values() if isinstance(each.model, Rollback) and each.model.undoes
    )
    return next((each for each in rollbacks if known.entry(each.model.undoes) is undone), None)


def _another_way(item: Item, undone: Item, view: View) -> Iterator[Problem]:
    named, back = _pinned(undone, "rollback", view), _pinned(item, "stack", view)
    if named is not None and back is not None and named is not back:
        yield Problem(
            at(item, "pins", "stack"),
            f"what serves again is {back.name}; the way back of {undone.name} is {named.name}",
            "roll back to the stack that the deployment named; another stack is a deployment of its own",
            (("the way back", at(undone, "pins", "rollback")),),
        )


def _attempt(item: Item, view: View) -> Iterator[Problem]:
    """A stack that was tried and never stood: no deployment of it is undone, and something failed."""
    entry: Rollback = item.model
    if entry.attempted is None:
        if entry.failed:
            advice = (
                "name the stack that was tried (attempted); what is wrong with a deployment stands in because"
            )
            yield Problem(at_key(item, "failed"), "something failed, and nothing was attempted", advice)
        return
    if entry.undoes is not None:
        advice = "name the deployment (undoes) or the attempt that never became one (attempted)"
        yield Problem(
            at(item, "attempted"), f"it undoes {entry.undoes} and an attempt; one entry does one", advice
        )
    if not entry.failed:
        advice = "say which step or check failed, and what was found (failed)"
        yield Problem(
            at(item, "attempted"), "an attempt was taken back, and nothing says what failed", advice
        )
    back = _pinned(item, "stack", view)
    if (
        back is not None
        and f"@{back.document.digest}" in entry.attempted
        and not _is_accepted(back, view.ledger(item.service).before(item.name), view)
    ):
        advice = "pin the stack that serves again; the one that was tried does not"
        yield Problem(
            at(item, "pins", "stack"),
            f"{back.name} is what was attempted, and was never accepted before",
            advice,
        )


RULE = Rule(
    "incomplete-deployment", Scope.DOCUMENT, Severity.ERROR, "a deployment or rollback lacks what it must stand on", check,
    kinds=("entry/v1",), contract=("8.3", "12.2"), since=2, suppressible=False,
)  # fmt: skip
