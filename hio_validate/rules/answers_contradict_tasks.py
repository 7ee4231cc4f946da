"""An answer that a run calls right or wrong, and its own text says otherwise.

A run keeps every answer to its task set with its text (`quality.jsonl`). Whether it is right is computed again from that
text, the set's expected answer and its scoring (contract 7.3); an item that the set does not have, a leg of another arm,
an item twice in one leg or a text with another hash are no answers either. A gate that somebody wrote by hand would let
a faster arm pass that answers wrongly (contract 4.11). The pinned set is read; where it has other bytes by now, nothing
is compared here.

How to fix: bring back the answers as hio wrote them (`git checkout`); what was measured wrongly is measured again.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.answered import UnreadableAnswers, contradictions, read_answers
from hio_validate.evidence.tasks import UnreadableItems, items_of
from hio_validate.evidence.trials import pinned
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file

_ADVICE = "bring back the answers that hio wrote, or measure again"


def check(item: Item, view: View) -> Iterator[Problem]:
    run: Run = item.model
    raw = view.repo.beside(item, run.quality.file) if run.quality else None
    if run.quality is None or raw is None:
        return
    file = normpath(f"{item.file}/../{run.quality.file}")
    try:
        answers = read_answers(run, raw)
    except UnreadableAnswers as error:
        yield Problem(in_file(file, error.line, 1), error.message, _ADVICE)
        return
    tasks = pinned(view.repo, "tasks/v1", run.quality.tasks, item.service)
    items = view.repo.beside(tasks, tasks.model.items.file) if tasks else None
    if tasks is None or items is None:
        return
    try:
        wrong = list(contradictions(run, answers, tasks.model, items_of(tasks.model, items)))
    except UnreadableItems:
        return
    for line, said in wrong:
        yield Problem(in_file(file, line, 1), said, _ADVICE, (("the task set", at(tasks, "scoring")),))


RULE = Rule(
    "answers-contradict-tasks", Scope.DOCUMENT, Severity.ERROR, "an answer is not what its text says", check,
    kinds=("run/v1",), contract=("4.11", "7.3"), suppressible=False, since=5,
)  # fmt: skip
