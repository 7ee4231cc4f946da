"""The design of a plan, computed from the documents: how arms differ, whether the order is fair, what the legs can show.

Invariant: what a plan declares of its own design is never believed here (contract 4.4, 4.6). Rules, `hio plan` and
whoever runs a plan ask the same questions here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import count
from math import comb
from typing import Any, NamedTuple

from hio_validate.evidence.trials import plan_of
from hio_validate.models.plan import Plan, PlannedArm
from hio_validate.models.run import Run
from hio_validate.repo import Item, Repo, name_of
from hio_validate.settings.difference import NEEDS_A_ROW, Compared, Difference, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import text_of


class Contrast(NamedTuple):
    """How one arm differs from the baseline arm, as far as documents say."""

    arm: str
    difference: Difference
    factors: tuple[Compared, ...]
    """What counts as changed: a follower lives in its leader, paths and ports are operational."""

    @property
    def known(self) -> list[Compared]:
        """The factors whose two values are known."""
        return [each for each in self.factors if each.group is not Group.UNKNOWN]


def settings_of(arm: PlannedArm, service: str | None, repo: Repo, settings: Settings) -> Effective | None:
    """The settings of an arm in force: its stack with its delta; None where the stack cannot be read."""
    stack = repo.find("stack/v1", arm.stack, service)
    if stack is None or stack.model is None:
        return None
    return settings.effective(stack, None, {name: text_of(value) for name, value in arm.set.items()})


def between(one: Effective, other: Effective, settings: Settings) -> tuple[Difference, tuple[Compared, ...]]:
    """How two sides differ, and which of it counts as a factor."""
    compared = settings.difference(one, other)
    return compared, tuple(each for each in compared.touched if each.group in NEEDS_A_ROW)


def contrasts(plan: Item, repo: Repo, settings: Settings) -> list[Contrast]:
    """Every other arm against the baseline arm; arms whose stacks cannot be read are left out."""
    model: Plan = plan.model
    reference = model.arms.get(model.baseline)
    base = settings_of(reference, plan.service, repo, settings) if reference else None
    found = []
    for name, arm in model.arms.items() if base is not None else ():
        mine = settings_of(arm, plan.service, repo, settings) if name != model.baseline else None
        if base is not None and mine is not None:
            found.append(Contrast(name, *between(base, mine, settings)))
    return found


def legs(plan: Plan) -> Counter[str]:
    """Legs of each arm, in the order of the arms."""
    counted = Counter(plan.order)
    return Counter({name: counted[name] for name in plan.arms})


def mean_place(order: Sequence[str], arm: str) -> Fraction:
    """Mean place of an arm's legs, 1 first. Raises ZeroDivisionError where it has none."""
    places = [place for place, each in enumerate(order, 1) if each == arm]
    return Fraction(sum(places), len(places))


def is_balanced(order: Sequence[str]) -> bool:
    """Whether every arm has as many legs, at the same mean place: then a steady drift of the host favours none."""
    arms = set(order)
    return len(set(Counter(order).values())) == 1 and len({mean_place(order, arm) for arm in arms}) == 1


def rounds(order: Sequence[str], arms: Sequence[str]) -> int | None:
    """Rounds of an order in which every round has every arm once; None where it is no such order."""
    size = len(arms)
    blocks = [order[start : start + size] for start in range(0, len(order), size)]
    return len(blocks) if all(sorted(block) == sorted(arms) for block in blocks) else None


def balanced_order(one: str, other: str, each: int) -> list[str]:
    """ABBA BAAB ...: rounds of both arms, balanced for an even number of legs each."""
    fair = [one, other, other, one, other, one, one, other]
    return [fair[place % 8] for place in range(2 * each)]


def level(plan: Plan) -> float:
    """The two-sided level of one comparison: the plan's alpha, shared by the arms that are compared (Bonferroni)."""
    return float(plan.decide.alpha) / max(1, len(plan.arms) - 1)


def smallest_p(test: str, one: int, other: int) -> Fraction:
    """The smallest two-sided p that an exact test of two arms can give, whatever is measured.

    permutation: `one` and `other` legs, all relabellings alike likely; the mirrored one is as extreme where both arms
    have as many. sign-flip: `one` = `other` = rounds, each difference may have either sign.
    """
    if test == "sign-flip":
        return min(Fraction(1), Fraction(2, 2 ** min(one, other)))
    return min(Fraction(1), Fraction(2 if one == other else 1, comb(one + other, one)))


def legs_needed(test: str, alpha: float) -> int:
    """The fewest legs of each arm (rounds, for sign-flip) with which a two-sided p of alpha can be reached."""
    return next(each for each in count(1) if smallest_p(test, each, each) <= alpha)


def has_answered(run: Item, plan: Item, repo: Repo) -> bool:
    """Whether hio completed a run of what a plan compares, so that it is not repeated without a question (contract 4.8)."""
    return run.model.outcome == "completed" and not run.model.imported and compares_the_same(run, plan, repo)


def compares_the_same(run: Item, plan: Item, repo: Repo) -> bool:
    """Whether a run, however it ended, compared what a plan compares.

    The same are: the stage, the arms (stacks by their bytes, with their deltas), what was asked (the fixture by its
    bytes), and method, bench and cache where the run's plan is known.
    """
    ran: Run = run.model
    model: Plan = plan.model
    if ran.stage != model.stage:
        return False
    mine = [(_bytes_of(repo, "stack/v1", arm.stack, plan), _delta(arm.set)) for arm in model.arms.values()]
    theirs = [(arm.stack.partition("@")[2], _delta(arm.set)) for arm in ran.arms.values()]
    return sorted(mine) == sorted(theirs) and _asks_the_same(run, plan, repo)


def _asks_the_same(run: Item, plan: Item, repo: Repo) -> bool:
    model: Plan = plan.model
    before = plan_of(run, repo)
    if before is not None and (before.method, before.bench, before.cache) != (
        model.method,
        model.bench,
        model.cache,
    ):
        return False
    if model.fixture is None:
        return before is None or before.fixture is None
    asked = {pin.partition("@")[2]: name_of(pin) for pin in run.model.fixtures}
    mine = _bytes_of(repo, "fixture/v1", model.fixture, plan)
    return mine in asked and (before is None or before.fixture in (None, asked[mine]))


def _bytes_of(repo: Repo, kind: str, name: str, plan: Item) -> str:
    item = repo.find(kind, name, plan.service)
    return item.document.digest if item is not None else ""


def _delta(changes: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, text_of(value)) for name, value in changes.items()))


def full_name(reference: str, item: Item) -> str:
    """`site/model/name` of what a document names."""
    return reference if reference.count("/") == 2 else f"{item.service}/{reference}"
