"""Advice to cache without numbers of a cold and of a warm cache.

A cache is as good as its hits, and a benchmark that asks the same question again has nothing but hits. Contract 9.5: no
caching advice without cold and warm numbers. A candidate that reuses what an earlier request computed pins both runs, and
they are two; one that says it in words is one, too.

How to fix: measure the workload once with `cache: cold` and once warm, and pin both runs; or leave the candidate out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

_CACHING = re.compile(
    r"(?:prompt|prefix|response|semantic)[ -]?cach\w*|cache[ -](?:reuse|prompt|ram)|cached (?:prompt|prefix|answer)"
    r"|reus\w+ (?:of )?(?:the |a )?(?:prompt|prefix)",
    re.IGNORECASE,
)


def check(item: Item, view: View) -> Iterator[Problem]:
    for index, candidate in enumerate(item.model.candidates):
        text = f"{candidate.mechanism} {candidate.factor or ''}"
        if not candidate.caching:
            found = _CACHING.search(text)
            if found:
                yield Problem(
                    at(item, "candidates", index, "mechanism"),
                    f'"{found[0]}": {candidate.name} reuses what was computed before, and caching: is not true',
                    "write caching: true, and pin a cold and a warm run",
                )
            continue
        lacks = [side for side in ("cold", "warm") if getattr(candidate, side) is None]
        if lacks:
            yield Problem(
                at(item, "candidates", index, "caching"),
                f"{candidate.name} reuses what was computed before, and no {' and no '.join(lacks)} run is pinned",
                "measure the workload cold and warm, and pin both; until then it is no candidate",
            )
        elif candidate.cold == candidate.warm:
            yield Problem(
                at_key(item, "candidates", index, "warm"),
                f"the cold run of {candidate.name} is its warm run, too",
                "pin two runs that differ in the state of the cache alone",
            )


RULE = Rule(
    "caching-without-cold-and-warm", Scope.DOCUMENT, Severity.ERROR, "a caching candidate without cold and warm numbers", check,
    kinds=("estimate/v1",), contract=("9.5",), since=6,
)  # fmt: skip
