"""A key that stands twice in one mapping.

Readers disagree which of the two counts: some keep the first, most keep the last, and none says a word. One
forgotten `LLAMA_ARG_THREADS` above another is enough for the review to show one number and the server to run
with the other. hio takes neither and treats the document as unread until it is put right (contract 1.4: what
is relied on is what the bytes say, for everyone).

A key that overrides one merged with `<<` is no duplicate; neither is the same key in two processes.

How to fix: keep one of the two. The finding names both places; the values often differ, so look at both before
you delete one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View
from hio_validate.rules.faults import of_rule


def check(item: Item, view: View) -> Iterator[Problem]:
    return of_rule(item, "duplicate-key")


RULE = Rule(
    "duplicate-key", Scope.DOCUMENT, Severity.ERROR, "a key stands twice in one mapping", check,
    contract=("1.4",), suppressible=False,
)  # fmt: skip
