"""A deployment or rollback that says of itself that a check of the live process did not pass.

`hio deploy` and `hio rollback` keep every check of what serves afterwards: `passed`, or what was found. A
deployment with another word was never proven to be what it says, and is no deployment; a rollback with one says
that what serves again was not proven, and the host is unsafe until somebody proves it (contract 1.7, 5.4, 5.10,
12.2). What failed of an attempt stands in the `failed` of its rollback, where it belongs.

In history from before hio (`imported: true`) it is a gate.

How to fix: verify what serves with `hio verify`, put right what differs, then deploy or roll back again. In a
committed entry nothing is edited: append a correction.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Deployment, Rollback
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

PASSED = "passed"


def check(item: Item, _: View) -> Iterator[Problem]:
    entry = item.model
    if not isinstance(entry, Deployment | Rollback):
        return
    for name, found in entry.checks.items():
        if found != PASSED:
            yield Problem(
                at(item, "checks", name),
                f"{name} did not pass ({found}), so what serves is not proven",
                "hio verify shows what serves; put it right, then deploy or roll back again",
                severity=Severity.GATE if entry.imported else None,
            )


RULE = Rule(
    "unproven-deployment", Scope.DOCUMENT, Severity.ERROR, "a deployment or rollback whose checks did not pass", check,
    kinds=("entry/v1",), contract=("1.7", "5.4", "12.2"), since=4, suppressible=False, spares_older=True,
    spares_corrected=True,
)  # fmt: skip
