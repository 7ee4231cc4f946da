"""Whether the two arms of a run differ in one setting only: computed from stacks, deltas and captures (3.5).

Invariant: isolation is never declared; what was not observed is reported as such, never assumed equal.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from hio_validate.models.run import Arm, Run
from hio_validate.repo import Item, Repo, name_of
from hio_validate.settings.difference import NEEDS_A_ROW, Compared, Difference, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import UNKNOWN, text_of


class Isolation(NamedTuple):
    """How two arms differ. `further` are known differences beside the one asked about."""

    arms: tuple[str, str]
    difference: Difference
    further: tuple[Compared, ...]
    unobserved: tuple[str, ...]
    """Why something could still differ unseen, one reason each."""
    differs: bool
    """Whether the arms differ in the setting asked about at all."""


def isolate(run: Item, factors: frozenset[str], repo: Repo, settings: Settings) -> Isolation | None:
    """The pair of arms that differs least beside `factors`; None where fewer than two arms can be resolved."""
    return min(
        _pairs(run, factors, repo, settings),
        key=lambda pair: (not pair.differs, len(pair.further), len(pair.unobserved)),
        default=None,
    )


def isolating_arms(run: Item, factors: frozenset[str], repo: Repo, settings: Settings) -> set[str]:
    """The arms of every pair that differs in `factors` and, as far as is known, in nothing else."""
    pairs = _pairs(run, factors, repo, settings)
    return {arm for pair in pairs if pair.differs and not pair.further for arm in pair.arms}


def _pairs(run: Item, factors: frozenset[str], repo: Repo, settings: Settings) -> list[Isolation]:
    model: Run = run.model
    legs = {name: _legs(arm, run, repo, settings) for name, arm in model.arms.items()}
    resolved = {name: sides for name, sides in legs.items() if sides}
    return [_isolation(pair, resolved, model, factors, settings) for pair in combinations(resolved, 2)]


def _legs(arm: Arm, run: Item, repo: Repo, settings: Settings) -> list[Effective]:
    """An arm's effective settings, once for each capture of it; without any capture, as declared."""
    stack = repo.find("stack/v1", name_of(arm.stack), run.service)
    if stack is None or stack.model is None:
        return []
    delta = {name: text_of(value) for name, value in arm.set.items()}
    found = [repo.find("capture/v1", name_of(pin), run.service) for pin in arm.captures]
    captures = [capture for capture in found if capture and capture.model]
    return [settings.effective(stack, capture, delta) for capture in captures or (None,)]


def _isolation(
    arms: tuple[str, str],
    resolved: dict[str, list[Effective]],
    run: Run,
    factors: frozenset[str],
    settings: Settings,
) -> Isolation:
    compared = settings.difference(resolved[arms[0]][0], resolved[arms[1]][0])
    asked = {found.address for factor in factors if (found := compared.find(factor))}
    differing = [each for each in compared.touched if each.group in NEEDS_A_ROW]
    further = [each for each in differing if each.address not in asked and each.group is not Group.UNKNOWN]
    unobserved = [f"the arm {arm} has no capture" for arm in arms if not run.arms[arm].captures]
    unobserved += [
        f"{each.address} is unknown on an arm"
        for each in differing
        if each.group is Group.UNKNOWN and each.address not in asked
    ]
    for arm in arms:
        known, unknown = _between_legs(resolved[arm], settings)
        further += known
        unobserved += [f"{address} is unknown in a later leg of the arm {arm}" for address in unknown]
        if not all(all(leg.catalogues.values()) for leg in resolved[arm]):
            unobserved.append(f"the defaults of the arm {arm} are unknown")
    differs = any(each.address in asked for each in differing)
    return Isolation(arms, compared, tuple(further), tuple(unobserved), differs)


def _between_legs(legs: list[Effective], settings: Settings) -> tuple[list[Compared], list[str]]:
    """What changed within an arm between its first leg and a later one, and what a later leg alone does not show."""
    later = [each for leg in legs[1:] for each in settings.difference(legs[0], leg).touched]
    known = [each for each in later if each.group in NEEDS_A_ROW and each.group is not Group.UNKNOWN]
    unknown = [each.address for each in later if each.group is Group.UNKNOWN and _was_known(each)]
    return known, list(dict.fromkeys(unknown))


def _was_known(each: Compared) -> bool:
    """Whether the first leg shows it; what no leg shows is unknown on the arm, and said once."""
    return each.from_ != UNKNOWN
