"""A standard error that so many items cannot have.

Numbers between 0 and 1 with mean p vary most where each is 0 or 1: the standard error of their mean over n items is at most
sqrt(p (1 - p) / (n - 1)). A larger one belongs to fewer items than the receipt says, or to another number; the interval
that a gate computes from it would be about something else (contract 7.3). A tenth more is allowed, for errors that the
harness drew by bootstrapping. A group's number, which may weigh each of its tasks alike, is not judged.

How to fix: record the file of the harness itself; where it says so, the harness or its task is at fault: measure again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.quality_receipts import largest_error
from hio_validate.models.receipt import Quality
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

_BOOTSTRAPPED = 1.1


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, Quality) or receipt.stderr is None:
        return
    largest = largest_error(receipt)
    if largest is not None and receipt.stderr > _BOOTSTRAPPED * largest:
        yield Problem(
            at(item, "stderr"),
            f"{receipt.metric} is {receipt.value:.4g} over {receipt.n} items: its standard error is at most {largest:.4g}, "
            f"not {receipt.stderr:.4g}",
            "record the file of the harness itself, or measure again",
        )


RULE = Rule(
    "stderr-contradicts-n", Scope.DOCUMENT, Severity.ERROR, "a standard error is not that of so many items", check,
    kinds=("receipt/v1",), contract=("7.3",), since=5,
)  # fmt: skip
