"""The answers of a run to a task set, read from their bytes and held against the set (contract 7.3).

Invariant: whether an answer is right is computed again from its text; what the run says of it only has to agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hio_validate.evidence.tasks import PASS, Task, judged
from hio_validate.models.run import Run
from hio_validate.models.tasks import Tasks

OK = "ok"


class Answer(NamedTuple):
    """One item, asked in one leg."""

    line: int
    """In the file of answers, from 1."""
    leg: int
    arm: str
    item: str
    status: str
    """ok, or what went wrong."""
    expected: str
    """pass or fail as the run says; - where there was no answer."""
    answer: str | None
    content_sha256: str | None


class UnreadableAnswers(Exception):
    """The answers are not what the run says; `line` counts from 1 in their file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def read_answers(run: Run, raw: bytes) -> list[Answer]:
    """Every answer. Raises UnreadableAnswers."""
    assert run.quality is not None
    found = [_answer(line, number) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
    if len(found) != run.quality.rows:
        last = found[-1].line if found else 1
        raise UnreadableAnswers(last, f"{len(found)} answers up to here; the run says {run.quality.rows}")
    return found


def _answer(line: bytes, number: int) -> Answer:
    import json  # only where a run has answers

    try:
        data: Any = json.loads(line.decode("utf-8"))
        leg, answer, digest = data["leg"], data.get("answer"), data.get("content_sha256")
        arm, item, status, expected = data["arm"], data["item"], data["status"], data["expected"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise UnreadableAnswers(
            number, "the line is no answer: expected an object with leg, arm, item, status and expected"
        ) from None
    if type(leg) is not int or not all(isinstance(each, str) for each in (arm, item, status, expected)):
        raise UnreadableAnswers(number, "leg is no whole number, or arm, item, status or expected is no text")
    if not all(each is None or isinstance(each, str) for each in (answer, digest)):
        raise UnreadableAnswers(number, "answer or content_sha256 is no text")
    return Answer(number, leg, arm, item, status, expected, answer, digest)


def contradictions(
    run: Run, answers: Sequence[Answer], tasks: Tasks, items: Sequence[Task]
) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) of every answer that cannot be what the set, the legs and its own text say."""
    known = {task.id: task for task in items}
    arms = {leg.leg: leg.arm for leg in run.legs}
    seen: set[tuple[int, str]] = set()
    for each in answers:
        said = _contradiction(each, known, arms, tasks)
        if (each.leg, each.item) in seen:
            said = said or f"the item {each.item} was answered in leg {each.leg} before"
        seen.add((each.leg, each.item))
        if said:
            yield each.line, said


def _contradiction(
    each: Answer, known: Mapping[str, Task], arms: Mapping[int, str], tasks: Tasks
) -> str | None:
    if each.item not in known:
        return f"the task set has no item {each.item}"
    if arms.get(each.leg) != each.arm:
        of = (
            f"leg {each.leg} is of {arms[each.leg]}" if each.leg in arms else f"the run has no leg {each.leg}"
        )
        return f"the answer is told of {each.arm}, and {of}"
    if each.status != OK:
        return (
            f"the request failed, and {each.item} is called {each.expected}"
            if each.expected == PASS
            else None
        )
    if each.answer is None:
        return f"the answer to {each.item} was not kept"
    if each.content_sha256 != _sha256(each.answer):
        return f"the answer to {each.item} is not the text of the hash beside it"
    right = judged(tasks, known[each.item].expected, each.answer)
    if each.expected != right:
        shown = " ".join(each.answer.split())[:40]
        wanted = known[each.item].expected.strip()[:40]
        return (
            f"{each.item} is called {each.expected}; {shown!r} for {wanted!r} is a {right} by {tasks.scoring}"
        )
    return None


def _sha256(text: str) -> str:
    from hashlib import sha256  # only where a run has answers

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
