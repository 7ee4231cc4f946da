"""A campaign without one of the seven inputs that it needs before anything runs.

A sweep that begins without them measures something, and afterwards nobody can say of what. Contract 10.1 asks for seven:
model and engine; the exact source revision or image digest of each engine; hardware and scheduler target; the operator's
deployment, as a file with its digest or as a stack; shapes, loads, warm-up and trials; the focus metric with its accuracy
floor; a production-shaped baseline with the ledger entry that names it, or what it takes to capture one. Each one that is
missing is a finding of its own, at the key that would have it.

How to fix: write what the message asks for; `hio campaign new` fills in what the documents already say.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import missing_inputs
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    for each in missing_inputs(item.model, view.repo):
        yield Problem(at_key(item, *(each.path or ("name",))), f"no {each.input}: {each.sentence}", each.help)


RULE = Rule(
    "missing-campaign-input", Scope.DOCUMENT, Severity.ERROR, "a campaign lacks an input that it needs before it runs", check,
    kinds=("campaign/v1",), contract=("10.1",), since=5,
)  # fmt: skip
