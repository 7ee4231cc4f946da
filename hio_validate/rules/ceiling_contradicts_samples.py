"""A measured ceiling that its own samples do not give.

Every efficiency is a share of it. Contract 9.2: achieved rates are measured here. A measured rate has at least three
repetitions, says how they were made, and belongs to a host; its value is their median, its ends are the smallest and the
largest of them (an end that is absent is the value). A rate that was rounded up makes every engine look worse than it is.

How to fix: measure it with `hio probe host` or `hio probe engine`, which compute what they write.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from hio_validate.diagnostic import Severity
from hio_validate.evidence.averages import median
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

_FEWEST = 3


def check(item: Item, view: View) -> Iterator[Problem]:
    ceilings: Ceilings = item.model
    if ceilings.how != "measured":
        return
    if ceilings.host is None:
        yield Problem(
            at(item, "how"),
            "these ceilings are measured, and on which host is not said",
            "write host: as captures name it; hio probe host does",
        )
    for name, rate in ceilings.rates.items():
        yield from _rate(item, name, rate)


def _rate(item: Item, name: str, rate: Rate) -> Iterator[Problem]:
    if rate.method is None:
        yield Problem(
            at_key(item, "rates", name),
            f"how {name} was measured is not said",
            "write method: what was done, with sizes",
        )
    if len(rate.samples) < _FEWEST:
        yield Problem(
            at_key(item, "rates", name, "samples") if rate.samples else at_key(item, "rates", name),
            f"{name} has {len(rate.samples)} samples; a measured rate needs {_FEWEST} at least",
            "repeat it: hio probe host --yes",
        )
        return
    wanted = {"value": median(rate.samples), "low": min(rate.samples), "high": max(rate.samples)}
    words = {"value": "median", "low": "smallest", "high": "largest"}
    for key, given in wanted.items():
        said = getattr(rate, key)
        stated = rate.value if said is None else said
        if not isclose(stated, given, rel_tol=1e-6):
            yield Problem(
                at_key(item, "rates", name) if said is None else at(item, "rates", name, key),
                f"{key} of {name} is {stated:.9g} {rate.unit}{' (absent: as the value)' if said is None else ''}; "
                f"the {words[key]} of its samples is {given:.9g}",
                "write what the samples give, all digits",
            )


RULE = Rule(
    "ceiling-contradicts-samples", Scope.DOCUMENT, Severity.ERROR, "a measured ceiling is not what its samples give", check,
    kinds=("ceilings/v1",), contract=("9.2",), since=6, suppressible=False,
)  # fmt: skip
