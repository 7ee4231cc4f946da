"""An estimate that its own documents do not give.

Everything in a ledger follows from the shape, the workload, the ceilings and what was stated (contract 9.2), and an estimate
pins all of them. hio computes the ledger again: each term that they give is there and no other, with that work, that cost,
that fixed part, between those ends. A number that was typed decides about a machine, and so does one whose ceilings or shape
became others since. An estimate that hio wrote and that names ceilings without a pin cannot be computed again: a gate.

How to fix: `hio estimate --write --name OTHER` computes it with the documents as they are now; take the old one away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Amount, Estimate, Term
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.estimated import is_same, number, shown

_COUNTED = ("draft-tokens", "acceptance")
"""What rows or settings counted of drafting, kept as assumptions."""


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    costs = [term.cost for term in estimate.terms]
    if not estimate.ceilings and any(cost.ceiling for cost in costs):
        if estimate.judged_by is not None:
            yield Problem(
                at_key(item, "terms"),
                "its ceilings are not pinned, so that nobody can compute it again",
                "hio estimate --write pins them",
                severity=Severity.GATE,
            )
        return
    if estimate.bound is None or (not estimate.ceilings and estimate.judged_by is None):
        return
    pins = [estimate.workload.shape] if estimate.workload.shape else []
    shapes = [_pinned(view, "shape/v1", pin, item) for pin in pins]
    ceilings = [_pinned(view, "ceilings/v1", pin, item) for pin in estimate.ceilings]
    if None in (*shapes, *ceilings):
        return  # pin-mismatch, dangling-reference, or the document's own fault
    yield from _compared(item, estimate, shapes[0] if shapes else None, ceilings)


def _pinned(view: View, kind: str, pin: str, item: Item) -> Item | None:
    """The readable document with the bytes that are pinned."""
    found = view.repo.find(kind, name_of(pin), item.service)
    same = found is not None and pin.endswith(f"@{found.document.digest}")
    return found if same and found is not None and found.model is not None else None


def _compared(item: Item, estimate: Estimate, shape: Item | None, ceilings: Any) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates, and a ledger is computed with dataclasses.
    from hio_validate.estimating.bounds import asked, ledger

    stated, counted = {}, {}
    for each in estimate.assumptions:
        if each.source == asked.STATED_BY and each.name in asked.STATED:
            stated[each.name] = each.amount
        elif each.name in _COUNTED and estimate.workload.drafting and "nobody" not in each.source:
            counted[each.name] = each.amount
    again = asked.Asked(
        workload=estimate.workload, target=estimate.target, path=estimate.path, shape=shape, ceilings=tuple(ceilings),
        stated=stated, counted=counted,
    )  # fmt: skip
    try:
        computed = {term.name: term for term in ledger.terms_of(again).terms}
    except (ValueError, ZeroDivisionError):
        return  # an assumption that is no interval: estimate-contradicts-terms says so
    for index, term in enumerate(estimate.terms):
        if term.name not in computed:
            yield Problem(
                at(item, "terms", index, "name"),
                f"the shape, the workload and the ceilings give no term {term.name}",
                "take it out, or state what it follows from with hio estimate --assume",
            )
        else:
            yield from _term(item, index, term, computed[term.name])
    lacking = [name for name in computed if name not in {term.name for term in estimate.terms}]
    if lacking:
        yield Problem(
            at_key(item, "terms"),
            f"left out: {', '.join(lacking)}; its shape, workload and ceilings give "
            + ("it" if len(lacking) == 1 else "them"),
            "a ledger with fewer terms has a lower bound: compute it again with hio estimate",
        )


def _term(item: Item, index: int, said: Term, computed: Term) -> Iterator[Problem]:
    """The first of its numbers that is another one."""
    parts = [
        (("work",), said.work, computed.work),
        (("cost", "amount"), said.cost.amount, computed.cost.amount),
        (("fixed",), said.fixed, computed.fixed),
    ]
    for path, mine, given in parts:
        if mine is None or given is None:
            if mine is not given:
                yield Problem(
                    at(item, "terms", index, "name"),
                    f"{said.name} has {'no ' if mine is None else 'a '}fixed part; its documents give "
                    + ("none" if given is None else shown(given)),
                    "compute it again with hio estimate",
                )
                return
            continue
        for end in ("value", "low", "high"):
            stands, follows = getattr(mine, end), _in_unit(given, end, mine.unit)
            if follows is None or not is_same(stands, follows):
                told = shown(given) if follows is None else number(follows, mine.unit)
                yield Problem(
                    at(item, "terms", index, *path, end),
                    f"the {path[0]} of {said.name} is {number(stands, mine.unit)} here ({end}); the shape, the workload and the "
                    f"ceilings that it pins give {told}",
                    "compute it again with hio estimate; a number is not edited by hand",
                )
                return


def _in_unit(given: Amount, end: str, unit: str) -> float | None:
    """A computed number in the unit that a document says it in; None where that is of another dimension."""
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.units import UNITS

    (dimension, size), (wanted, its) = UNITS[given.unit], UNITS[unit]
    return float(getattr(given, end)) * size / its if dimension is wanted else None


RULE = Rule(
    "estimate-contradicts-documents", Scope.DOCUMENT, Severity.ERROR, "a ledger that its shape, workload and ceilings do not give",
    check, kinds=("estimate/v1",), contract=("9.1", "9.2"), since=6,
)  # fmt: skip
