"""An estimate that its own documents do not give.

Everything in a ledger follows from the shape, the workload, the ceilings and what was stated (contract 9.2), and an estimate
pins all of them. hio computes the ledger again: each term that they give is there and no other, with that work, that cost,
that fixed part, between those ends. A number that was typed decides about a machine, and so does one whose ceilings or shape
became others since. An estimate that hio wrote and that names ceilings without a pin cannot be computed again: a gate.

It is computed with today's arithmetic, so that only an estimate of the same arithmetic is judged (`arithmetic:`, which hio
writes). Of an older one, hio says so in a note: nobody did anything wrong, and hio learned something since. A newer one is a
gate: this hio cannot check it. Where a person wrote an estimate without ceilings, the work (bytes, operations) of each term
that follows from shape and workload alone has to lie within what these allow, in three digits.

How to fix: `hio estimate --write --name OTHER` computes it with the documents as they are now; take the old one away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Estimate, Term
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.estimated import exceeds, in_unit_of, is_same, named, number, pinned, shown

_DRAFTED = ("draft-tokens", "acceptance")
"""What rows or settings counted of drafting, kept as assumptions."""

_NO_INTERVAL = (ValueError, ZeroDivisionError)
"""What an assumption that is no interval raises: estimate-contradicts-terms says so."""


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    # Imported here: few repositories hold estimates.
    from hio_validate.estimating.bounds.arithmetic import ARITHMETIC, arithmetic_of

    made_with = arithmetic_of(estimate)
    if made_with is not None and made_with > ARITHMETIC:
        yield _of_a_newer(item, made_with, ARITHMETIC)
        return
    if made_with is not None and not estimate.ceilings and any(term.cost.ceiling for term in estimate.terms):
        yield Problem(
            at_key(item, "terms"),
            "its ceilings are not pinned, so that nobody can compute it again",
            "hio estimate --write pins them",
            severity=Severity.GATE,
        )
        return
    if made_with is not None and made_with < ARITHMETIC:
        if estimate.bound is not None or estimate.memory is not None:
            yield _of_an_older(item, made_with, ARITHMETIC)
    elif estimate.bound is not None:
        yield from _again(item, view, is_whole=made_with is not None or bool(estimate.ceilings))


def _of_a_newer(item: Item, made_with: int, ours: int) -> Problem:
    return Problem(
        at(item, "arithmetic"),
        f"computed with arithmetic {made_with}; this hio knows {ours} and cannot compute it again",
        "judge it with the hio that wrote it (judged_by) or a newer one",
        severity=Severity.GATE,
    )


def _of_an_older(item: Item, made_with: int, ours: int) -> Problem:
    # Imported here: few repositories hold estimates.
    from hio_validate.estimating.bounds.command import of_kept

    return Problem(
        at(item, "arithmetic") if item.model.arithmetic is not None else at_key(item, "terms"),
        f"computed with arithmetic {made_with}, today's is {ours}: it is not computed again, and hio may give other "
        "numbers now",
        f"{of_kept(item.model)} --write --name OTHER computes it anew; take this one away then",
        severity=Severity.NOTE,
    )


def _again(item: Item, view: View, is_whole: bool) -> Iterator[Problem]:
    """The ledger computed again; of one that a person wrote without ceilings only the work that needs none."""
    estimate: Estimate = item.model
    pins = [estimate.workload.shape] if estimate.workload.shape else []
    shapes = [pinned(view, "shape/v1", pin, item) for pin in pins]
    ceilings = [pinned(view, "ceilings/v1", pin, item) for pin in estimate.ceilings]
    if None in (*shapes, *ceilings):
        return  # pin-mismatch, dangling-reference, or the document's own fault
    asked = _asked(estimate, shapes[0] if shapes else None, ceilings)
    yield from _compared(item, estimate, asked) if is_whole else _counted(item, view, estimate, asked)


def _asked(estimate: Estimate, shape: Item | None, ceilings: Any) -> Any:
    """The question that an estimate answers (estimating.bounds.asked.Asked)."""
    # Imported here: few repositories hold estimates, and a ledger is computed with dataclasses.
    from hio_validate.estimating.bounds.asked import Asked, stated_in

    stated = stated_in(estimate)
    counted = {
        each.name: each.amount
        for each in estimate.assumptions
        if each.name in _DRAFTED
        and each.name not in stated
        and estimate.workload.drafting
        and "nobody" not in each.source
    }
    return Asked(
        workload=estimate.workload, target=estimate.target, path=estimate.path, shape=shape, ceilings=tuple(ceilings),
        stated=stated, counted=counted,
    )  # fmt: skip


def _counted(item: Item, view: View, estimate: Estimate, asked: Any) -> Iterator[Problem]:
    """Work whose best guess lies outside of what shape and workload allow; a person may be less sure of it than they are.

    A person counts the work of one device, or that of all of them at their rate together.
    """
    # Imported here: few repositories hold estimates, and a ledger is computed with dataclasses.
    from hio_validate.costs.units import UNITS
    from hio_validate.estimating.bounds.unpriced import work_of

    is_divided = estimate.workload.devices > 1 or estimate.workload.sharding is not None
    try:
        given = [work_of(asked, of_all=True), *([work_of(asked)] if is_divided else [])]
    except _NO_INTERVAL:
        return
    in_rates = _in_rates(item, view, estimate)
    for index, term in enumerate(estimate.terms):
        dimension, size = UNITS[term.work.unit]
        if term.name not in given[0] or dimension != ("arithmetic" if term.name == "compute" else "data"):
            continue  # it follows from other documents; unit-mismatch
        unit = term.work.unit
        ends = [
            (0.0 if term.name in in_rates else each[term.name].low / size, each[term.name].high / size)
            for each in given
        ]
        if not any(_lies_within(term.work.value, low, high) for low, high in ends):
            allowed = [
                f"{number(low, unit)} to {number(high, unit)}" if low < high else number(high, unit)
                for low, high in ends
            ]
            yield Problem(
                at(item, "terms", index, "work", "value"),
                f"the work of {term.name} is {shown(term.work)} here; the shape and the workload that it pins give "
                + allowed[0] + (f", {allowed[-1]} of one device" if len(allowed) > 1 else ""),
                "count it again, or let hio estimate compute it",
            )  # fmt: skip


def _lies_within(said: float, low: float, high: float) -> bool:
    return not exceeds(low, said) and not exceeds(said, high)


def _in_rates(item: Item, view: View, estimate: Estimate) -> set[str]:
    """Terms of which a part may stand elsewhere: arithmetic in the rate of an engine's products, the output as a term of its own."""
    rates = [rate for term in estimate.terms if (rate := named(term.cost, item, view)) is not None]
    found = {"compute"} if any(each.rate.quantity == "matvec" for each in rates) else set()
    return found | ({"weights"} if any(term.name == "output" for term in estimate.terms) else set())


def _compared(item: Item, estimate: Estimate, asked: Any) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates, and a ledger is computed with dataclasses.
    from hio_validate.estimating.bounds.ledger import terms_of

    try:
        computed = {term.name: term for term in terms_of(asked).terms}
    except _NO_INTERVAL:
        return
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
            stands, follows = getattr(mine, end), in_unit_of(given, end, mine.unit)
            if follows is None or not is_same(stands, follows):
                told = shown(given) if follows is None else number(follows, mine.unit)
                yield Problem(
                    at(item, "terms", index, *path, end),
                    f"the {path[0]} of {said.name} is {number(stands, mine.unit)} here ({end}); the shape, the workload and the "
                    f"ceilings that it pins give {told}",
                    "compute it again with hio estimate; a number is not edited by hand",
                )
                return


RULE = Rule(
    "estimate-contradicts-documents", Scope.DOCUMENT, Severity.ERROR, "a ledger that its shape, workload and ceilings do not give",
    check, kinds=("estimate/v1",), contract=("9.1", "9.2"), since=6,
)  # fmt: skip
