"""What a plan compares: two arms and the settings in which they differ, by an asked test or of a stack with itself.

Invariant: an arm is the parent with a delta wherever a delta can say it, so that nothing else can differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hio_validate.evidence.design import between
from hio_validate.inheritance import Inheritance
from hio_validate.ledger import one_setting
from hio_validate.next_test import AskedTest, asked_tests
from hio_validate.plans.refusal import CannotPlan
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.difference import Compared as ComparedSetting
from hio_validate.settings.setting import Class
from hio_validate.settings.value import ABSENT, UNKNOWN, text_of
from hio_validate.source.dump import Row


@dataclass(frozen=True)
class Compared:
    """What a plan compares: two arms, and the settings in which they differ."""

    name: str
    """What the plan is called where nobody names it."""
    arms: Mapping[str, Mapping[str, Any]]
    factors: tuple[str, ...]
    question: str
    asked_by: str

    @property
    def baseline(self) -> str:
        return next(iter(self.arms))


def asked(view: View, service: str, factor: str | None, matrix: str | None) -> AskedTest:
    """The test that is to be planned: the next one that a matrix asks for, or the one that is named. Raises CannotPlan."""
    matrices = {item.name for item in view.repo.of("matrix/v1") if item.service == service}
    tests = [test for test in asked_tests(view, service) if matrix in (None, test.source)]
    tests = [test for test in tests if factor is None or _is_about(test, factor)]
    of_rows = [
        test for test in tests if test.source in matrices and not test.factor.startswith("defaults of ")
    ]
    lasting = [test for test in of_rows if factor or matrix or not test.outlived]
    if lasting:
        return lasting[0]
    if of_rows:
        raise CannotPlan(
            f"{of_rows[0].source} and whatever else asks is about a parent that was replaced; name it with --matrix "
            f"all the same, or try a setting on the current parent: --set SETTING=VALUE"
        )
    which = f" about {factor}" if factor else ""
    if tests:
        raise CannotPlan(
            f"{tests[0].source} asks for {tests[0].factor}, and no row of a matrix says from which value to which; "
            "write the candidate stack, then hio matrix new"
        )
    where = matrix or service
    raise CannotPlan(f"{where} asks for no test{which}; hio ledger next {service} lists what is asked for")


def _is_about(test: AskedTest, factor: str) -> bool:
    return test.factor == f"the bundle {factor}" or one_setting(test.factor, factor)


def of_test(view: View, service: str, test: AskedTest) -> Compared:
    """The comparison that an asked test wants: parent against parent with a delta. Raises CannotPlan."""
    item = view.repo.find("matrix/v1", test.source, service)
    found = view.inheritance(item) if item is not None and item.model is not None else None
    if found is None:
        raise CannotPlan(f"the matrix {test.source} cannot be resolved; hio validate says why")
    bundle = test.factor.removeprefix(_A_BUNDLE) if test.factor.startswith(_A_BUNDLE) else None
    wanted = _wanted(found, test, bundle)
    parent = found.parent
    short = bundle or _short(wanted[0].address, wanted[0].to)
    arm = _arm(view, found, wanted)
    mine = view.settings.effective(
        parent if "set" in arm else found.candidate,
        None,
        {key: text_of(value) for key, value in arm.get("set", {}).items()},
    )
    return Compared(
        short,
        {parent.name: Row(stack=parent.name), short: Row(arm)},
        tuple(each.address for each in between(view.settings.effective(parent), mine, view.settings)[1]),
        f"What does {test.factor}{f' {test.change}' if test.change else ''} change on {parent.name}?",
        test.source,
    )


_A_BUNDLE = "the bundle "


def _wanted(found: Inheritance, test: AskedTest, bundle: str | None) -> list[ComparedSetting]:
    """The settings that a test is about, compared between parent and candidate. Raises CannotPlan."""
    covered = [
        each for each in found.covered if getattr(each.row, "bundle", None) == bundle and each.compared
    ]
    mine = [each for each in covered if bundle or (each.compared and each.compared.address == test.factor)]
    if any(each.disposition == "undecided" for each in mine):
        raise CannotPlan(
            f"the row {test.factor} of {test.source} is undecided; write retest where it is to be measured"
        )
    wanted = [each.compared for each in mine if each.compared]
    if not wanted:
        raise CannotPlan(f"neither stack of {test.source} has {test.factor}, so there is nothing to compare")
    return wanted


def of_a_a(view: View, service: str, stack: str | None = None) -> Compared:
    """A stack against itself; without one the current parent. Raises CannotPlan."""
    parent = named_or_parent(view, service, stack).name
    return Compared(
        f"{parent}-a-a",
        {parent: Row(stack=parent), f"{parent}-again": Row(stack=parent)},
        (),
        f"How much does {parent} differ from itself on this host?",
        "the ledger" if stack is None else "the command line",
    )


def named_or_parent(view: View, service: str, stack: str | None) -> Item:
    """The stack of that name, without one the current parent. Raises CannotPlan."""
    name = stack or view.ledger(service).parent
    if name is None:
        raise CannotPlan(
            f"the ledger of {service} names no parent; record what serves: hio ledger append baseline"
        )
    item = view.repo.find("stack/v1", name, service)
    if item is None or item.model is None:
        has = ", ".join(sorted(each.name for each in view.repo.of("stack/v1") if each.service == service))
        raise CannotPlan(f"no readable stack of {service} is called {name}; it has {has or 'none'}")
    return item


def _short(address: str, value: str) -> str:
    """A name for an arm: `threads-2` for server.threads = 2."""
    words = re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{address.partition('.')[2]}-{value}").strip("-.")
    return words[:60].rstrip("-.")


def _arm(view: View, found: Inheritance, wanted: Sequence[ComparedSetting]) -> dict[str, Any]:
    """The arm as parent plus delta; as the candidate itself where no delta can say it, e.g. another build or a path."""
    delta = {side.address: each.to for each in wanted if (side := each.parent or each.candidate)}
    if not all(_can_be_said(each) for each in wanted):
        return {"stack": found.candidate.name}
    effective = view.settings.effective(found.parent, None, delta)
    reached = {address: effective.settings.get(address) for address in delta}
    differing = between(view.settings.effective(found.parent), effective, view.settings)[1]
    exact = all(each is not None and each.value == delta[address] for address, each in reached.items())
    if not exact or len(differing) != len(delta):
        return {"stack": found.candidate.name}
    return {"stack": found.parent.name, "set": Row({name: scalar(value) for name, value in delta.items()})}


def _can_be_said(each: ComparedSetting) -> bool:
    """Whether a plan may write the value down: a known one that stands for itself and is no secret."""
    return each.to not in (ABSENT, UNKNOWN) and "${" not in each.to and each.class_ is Class.TUNING


def scalar(value: str) -> str | int:
    return int(value) if re.fullmatch(r"-?[1-9][0-9]{0,14}|0", value) else value


def default_name(compared: Compared, stage: str) -> str:
    """What a plan is called where nobody names it."""
    return f"{compared.name}-screening" if stage == "screening" else compared.name
