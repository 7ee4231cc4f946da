"""An entry that says of its run what the run did not measure.

An entry about one setting pins the run in which that setting was varied (contract 3.5, 8.1). If both arms had the same
value of it, or no arm has such a setting, the published number belongs to something else. If the stack that an
increment makes the next parent does not hold the value that won, what is accepted was never measured. A result that
compares an arm with itself says nothing at all.

How to fix: name the setting that the two arms differ in (`hio ledger append --from-run RUN` finds it), the two arms
that were meant, and the stack whose value was measured. A committed entry stays: append a `correction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import names_an_identity
from hio_validate.ledger import one_setting
from hio_validate.models.entry import Increment
from hio_validate.models.matrix import Bundle
from hio_validate.models.run import Arm
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.settings.difference import Compared, Group
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import text_of


def check(item: Item, view: View) -> Iterator[Problem]:
    run = view.repo.run_of(item)
    factor = getattr(item.model, "factor", None)
    if run is None or factor is None or _is_bundle(factor, item, view):
        return
    severity = Severity.GATE if item.model.imported or run.model.imported else None
    for problem in _problems(item, run, factor, view):
        yield problem._replace(
            severity=severity, related=(("the run", Place(run.document, ("arms",), True)),)
        )


def _problems(item: Item, run: Item, factor: str, view: View) -> Iterator[Problem]:
    result = getattr(item.model, "result", None)
    if result is not None and result.from_arm == result.to_arm:
        yield Problem(
            at(item, "result", "to"),
            f"the arm {result.to_arm} of {run.name} is compared with itself",
            "name the two arms that were meant: from: the reference, to: what is compared with it",
        )
        return
    names = [result.from_arm, result.to_arm] if result is not None else list(run.model.arms)
    if _sets_apart(run, names, factor) and _results_in_no_stack(item):
        return
    arms = {
        name: arm
        for name in names
        if (arm := _effective(run, name, names_an_identity(factor), view)) is not None
    }
    if len(arms) < len(names) or len(arms) < 2:
        return
    pairs = [view.settings.difference(one, two).find(factor) for one, two in combinations(arms.values(), 2)]
    if not any(pairs):
        yield Problem(
            at(item, "factor"),
            f"no arm of {run.name} has a setting {factor}",
            "name the setting in which its arms differ",
        )
    elif all(_is_the_same(each) for each in pairs if each):
        same = next(each for each in pairs if each)
        yield Problem(
            at(item, "factor"),
            f"{factor} is {same.to} in every arm of {run.name} that this is about, so that run did not vary it",
            "name the setting in which its arms differ",
        )
    elif isinstance(item.model, Increment):
        yield from _resulting(item, run, arms, view)


def _sets_apart(run: Item, names: list[str], factor: str) -> bool:
    """Whether the arms are one stack with deltas that give the setting different values: then nothing need be resolved."""
    arms = [run.model.arms[name] for name in names if name in run.model.arms]
    said = {text_of(value) for arm in arms for key, value in arm.set.items() if one_setting(key, factor)}
    silent = any(not any(one_setting(key, factor) for key in arm.set) for arm in arms)
    return len({arm.stack for arm in arms}) == 1 and len(said) > 1 and not silent


def _results_in_no_stack(item: Item) -> bool:
    pins = item.model.pins
    return not isinstance(item.model, Increment) or pins is None or pins.stack is None


def _resulting(item: Item, run: Item, arms: dict[str, Effective], view: View) -> Iterator[Problem]:
    """The stack of an increment holds the value of the arm that won, or of any arm where none is named."""
    increment: Increment = item.model
    pin = increment.pins.stack if increment.pins else None
    stack = view.repo.find("stack/v1", name_of(pin), item.service) if pin else None
    if stack is None or stack.model is None:
        return
    named = [increment.result.to_arm] if increment.result else list(arms)
    result = view.settings.effective(stack)
    found = {name: view.settings.difference(arms[name], result).find(increment.factor) for name in named}
    known = {name: each for name, each in found.items() if each is not None}
    if known and not any(_may_be_the_same(each) for each in known.values()):
        measured = " or ".join(f"{each.from_} in {name}" for name, each in known.items())
        yield Problem(
            at(item, "pins", "stack"),
            f"{stack.name}, which results, has {increment.factor} = {next(iter(known.values())).to}; "
            f"{run.name} measured {measured}",
            "pin the stack that holds the value which was measured",
        )


def _is_the_same(each: Compared) -> bool:
    return each.group is not Group.UNKNOWN and each.from_ == each.to


def _may_be_the_same(each: Compared) -> bool:
    return each.group is Group.UNKNOWN or each.from_ == each.to


def _is_bundle(factor: str, item: Item, view: View) -> bool:
    """Whether the name is that of several settings in a matrix of the service."""
    return any(
        isinstance(row, Bundle) and row.bundle == factor
        for matrix in view.repo.of("matrix/v1")
        if matrix.service == item.service
        for row in matrix.model.rows
    )


def _effective(run: Item, name: str, observed: bool, view: View) -> Effective | None:
    arm = run.model.arms.get(name)
    stack = view.repo.find("stack/v1", name_of(arm.stack), run.service) if arm else None
    if arm is None or stack is None or stack.model is None:
        return None
    delta = {factor: text_of(value) for factor, value in arm.set.items()}
    return view.settings.effective(stack, _capture(arm, run, view) if observed else None, delta)


def _capture(arm: Arm, run: Item, view: View) -> Item | None:
    found = (view.repo.find("capture/v1", name_of(pin), run.service) for pin in arm.captures)
    return next((each for each in found if each is not None and each.model is not None), None)


RULE = Rule(
    "run-measured-something-else", Scope.DOCUMENT, Severity.ERROR, "an entry says of its run what it did not measure", check,
    kinds=("entry/v1",), contract=("3.5", "8.1"), since=2, suppressible=False, spares_older=True, spares_corrected=True,
)  # fmt: skip
