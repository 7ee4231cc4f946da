"""An operator test with another tolerance than was planned, or than the receipt it is held against.

"All cases passed" means: none was further from the reference than the tolerance. With a wider one every backend passes.
The planned tolerance of each operator and that of the other arm have to be the same (contract 7.8); one that the source
does not tell cannot be held against anything and is a gate. An operator that only one of the two arms tested is a gate, too.

How to fix: test both arms with the planned tolerance, default and higher accumulation as receipts of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.receipt import OperatorTest
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key

_ADVICE = "test again with the planned tolerance"


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, OperatorTest):
        return
    for name, counts in receipt.operators.items():
        if counts.planned is not None:
            where = at(item, "operators", name, "tolerance")
            yield from _held(where, name, counts.tolerance, counts.planned, "was planned")
    other = view.repo.find("receipt/v1", receipt.against, item.service) if receipt.against else None
    if other is None or not isinstance(other.model, OperatorTest):
        return
    for name, counts in receipt.operators.items():
        theirs = other.model.operators.get(name)
        if theirs is None:
            yield Problem(
                at_key(item, "operators", name),
                f"{receipt.against} did not test {name}",
                "test both arms alike",
                severity=Severity.GATE,
            )
        else:
            where = at(item, "operators", name, "tolerance")
            yield from _held(where, name, counts.tolerance, theirs.tolerance, f"is that of {receipt.against}")


def _held(where: Place, name: str, mine: float | str, other: float | str, how: str) -> Iterator[Problem]:
    if "unknown" in (mine, other):
        said = f"the tolerance of {name} is {mine}; {other} {how}, and unknown is never equal"
        yield Problem(
            where, said, "say which tolerance the program of that build has", severity=Severity.GATE
        )
    elif mine != other:
        yield Problem(where, f"the tolerance of {name} is {mine:g}; {other:g} {how}", _ADVICE)


RULE = Rule(
    "operator-test-tolerance", Scope.DOCUMENT, Severity.ERROR, "an operator test has another tolerance", check,
    kinds=("receipt/v1",), contract=("7.8",), since=5,
)  # fmt: skip
