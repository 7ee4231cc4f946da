"""A decision without one of the things that its kind must stand on, or with one that means nothing there.

"Deploy it, it is faster" forgets who approved it, how to get back, and what happens when a client hangs up.
Contract 8.2 knows four decisions and what each stands on. Stopping an unsafe trial names its hazard and says
what was seen. Keeping a research branch names a plausible mechanism, a partial benefit or diagnostic result,
its cost and the next discriminating test. An experimental default has a benefit that was measured more than
once on each arm, task-correctness, bounded resources and lifecycle, its trade-offs and the stack that
results. A deployment has the owner's approval, serving integration, rollback, cancellation, crash, respawn,
admission and capacity.

Every missing one is a finding of its own. History from before hio (`imported: true`) can no longer be
completed: there it is a gate. A decision that was frozen before this rule existed gets a note.

How to fix: write what the finding names, as a sentence or as the name of a document (`evidence: {cost: one
more core}`); what nobody looked at is not decided yet: keep the branch as research and name the next test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import plan_of, trials_of
from hio_validate.models.entry import Approval, Decision, Result
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key


class _Noun(NamedTuple):
    """What a decision may stand on: in plain words, and what to write."""

    words: str
    example: str


_KEEP_RESEARCH = {
    "mechanism": _Noun("a plausible mechanism", "why it should help"),
    "benefit": _Noun("a partial benefit or a diagnostic result", "what was gained or learned"),
    "cost": _Noun("its cost", "what it takes"),
}
_EXPERIMENTAL_DEFAULT = {
    "task-correctness": _Noun("task-correctness", "which task was still solved correctly"),
    "resource-bounds": _Noun("bounded resources", "the most memory, threads and disk it took"),
    "lifecycle-bounds": _Noun("a bounded lifecycle", "how long it starts, stops and recovers"),
    "trade-offs": _Noun("its trade-offs", "what gets worse"),
}
_DEPLOY = {
    "owner-approval": _Noun("the owner's approval", "<id of the approval entry>"),
    "serving-integration": _Noun("serving integration", "how clients, unit and health check were tried"),
    "rollback": _Noun("a rollback", "how to get back, and when that was tried"),
    "cancellation": _Noun("native cancellation", "what happens when a client hangs up"),
    "crash": _Noun("what a crash does", "what happens when the process dies"),
    "respawn": _Noun("respawn", "how it comes back"),
    "admission": _Noun("admission", "which requests are refused, and how"),
    "capacity": _Noun("capacity", "how many requests of which length it was seen to carry"),
}
_NOUNS: dict[str, dict[str, _Noun]] = {
    "stop-trial": {},
    "keep-research": _KEEP_RESEARCH,
    "experimental-default": _EXPERIMENTAL_DEFAULT,
    "deploy": _DEPLOY,
}
_CALLED = {
    "stop-trial": "a decision to stop a trial",
    "keep-research": "a decision to keep a research branch",
    "experimental-default": "an experimental default",
    "deploy": "a decision to deploy",
}
_MAY_SAY = {"experimental-default": {"benefit"}}
"""Beyond what must be there: a sentence about the benefit may stand beside the number."""


def check(item: Item, view: View) -> Iterator[Problem]:
    decision = item.model
    if not isinstance(decision, Decision):
        return
    severity = Severity.GATE if decision.imported else None
    for problem in (*_missing(item, decision, view), *_meaningless(item, decision)):
        yield problem._replace(severity=severity)


def _missing(item: Item, decision: Decision, view: View) -> Iterator[Problem]:
    for noun, (words, example) in _NOUNS[decision.decision].items():
        told_by_result = noun == "benefit" and decision.result is not None
        if noun not in decision.evidence and not told_by_result:
            yield _without(item, words, f"evidence: {{{noun}: {example}}}")
    match decision.decision:
        case "stop-trial":
            yield from _stopped(item, decision)
        case "keep-research" if decision.next is None:
            yield _without(item, "the next discriminating test", "next: which test would decide it")
        case "experimental-default":
            yield from _default(item, decision, view)
        case "deploy":
            yield from _approved(item, decision, view)


def _without(item: Item, words: str, write: str) -> Problem:
    return Problem(
        at(item, "decision"), f"{_CALLED[item.model.decision]} needs {words}; none is named", f"write {write}"
    )


def _stopped(item: Item, decision: Decision) -> Iterator[Problem]:
    if decision.hazard is None:
        yield _without(item, "the hazard that made the trial unsafe", "hazard: contention, crash, …")
    if _pinned(decision, "run") is None and decision.because is None:
        yield _without(
            item, "what was seen of the hazard", "because: what was seen, or pin the run in pins.run"
        )


def _default(item: Item, decision: Decision, view: View) -> Iterator[Problem]:
    if _pinned(decision, "stack") is None:
        yield _without(item, "the stack that results", 'pins: {stack: "<name>@sha256:<digest>"}')
    if decision.result is None:
        yield _without(
            item, "a measured benefit of the whole workload", "result: and pins.run, the run that measured it"
        )
    else:
        yield from _benefit(item, decision.result, _pinned(decision, "run"), view)


def _benefit(item: Item, result: Result, pin: str | None, view: View) -> Iterator[Problem]:
    """Whether the number is a benefit, and was measured more than once on each arm (contract 8.2)."""
    run = view.repo.find("run/v1", pin.partition("@")[0], item.service) if pin else None
    if run is None or run.model is None:
        return  # unpinned-evidence and pin-mismatch report it
    column = run.model.columns.get(result.metric)
    gain = result.change_percent if column and column.better == "higher" else -result.change_percent
    if column is not None and column.better is not None and gain <= 0:
        yield Problem(
            at(item, "decision"),
            f"an experimental default needs a benefit; {result.metric} changed by {result.change_percent} %, "
            f"and {column.better} is better",
            "write result: the metric that got better, or keep the branch as research",
        )
    legs = _legs(run, view)
    for arm in (result.from_arm, result.to_arm):
        if legs[arm] == 1:
            yield Problem(
                at(item, "decision"),
                f"an experimental default needs a repeated benefit; {arm} was measured once",
                f"measure {arm} at least twice, or keep the branch as research",
                (("the rows", Place(run.document, ("raw",), at_key=True)),),
            )


def _legs(run: Item, view: View) -> Counter[str]:
    """Arm -> trials that count; none at all where the rows cannot be read, which unreadable-rows reports."""
    model: Run = run.model
    raw = view.repo.beside(run, model.raw.file)
    try:
        rows = read_rows(model, raw) if raw is not None else []
    except UnreadableRows:
        rows = []
    return Counter(trial.arm for trial in trials_of(model, rows, plan_of(run, view.repo)) if trial.counted)


def _approved(item: Item, decision: Decision, view: View) -> Iterator[Problem]:
    """An approval is an entry, not a sentence; whether it covers this is what approval-does-not-cover asks."""
    named = decision.evidence.get("owner-approval")
    if named is None or view.repo.maybe_unread(named):
        return
    found = view.ledger(item.service).entry(named)
    if found is None or not isinstance(found.model, Approval):
        yield Problem(
            at(item, "decision"),
            f'a decision to deploy needs the owner\'s approval; "{named}" is no approval entry of this ledger',
            "append an entry of kind approval, then write evidence: {owner-approval: <its id>}",
            (("what is cited", at(item, "evidence", "owner-approval")),),
        )


def _meaningless(item: Item, decision: Decision) -> Iterator[Problem]:
    known = {*_NOUNS[decision.decision], *_MAY_SAY.get(decision.decision, ())}
    for noun in decision.evidence:
        if noun not in known:
            fitting = [f"decision: {kind}" for kind, nouns in _NOUNS.items() if noun in nouns]
            yield Problem(
                at_key(item, "evidence", noun),
                f"{noun} has no meaning for {_CALLED[decision.decision]}",
                f"it belongs to {' or '.join(fitting)}; say it in because:, or correct decision:",
            )
    if decision.hazard is not None and decision.decision != "stop-trial":
        yield Problem(
            at_key(item, "hazard"),
            f"a hazard has no meaning for {_CALLED[decision.decision]}",
            "it belongs to decision: stop-trial; say it in because:, or correct decision:",
        )


def _pinned(decision: Decision, key: str) -> str | None:
    pin: str | None = getattr(decision.pins, key, None)
    return pin


RULE = Rule(
    "incomplete-decision", Scope.DOCUMENT, Severity.ERROR, "a decision lacks something it must stand on", check,
    kinds=("entry/v1",), contract=("8.2",), since=2, suppressible=False, spares_older=True,
)  # fmt: skip
