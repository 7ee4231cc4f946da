"""Task sets: their items, and whether an answer is right (contract 4.11, 10.4).

Invariant: whether an answer is right follows from its text, the expected one and the set's scoring alone, so that it can
be computed again from what a run kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, Protocol

from hio_validate.models.tasks import Tasks

PASS, FAIL = "pass", "fail"
_KEYS = {"id", "prompt", "expected", "kind"}
_NEEDED = ("id", "prompt", "expected")
_NUMBER = re.compile(
    r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|[-+]?\.[0-9]+", re.ASCII
)
_LONGEST_NUMBER = 400


class Task(NamedTuple):
    """One item of a set."""

    id: str
    prompt: str
    expected: str
    kind: str | None
    line: int
    """In the file of items, from 1."""


class Scoring(Protocol):
    """How answers are scored: a task set has it, and so has what a job keeps of one."""

    @property
    def scoring(self) -> str: ...

    @property
    def choices(self) -> Sequence[str]: ...


class UnreadableItems(Exception):
    """The items are not what the set says; `line` counts from 1 in the file of items."""

    def __init__(self, line: int, message: str, help: str) -> None:
        super().__init__(message)
        self.line, self.message, self.help = line, message, help


def items_of(tasks: Tasks, raw: bytes) -> list[Task]:
    """The items in their order. Raises UnreadableItems at the first one that cannot be asked or scored."""
    items, faults = read_items(tasks, raw)
    if faults:
        raise faults[0]
    return items


def read_items(tasks: Tasks, raw: bytes) -> tuple[list[Task], list[UnreadableItems]]:
    """The items that can be asked and scored, and what is wrong with the others; a wrong count where nothing else is."""
    found: dict[str, Task] = {}
    faults: list[UnreadableItems] = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            task = _task(line, number)
            _refuse(task, tasks, found)
            found[task.id] = task
        except UnreadableItems as fault:
            faults.append(fault)
    if len(found) != tasks.items.count and not faults:
        said = f"{len(found)} items up to here; the set says {tasks.items.count}"
        advice = (
            f"write count: {len(found)}, or restore the file"
            if found
            else "write the items, or restore the file"
        )
        faults.append(UnreadableItems(max(1, len(raw.splitlines())), said, advice))
    return list(found.values()), faults


def _refuse(task: Task, tasks: Tasks, before: Mapping[str, Task]) -> None:
    """Raises UnreadableItems for an item that stands twice or that no answer can satisfy."""
    if task.id in before:
        said = f"the id {task.id} stands in line {before[task.id].line} already"
        raise UnreadableItems(task.line, said, "give each item its own")
    why = unscorable(tasks, task.expected)
    if why:
        said = f"the item {task.id} can never be right: {why}"
        raise UnreadableItems(task.line, said, "correct it, or choose another scoring")


def _task(line: bytes, number: int) -> Task:
    data = _object(line, number)
    strange = sorted(set(data) - _KEYS)
    if strange:
        known = "expected id, prompt, expected and kind"
        raise UnreadableItems(number, f"the key {strange[0]} means nothing here", f"{known}; remove it")
    for key in _NEEDED:
        if not isinstance(data.get(key), str) or not data[key].strip():
            raise UnreadableItems(number, f"{key} is no text with something in it", f'write "{key}": "..."')
    kind = data.get("kind")
    if kind is not None and not isinstance(kind, str):
        raise UnreadableItems(number, "kind is no text", "write it as text, or leave it out")
    return Task(data["id"], data["prompt"], data["expected"], kind, number)


def _object(line: bytes, number: int) -> Mapping[str, Any]:
    import json  # only where a task set is read

    from hio_validate.source.strict_json import Twice, once  # as well

    try:
        data = json.loads(line.decode("utf-8"), object_pairs_hook=once)
    except Twice as error:
        raise UnreadableItems(number, f"the key {error} stands twice", "keep the one that is meant") from None
    except UnicodeDecodeError:
        raise UnreadableItems(number, "the line is not UTF-8", "write the file as UTF-8") from None
    except (ValueError, RecursionError):
        if line.startswith(b"\xef\xbb\xbf"):
            raise UnreadableItems(
                number, "a byte order mark stands before the item", "write the file as UTF-8 without it"
            ) from None
        raise UnreadableItems(
            number, "the line is no JSON object", 'write {"id": ..., "prompt": ..., "expected": ...}'
        ) from None
    if not isinstance(data, dict):
        raise UnreadableItems(
            number, "the line is no JSON object", 'write {"id": ..., "prompt": ..., "expected": ...}'
        )
    return data


def unscorable(tasks: Tasks, expected: str) -> str | None:
    """Why no answer could be right where this is expected, in words; None where one could."""
    if tasks.scoring == "first-number" and _number(expected.strip(), whole=True) is None:
        return f"{expected.strip()[:40]!r} is no number"
    if tasks.scoring == "choice" and expected.strip().casefold() not in {
        each.casefold() for each in tasks.choices
    }:
        return f"{expected.strip()[:40]!r} is none of the choices {', '.join(tasks.choices) or '(there are none)'}"
    return None


def is_right(tasks: Scoring, expected: str, answer: str) -> bool:
    """Whether an answer is right; one from which nothing can be taken is not."""
    return _SCORED[tasks.scoring](answer, expected, tasks.choices)


def judged(tasks: Scoring, expected: str, answer: str) -> str:
    """PASS or FAIL."""
    return PASS if is_right(tasks, expected, answer) else FAIL


def _exact(answer: str, expected: str, choices: Sequence[str]) -> bool:
    return answer.strip() == expected.strip()


def _first_number(answer: str, expected: str, choices: Sequence[str]) -> bool:
    found = _number(answer)
    return found is not None and found == _number(expected.strip(), whole=True)


def _number(text: str, whole: bool = False) -> Decimal | None:
    """The first number in a text, thousands separated by commas or not; None where there is none."""
    match = _NUMBER.fullmatch(text) if whole else _NUMBER.search(text)
    if match is None or len(match[0]) > _LONGEST_NUMBER:
        return None
    try:
        return Decimal(match[0].replace(",", ""))
    except InvalidOperation:
        return None


def _choice(answer: str, expected: str, choices: Sequence[str]) -> bool:
    """Whether the first choice that stands in the answer as a word of its own is the expected one."""
    found = [
        (match.start(), -len(each), each.casefold())
        for each in choices
        if (match := re.search(rf"(?<!\w){re.escape(each)}(?!\w)", answer, re.IGNORECASE))
    ]
    return bool(found) and min(found)[2] == expected.strip().casefold()


_SCORED: dict[str, Callable[[str, str, Sequence[str]], bool]] = {
    "exact": _exact, "first-number": _first_number, "choice": _choice,
}  # fmt: skip
