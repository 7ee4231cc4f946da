"""A task set as requests of a leg, and its answers as rows (contract 4.11).

Invariant: every item of every leg gives one row, also where its request failed or was never sent; whether an answer is
right is decided by evidence/tasks.py alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hio_validate.evidence.tasks import PASS, Task, UnreadableItems, items_of, judged
from hio_validate.execute.questions import NotAskable, dialect
from hio_validate.execute.work import Question, TaskSet, Work
from hio_validate.models.tasks import Items, Tasks
from hio_validate.repo import Item, Repo, joined
from hio_validate.settings.request import Dialect
from hio_validate.source import digest_of

PHASE = "quality"
ROWS = "quality.jsonl"
"""In the folder of a leg, and beside run.yaml."""
_OK = "ok"
_NEVER = "never asked: the leg ended before"


def task_set(plan: Item, repo: Repo) -> TaskSet | None:
    """What a plan asks of every arm beside its fixtures; None where that is nothing. Raises NotAskable."""
    asked = plan.model.quality
    if asked is None:
        return None
    if plan.model.method != "http":
        raise NotAskable(
            f"{plan.name} asks {asked.tasks}, and {plan.model.method} shows no answers: measure over http"
        )
    found = repo.find("tasks/v1", asked.tasks, plan.service)
    if found is None or found.model is None:
        raise NotAskable(
            f"no readable task set of {plan.service} is called {asked.tasks}: write it, or correct the name"
        )
    words = dialect(plan, repo)
    items = _items(found, repo)
    tasks: Tasks = found.model
    if tasks.endpoint not in words.endpoints:
        raise NotAskable(
            f"the task set {found.name} asks {tasks.endpoint}, which {words.family} does not have: "
            f"it has {' and '.join(words.endpoints)}; write a set that asks one of them"
        )
    return TaskSet(
        pin=f"{asked.tasks}@{found.document.digest}",
        legs=asked.legs,
        scoring=tasks.scoring,
        choices=tuple(tasks.choices),
        expected={task.id: task.expected for task in items},
        questions=tuple(_question(found, tasks, task, words) for task in items),
    )


def _items(found: Item, repo: Repo) -> list[Task]:
    items: Items = found.model.items
    raw = repo.bytes_of(joined(found.file, items.file))
    if raw is None or digest_of(raw) != f"sha256:{items.sha256}":
        said = "are not there" if raw is None else "have other bytes than the set says"
        raise NotAskable(f"the items of {found.name}, {items.file}, {said}: restore them, or write a new set")
    try:
        return items_of(found.model, raw)
    except UnreadableItems as error:
        raise NotAskable(f"{items.file}:{error.line}: {error.message}: {error.help}") from None


def _question(found: Item, tasks: Tasks, task: Task, words: Dialect) -> Question:
    is_chat = tasks.endpoint == "/v1/chat/completions"
    asked: dict[str, Any] = (
        {"messages": [{"role": "user", "content": task.prompt}]} if is_chat else {"prompt": task.prompt}
    )
    asked |= {key: value for key, value in tasks.sampling.items() if value != "model"}
    asked |= {"seed": tasks.seed} if tasks.seed != "unknown" else {}
    asked |= {"stop": list(tasks.stop)} if tasks.stop else {}
    asked |= words.budget(tasks.endpoint, tasks.max_tokens)
    # No item may answer from what another one left in a cache: that differs between arms.
    salt = f"{found.document.digest}-{task.id}"
    asked |= words.streamed(tasks.endpoint, warm=False, salt=hashlib.sha256(salt.encode()).hexdigest()[:16])
    return Question(phase=PHASE, fixture=found.name, endpoint=tasks.endpoint, body=asked, item=task.id)


def is_asked(work: Work, place: int) -> bool:
    """Whether the leg at a place (from 1) of the order asks the task set."""
    if work.tasks is None:
        return False
    return work.tasks.legs == "every" or work.order.index(work.order[place - 1]) == place - 1


def rows(tasks: TaskSet, said: Sequence[Mapping[str, Any]], leg: int, arm: str) -> Iterator[dict[str, Any]]:
    """A row for every item, in the order of the set, of what the client brought back."""
    by_item = {each["item"]: each for each in said if "item" in each}
    for item, expected in tasks.expected.items():
        yield {"leg": leg, "arm": arm, "item": item, **_row(tasks, expected, by_item.get(item))}


def keep(rows: Sequence[Mapping[str, Any]], here: Path) -> None:
    """Write the rows into the folder of their leg: the journal, which keeps a leg's record, has no room for texts."""
    (here / ROWS).write_text("".join(json.dumps(row) + "\n" for row in rows))


def kept(here: Path) -> str:
    """What `keep` wrote; nothing where the leg was not asked."""
    file = here / ROWS
    return file.read_text() if file.exists() else ""


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many items there are, and what became of them."""
    right = sum(row["expected"] == PASS for row in rows)
    return {"items": len(rows), "right": right, "unanswered": sum(row["status"] != _OK for row in rows)}


def _row(tasks: TaskSet, expected: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
    if said is None or said["status"] != _OK:
        return {"status": said["status"] if said else _NEVER, "expected": "-"}
    answer = said["answer"]
    digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "status": _OK,
        "expected": judged(tasks, expected, answer),
        "generated": said["generated"],
        "content_sha256": digest,
        "answer": answer,
    }
