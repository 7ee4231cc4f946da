"""The quality gate of a run: what its arms answered to the planned task set (contract 4.11, 7.2).

Invariant: computed from the kept answers alone; an arm that was not asked as planned, or whose answers contradict the
set, has no gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hio_validate.evidence.answered import OK, Answer, UnreadableAnswers, contradictions, read_answers
from hio_validate.evidence.case import Case
from hio_validate.evidence.outcome import Condition
from hio_validate.evidence.proportions import least_margin, z_of
from hio_validate.evidence.quality import Gated, Side, Terms, gate, side_of, told_share
from hio_validate.evidence.tasks import Task, UnreadableItems, is_right, items_of
from hio_validate.evidence.trials import pinned
from hio_validate.models.plan import Plan, QualityGate
from hio_validate.models.tasks import Tasks
from hio_validate.repo import Item, Repo, name_of

NAME = "task set"


class Answered(NamedTuple):
    """How the arms of a run answered."""

    tasks: str
    sides: Mapping[str, Side]
    outcomes: Mapping[str, Gated]
    """Candidate -> what the gate says of it."""
    kinds: Mapping[str, Mapping[str, Side]]
    """Kind of item -> arm -> how it answered those; empty where the set has no kinds."""


class _Missing(Exception):
    """Why there is no gate; the text is a sentence."""


def items_planned(plan: Item, repo: Repo) -> list[Task] | None:
    """The items of the task set that a plan names; None where it names none, or one that cannot be read."""
    asked = plan.model.quality
    found = repo.find("tasks/v1", asked.tasks, plan.service) if asked else None
    if found is None or found.model is None:
        return None
    raw = repo.beside(found, found.model.items.file)
    try:
        return items_of(found.model, raw) if raw is not None else None
    except UnreadableItems:
        return None


def level_of(plan: Plan) -> float:
    """The one-sided level of one candidate: the plan's, shared by its candidates (Bonferroni)."""
    assert plan.quality is not None
    level: float = plan.quality.alpha
    return level / max(1, len(plan.arms) - 1)


def margin_at_best(plan: Plan, items: int) -> float:
    """The margin that so many items can show where not one answer differs."""
    return least_margin(items, z_of(level_of(plan)))


def condition(case: Case) -> Condition | None:
    """Whether the planned task set was answered well enough; None where none was planned."""
    if case.plan is None or case.plan.quality is None:
        return None
    try:
        found = _answered(case, case.plan.quality)
    except _Missing as error:
        return Condition(NAME, "no-quality-gate", str(error))
    missed = [each for each in found.outcomes.values() if each.reason]
    if missed:
        worst = min(missed, key=lambda each: each.reason)  # quality-gate-failed before quality-not-shown
        return Condition(NAME, worst.reason, f"{found.tasks}: {worst.sentence}")
    shares = ", ".join(f"{told_share(side)} in {arm}" for arm, side in found.sides.items())
    said = "; ".join(each.sentence for each in found.outcomes.values())
    return Condition(NAME, "", f"{found.tasks}: {shares}; {said}")


def answered(case: Case) -> Answered | None:
    """What the page of a verdict shows; None where nothing was planned or nothing can be computed."""
    if case.plan is None or case.plan.quality is None:
        return None
    try:
        return _answered(case, case.plan.quality)
    except _Missing:
        return None


def _answered(case: Case, asked: QualityGate) -> Answered:
    tasks, items, answers = _kept(case, asked)
    assert case.plan is not None
    rights = {arm: _rights(case, arm, asked, tasks, items, answers) for arm in case.model.arms}
    sides = {arm: side_of(arm, right) for arm, right in rights.items()}
    terms = Terms(asked.floor, asked.margin, level_of(case.plan))
    outcomes = {arm: gate(sides[case.baseline], sides[arm], terms) for arm in case.candidates}
    kinds = {
        kind: {arm: side_of(arm, {task.id: right[task.id] for task in items if task.kind == kind}) for arm, right in rights.items()}
        for kind in dict.fromkeys(task.kind for task in items if task.kind)
    }  # fmt: skip
    return Answered(tasks.name, sides, outcomes, kinds)


def _kept(case: Case, asked: QualityGate) -> tuple[Tasks, list[Task], list[Answer]]:
    """The set, its items and the answers, each with the pinned bytes. Raises _Missing."""
    kept, repo = case.model.quality, case.known.repo
    if kept is None:
        raise _Missing(f"{asked.tasks} was planned, and the run kept no answers to it")
    if name_of(kept.tasks).rpartition("/")[2] != asked.tasks.rpartition("/")[2]:
        raise _Missing(f"{asked.tasks} was planned, and {name_of(kept.tasks)} was asked")
    found = pinned(repo, "tasks/v1", kept.tasks, case.run.service)
    if found is None:
        raise _Missing(f"the task set {name_of(kept.tasks)} is not in the repository with the pinned bytes")
    tasks: Tasks = found.model
    raw, rows = repo.beside(found, tasks.items.file), repo.beside(case.run, kept.file)
    if raw is None or repo.digest_beside(found, tasks.items.file) != tasks.items.sha256:
        raise _Missing(f"the items of {tasks.name} are missing, or are not the recorded ones")
    if rows is None or repo.digest_beside(case.run, kept.file) != kept.sha256:
        raise _Missing("the answers are missing, or are not the recorded ones")
    try:
        items = items_of(tasks, raw)
        answers = read_answers(case.model, rows)
    except (UnreadableItems, UnreadableAnswers) as error:
        raise _Missing(f"line {error.line}: {error.message}") from None
    wrong = next(contradictions(case.model, answers, tasks, items), None)
    if wrong:
        raise _Missing(f"line {wrong[0]} of the answers: {wrong[1]}")
    return tasks, items, answers


def _rights(
    case: Case, arm: str, asked: QualityGate, tasks: Tasks, items: Sequence[Task], answers: Sequence[Answer]
) -> dict[str, bool]:
    """Item -> whether the arm answered it rightly in most of the legs that asked it. Raises _Missing."""
    counted = {trial.number for trial in case.counted(arm)}
    mine = [each for each in answers if each.leg in counted]
    legs = counted if asked.legs == "every" else {each.leg for each in mine}
    if not legs:
        raise _Missing(f"no leg of {arm} that counts was asked {tasks.name}")
    given = {(each.leg, each.item): each for each in mine}
    right = dict.fromkeys((task.id for task in items), 0)
    for leg in sorted(legs):
        for task in items:
            each = given.get((leg, task.id))
            if each is None or each.status != OK or each.answer is None:
                why = f": {each.status}" if each and each.status != OK else ""
                raise _Missing(f"the item {task.id} was not answered in leg {leg} of {arm}{why}")
            right[task.id] += is_right(tasks, task.expected, each.answer)
    return {item: 2 * count > len(legs) for item, count in right.items()}
