"""A published rate of which nobody can say where it is from, or what exactly was promised.

Contract 9.2: a published ceiling has its device, date and source; a generic latency table is no ceiling. A rate of
arithmetic without `sparsity` may be twice what a dense matrix gets. A published latency needs a source of its own, because
it belongs to one device and its driver, and "numbers everybody should know" belong to none.

How to fix: name the vendor's document and its date; write `sparsity: dense` or `structured`; measure latencies with
`hio probe host`, or state one as an assumption of the estimate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

_GENERIC = re.compile(
    r"every (?:programmer|engineer|one)|everyone|everybody|latency (?:numbers|table)|rules? of thumb|common knowledge",
    re.IGNORECASE,
)


def check(item: Item, view: View) -> Iterator[Problem]:
    ceilings: Ceilings = item.model
    if ceilings.how != "published":
        return
    if ceilings.date is None:
        yield Problem(
            at(item, "how"),
            "these ceilings are published, and the date of the source is not said",
            "write date: of the document, as it says it",
        )
    for name, rate in ceilings.rates.items():
        yield from _rate(item, ceilings, name, rate)


def _rate(item: Item, ceilings: Ceilings, name: str, rate: Rate) -> Iterator[Problem]:
    # Imported here: few repositories hold ceilings, and intervals are dataclasses.
    from hio_validate.costs.units import DIMENSION_OF, Dimension

    source = rate.source or ceilings.source
    latency = DIMENSION_OF[rate.quantity] is Dimension.TIME
    if source is None:
        yield Problem(
            at_key(item, "rates", name),
            f"{name} is published, and no source is named",
            "write source: the vendor's document, here or for the whole document",
        )
    elif _GENERIC.search(source):
        yield Problem(
            at(item, "rates", name, "source") if rate.source else at_key(item, "rates", name),
            f'"{source}" is a table for machines in general, and no ceiling of this one',
            "name the vendor's document of this device, or measure it with hio probe host",
        )
    elif latency and rate.source is None:
        yield Problem(
            at_key(item, "rates", name),
            f"{name} is a published latency without a source of its own",
            "name the document that says it of this device, or measure it with hio probe host",
        )
    if rate.quantity == "matmul" and rate.sparsity is None:
        yield Problem(
            at_key(item, "rates", name),
            f"whether {name} counts a dense matrix, or zeros that are skipped, is not said",
            "write sparsity: dense or structured, as the source says it",
        )


RULE = Rule(
    "unsourced-ceiling", Scope.DOCUMENT, Severity.ERROR, "a published rate without source, date or meaning", check,
    kinds=("ceilings/v1",), contract=("9.2",), since=6,
)  # fmt: skip
