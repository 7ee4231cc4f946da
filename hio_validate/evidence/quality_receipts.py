"""Two quality receipts: whether they can be compared, and what the gate says of them (contract 10.4).

Invariant: what one side does not say is never equal. A word of whoever compares stands in only for what both leave open.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from hio_validate.evidence.quality import Gated, Side, Terms, gate, gate_of_means, is_by_item
from hio_validate.models.receipt import Quality

UNKNOWN = "unknown"
_MOST = 10**12
"""Items that a set may have; a larger number is none that was counted."""
SHARES = ("acc", "acc_norm", "exact_match", "em", "pass@1")
"""Metrics of which a value is a share of right items."""

FACTS = {
    "harness": "the harness", "harness-version": "the version of the harness", "task": "the task",
    "task-version": "the version of the task", "filter": "the filter", "metric": "the metric",
    "better": "which direction is a gain", "few-shot": "the examples in front", "limit": "the limit on the items",
    "seed": "the seeds", "dataset": "the dataset's bytes", "items": "how many items were asked",
}  # fmt: skip
"""What has to be equal and known: the name of the fact -> what it is."""


class Rows(NamedTuple):
    """The items of a receipt one by one, as they were kept."""

    scores: Mapping[str, float]


class UnreadableItemRows(Exception):
    """The items are not what the receipt says; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def fact(receipt: Quality, name: str) -> str | int | float | None:
    """One fact of a receipt; None where it is unknown."""
    told: dict[str, Any] = {
        "harness": receipt.harness.name, "harness-version": receipt.harness.version, "task": receipt.task,
        "task-version": receipt.task_version, "filter": receipt.filter, "metric": receipt.metric,
        "better": receipt.better, "few-shot": receipt.few_shot, "limit": receipt.limit, "seed": receipt.seed,
        "dataset": receipt.dataset.sha256, "items": receipt.n,
    }  # fmt: skip
    value: str | int | float = told[name]
    return None if value == UNKNOWN else value


def why_not(baseline: Quality, candidate: Quality, same: Collection[str] = ()) -> Iterator[str]:
    """Every reason why two receipts cannot be compared, in sentences; `same`: facts that somebody gives a word for."""
    for name, what in FACTS.items():
        one, other = fact(baseline, name), fact(candidate, name)
        if one is None and other is None:
            if name not in same:
                yield f"neither side says {what}, and unknown is never equal (--same {name} gives your word)"
        elif one is None or other is None:
            yield f"one side does not say {what}: {other if one is None else one} is the other's"
        elif one != other:
            yield f"{what} differs: {_shown(one)} and {_shown(other)}"
    for key in sorted(baseline.conditions.keys() | candidate.conditions.keys()):
        told = [each.conditions.get(key, UNKNOWN) for each in (baseline, candidate)]
        if told[0] != told[1]:
            yield f"{key} differs: {_shown(told[0])} and {_shown(told[1])}"


def _shown(value: Any) -> str:
    text = f"{value:.12g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:16]}..."


def judged(
    baseline: Quality, candidate: Quality, rows: Sequence[Rows | None], terms: Terms, names: tuple[str, str]
) -> Gated:
    """What the gate says of two receipts that can be compared; not measurable where no arithmetic carries it."""
    if baseline.n == 0 or candidate.n == 0:
        return Gated("not-measurable", "no item was asked", None)
    sides = [
        side(receipt, each, name)
        for receipt, each, name in zip((baseline, candidate), rows, names, strict=True)
    ]
    if baseline.better == "higher" and sides[0] is not None and sides[1] is not None:
        return gate(sides[0], sides[1], terms)._replace(by_item=is_by_item(sides[0], sides[1]))
    if baseline.stderr is None or candidate.stderr is None:
        said = f"{baseline.metric} is no share of right items, and a side has no standard error"
        return Gated("not-measurable", said, None)
    errors = (baseline.value, baseline.stderr), (candidate.value, candidate.stderr)
    return gate_of_means(*errors, terms, baseline.better == "higher", names[1])


def side(receipt: Quality, rows: Rows | None, name: str) -> Side | None:
    """A receipt as right items of all; None where its metric is not such a share, or its items are unknown."""
    if rows is not None and set(rows.scores.values()) <= {0.0, 1.0}:
        items = {item: score == 1.0 for item, score in rows.scores.items()}
        return Side(name, sum(items.values()), len(items), items)
    if not _is_share(receipt) or not _is_counted(receipt.n):
        return None
    right = round(receipt.value * receipt.n)
    is_whole = math.isclose(right, receipt.value * receipt.n, abs_tol=0.01)
    return Side(name, right, receipt.n) if is_whole and receipt.n else None


def _is_share(receipt: Quality) -> bool:
    """Whether the number is a share of its items; a group's may weigh each task alike, whatever its items are."""
    return receipt.metric in SHARES and not receipt.group and 0 <= receipt.value <= 1


def _is_counted(n: int | str) -> TypeGuard[int]:
    """Whether items were counted, in a number that anybody could have asked."""
    return isinstance(n, int) and n <= _MOST


def read_item_rows(receipt: Quality, raw: bytes) -> Rows:
    """The items of a receipt: objects with item and score, a line each. Raises UnreadableItemRows."""
    import json  # only where a receipt has rows

    assert receipt.rows is not None
    scores: dict[str, float] = {}
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            data: Any = json.loads(line.decode("utf-8"))
            item, score = data["item"], data["score"]
        except (ValueError, RecursionError, LookupError, TypeError):
            raise UnreadableItemRows(
                number, "the line is no item: expected an object with item and score"
            ) from None
        if not isinstance(item, str) or isinstance(score, bool) or not isinstance(score, int | float):
            raise UnreadableItemRows(number, "item is no text, or score is no number")
        if not math.isfinite(score):
            raise UnreadableItemRows(number, f"the score of {item} is {score}: not a finite number")
        if item in scores:
            raise UnreadableItemRows(number, f"the item {item} stands twice")
        scores[item] = float(score)
    if len(scores) != receipt.rows.count:
        raise UnreadableItemRows(
            max(1, len(raw.splitlines())), f"{len(scores)} items; the receipt says {receipt.rows.count}"
        )
    return Rows(scores)


def largest_error(receipt: Quality) -> float | None:
    """The largest standard error that a mean of numbers from 0 to 1 can have: sqrt(p (1 - p) / (n - 1)).

    None where the metric is no such mean or its items are unknown. (The variance of numbers in [0, 1] with mean p is at
    most p (1 - p): R. Bhatia, C. Davis, Am. Math. Mon. 107:353, 2000.)
    """
    if not _is_share(receipt) or not _is_counted(receipt.n) or receipt.n < 2:
        return None
    return math.sqrt(receipt.value * (1 - receipt.value) / (receipt.n - 1))
