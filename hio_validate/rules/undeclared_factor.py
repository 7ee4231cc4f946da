"""Declared factors that are not the settings in which the arms differ.

`factors` says what the experiment is about; whoever reads the plan, and whoever cites its run, goes by it. It is held
against the effective difference of the arms, computed from stacks, deltas and the defaults of their builds (contract
4.6): a setting that differs and is not declared is an error, and so is a declared one that no arm varies. A setting
that lives in its leader's row is not declared beside it. What differs only perhaps, because a side is unknown, is a
gate.

How to fix: list exactly the settings in which the arms differ; `hio plan check` prints them. For an A-A experiment
write `factors: []`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import Contrast, contrasts
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.settings.difference import Compared, Group


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    found = contrasts(item, view.repo, view.settings)
    if not found:
        return
    for index, name in enumerate(plan.factors):
        message = _not_varied(name, found)
        if message:
            yield Problem(at(item, "factors", index), message, "list the settings in which the arms differ")
    if plan.stage != "a-a":
        yield from _undeclared(item, plan, found)


def _undeclared(item: Item, plan: Plan, found: Sequence[Contrast]) -> Iterator[Problem]:
    declared = {
        each.address
        for name in plan.factors
        for contrast in found
        if (each := contrast.difference.find(name))
    }
    told: set[str] = set()
    for contrast in found:
        for each in contrast.factors:
            if each.address not in declared | told:
                told.add(each.address)
                unknown = each.group is Group.UNKNOWN
                how = "may differ" if unknown else "differs"
                yield Problem(
                    at_key(item, "factors"),
                    f"{each.address} {how} ({plan.baseline}: {each.from_}, {contrast.arm}: {each.to}) and is not declared",
                    "add it to factors, or give both arms the same value",
                    severity=Severity.GATE if unknown else None,
                )


def _not_varied(name: str, found: Sequence[Contrast]) -> str:
    """Why a declared factor is none; empty where some arm varies it, or may."""
    sides = [each for contrast in found if (each := contrast.difference.find(name)) is not None]
    if not sides:
        several = found[0].difference.ambiguous(name)
        return f"{name} could mean {' or '.join(several)}" if several else f"no arm has a setting {name}"
    if any(each in contrast.factors for each in sides for contrast in found):
        return ""
    return _what_it_is(name, sides[0])


def _what_it_is(name: str, each: Compared) -> str:
    if each.group is Group.FOLLOWED:
        leader = next(
            (side.leader for side in (each.candidate, each.parent) if side and side.leader), "another setting"
        )
        return f"{name} follows {leader}, and is part of it"
    if each.group is Group.OPERATIONAL:
        return f"{name} is a place, a path or a name: it needs no evidence, and is no factor"
    return f"{name} is {each.to} in every arm"


RULE = Rule(
    "undeclared-factor", Scope.DOCUMENT, Severity.ERROR, "declared factors are not those in which the arms differ", check,
    kinds=("plan/v1",), contract=("4.6",), since=3,
)  # fmt: skip
