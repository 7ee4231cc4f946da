"""What an estimate says has to be held in memory, and its own documents do not give.

Whether a model fits decides about a machine before any bound does. What has to be held follows from the shape, the lengths, the
requests at once and how the model is divided; what there is, from the ceilings (contract 9.2). An estimate pins all of them,
and hio computes the parts, their sum, the capacity and the outcome again, where the arithmetic that made it is today's
(`arithmetic:`; estimate-contradicts-documents tells of another one). An estimate that says nothing of memory stays valid.

How to fix: `hio estimate --write --name OTHER` computes it with the documents as they are now; take the old one away.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.estimate import Amount, Estimate, HeldMemory
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.estimated import in_unit_of, is_ordered, is_same, number, pinned, shown

_AGAIN = "compute it again with hio estimate; a number is not edited by hand"


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    said = estimate.memory
    if said is None:
        return
    # Imported here: few repositories hold estimates, and what is held is computed with dataclasses.
    from hio_validate.estimating.bounds import arithmetic, asked, memory

    if not arithmetic.is_todays(estimate):
        return  # estimate-contradicts-documents says so
    pins = [("shape/v1", pin) for pin in [estimate.workload.shape] if pin]
    pins += [("ceilings/v1", pin) for pin in estimate.ceilings]
    found = [pinned(view, kind, pin, item) for kind, pin in pins]
    if None in found:
        return  # pin-mismatch, dangling-reference, or the document's own fault
    shapes = [each for each in found if each is not None and each.kind == "shape/v1"]
    again = asked.Asked(
        workload=estimate.workload, target=estimate.target, path=estimate.path, shape=shapes[0] if shapes else None,
        ceilings=tuple(each for each in found if each is not None and each.kind == "ceilings/v1"), stated=asked.stated_in(estimate),
    )  # fmt: skip
    try:
        computed = memory.memory_of(again)
    except (ValueError, ZeroDivisionError):
        return  # an assumption that is no interval: estimate-contradicts-terms says so
    if computed is None:
        yield Problem(
            at(item, "memory"),
            "what has to be held in memory is told, and its shape and workload do not give it",
            "take it out, or pin the shape and say in which memory the model is held",
        )
        return
    yield from _compared(item, said, computed)


def _compared(item: Item, said: HeldMemory, computed: HeldMemory) -> Iterator[Problem]:
    mine, theirs = ({each.name: each.amount for each in told.parts} for told in (said, computed))
    for index, part in enumerate(said.parts):
        given = theirs.get(part.name)
        if given is None:
            yield Problem(
                at(item, "memory", "parts", index, "name"),
                f"its shape, workload and assumptions give no part {part.name}",
                _AGAIN,
            )
        else:
            yield from _amount(item, ("memory", "parts", index, "amount"), part.name, part.amount, given)
    if lacking := [name for name in theirs if name not in mine]:
        yield Problem(at(item, "memory", "parts"), f"left out: {', '.join(lacking)}", _AGAIN)
    yield from _amount(item, ("memory", "needed"), "the sum", said.needed, computed.needed)
    keys: tuple[str, ...] = ("per", "ceiling", "outcome")
    if said.capacity is not None and computed.capacity is not None:
        yield from _amount(item, ("memory", "capacity"), "the capacity", said.capacity, computed.capacity)
    elif said.capacity is not computed.capacity:
        keys = ("per", "outcome")
        told = shown(computed.capacity) if computed.capacity else "none"
        yield Problem(at(item, "memory"), f"the ceilings that it pins tell a capacity of {told}", _AGAIN)
    for key in keys:
        here, there = getattr(said, key), getattr(computed, key)
        if here != there:
            yield Problem(
                at(item, "memory", key) if here is not None else at(item, "memory"),
                f"{key} is {here or 'absent'}; its documents give {there or 'none'}",
                _AGAIN,
            )


def _amount(item: Item, path: Path, name: str, said: Amount, given: Amount) -> Iterator[Problem]:
    """The first of its numbers that is another one; one that is no interval is told by estimate-contradicts-terms."""
    for end in ("value", "low", "high"):
        stands, follows = getattr(said, end), in_unit_of(given, end, said.unit)
        if is_ordered(said) and (follows is None or not is_same(stands, follows)):
            told = shown(given) if follows is None else number(follows, said.unit)
            yield Problem(
                at(item, *path, end),
                f"{name} is {number(stands, said.unit)} here ({end}); the documents that it pins give {told}",
                _AGAIN,
            )
            return


RULE = Rule(
    "estimate-contradicts-memory", Scope.DOCUMENT, Severity.ERROR, "memory to hold that the estimate's documents do not give",
    check, kinds=("estimate/v1",), contract=("9.2",), since=6,
)  # fmt: skip
