"""A condition of a baseline that only holds the place of one.

`TODO`, `?`, `none` or a value that a template came with says nothing of what was measured, and two baselines with the
same placeholder look equal (contract 10.1, 10.2). Where an engine has no graphs, `off` says so; where nobody knows a
condition, there is no baseline yet.

How to fix: write what it was: the revision, the digest of the image, the state of the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.known_good.agreement import is_placeholder
from hio_validate.models.entry import Baseline
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    conditions = item.model.conditions if isinstance(item.model, Baseline) else None
    if conditions is None:
        return
    said: list[tuple[tuple[str, ...], object]] = [((key,), getattr(conditions, key)) for key in _TEXTS]
    said += [(("shapes", key), fact) for key, fact in conditions.shapes.items()]
    for path, fact in said:
        if isinstance(fact, str) and is_placeholder(fact):
            yield Problem(
                at(item, "conditions", *path),
                f"{path[-1]} {fact!r} only holds a place",
                "write what it was; off, where the engine has none",
            )


_TEXTS = ("concurrency", "cache", "graph_mode", "source", "delivery", "method")

RULE = Rule(
    "placeholder-baseline", Scope.DOCUMENT, Severity.ERROR, "a baseline's condition only holds a place", check,
    kinds=("entry/v1",), contract=("10.1", "10.2"), since=5, suppressible=False, spares_corrected=True,
)  # fmt: skip
