"""A quality receipt that does not say what it would take to get the same number again.

Two accuracies are compared only where dataset, harness, task, filter, examples, limit and seeds are the same (contract
10.4), and unknown is never equal: such a receipt cannot be the side of a gate, whatever its number. Each fact that the
source leaves open is a gate of its own: it may be looked up while whoever measured still knows.

How to fix: run the harness again so that it says it (lm-evaluation-harness 0.4 writes its version, seeds and items; with
`--log_samples` also the hash of the items), and record that file. A receipt is never edited.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.quality_receipts import FACTS, fact
from hio_validate.models.receipt import Quality
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

_WHERE: dict[str, tuple[str, ...]] = {
    "harness": ("harness", "name"), "harness-version": ("harness", "version"), "task": ("task",),
    "task-version": ("task_version",), "filter": ("filter",), "metric": ("metric",), "better": ("better",),
    "few-shot": ("few_shot",), "limit": ("limit",), "seed": ("seed",), "dataset": ("dataset", "sha256"), "items": ("n",),
}  # fmt: skip


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, Quality):
        return
    for name, what in FACTS.items():
        if fact(receipt, name) is None:
            yield Problem(
                at(item, *_WHERE[name]),
                f"it does not say {what}, so that nothing can be compared with it",
                "record a file of the harness that says it; a receipt is never edited",
            )


RULE = Rule(
    "quality-receipt-incomplete", Scope.DOCUMENT, Severity.GATE, "a quality receipt cannot be reproduced", check,
    kinds=("receipt/v1",), contract=("10.4",), since=5,
)  # fmt: skip
