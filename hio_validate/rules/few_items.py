"""A quality receipt over so few items that its number says little.

Ten items of which seven are right are no "70 %": with 95 % confidence the share lies between 0.40 and 0.89 (Wilson's score
interval). A harness that was told a limit writes its result like any other, and says so only in its settings. Fewer than
100 items are a gate; a larger part of a set is a note; no item at all is an error, because nothing was measured.

How to fix: ask the whole set, or say in the decision what so few items show.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.proportions import wilson, z_of
from hio_validate.evidence.quality_receipts import side
from hio_validate.models.receipt import Quality
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

FEW = 100
"""Items below which the interval of a share is about 0.2 wide."""


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, Quality) or not isinstance(receipt.n, int):
        return
    if receipt.n == 0:
        yield Problem(
            at(item, "n"), "no item was asked: nothing was measured", "measure again", severity=Severity.ERROR
        )
        return
    is_part = isinstance(receipt.whole, int) and receipt.n < receipt.whole
    if receipt.n < FEW or is_part:
        of = f" of {receipt.whole}" if is_part else ""
        yield Problem(
            at(item, "n"),
            f"{receipt.metric} of {receipt.task} is over {receipt.n}{of} items{_interval(receipt)}",
            "ask the whole set, or decide on what so few items show",
            severity=None if receipt.n < FEW else Severity.NOTE,
        )


def _interval(receipt: Quality) -> str:
    found = side(receipt, None, receipt.task)
    if found is None:
        return ""
    interval = wilson(found.right, found.n, z_of(0.025))
    return f": with 95 % confidence it lies between {interval.low:.2f} and {interval.high:.2f}"


RULE = Rule(
    "few-items", Scope.DOCUMENT, Severity.GATE, "a quality receipt is over few items", check,
    kinds=("receipt/v1",), contract=("10.4",), since=5,
)  # fmt: skip
