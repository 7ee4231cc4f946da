"""A setting that a row calls preserved and whose two values differ.

`preserved` is a promise that nothing changed there, so nobody measures it and nobody reviews it. Contract 3.4:
it needs equality of the effective values, not of the spelling; `f16` is `F16`, but a follower whose leader
moved, an endpoint with another port or a default that the build moved is not preserved. A value that is
unknown is another finding (unknown-relied-on).

How to fix: take the setting off the preserved line and give it a row of its own (changed, retest or excluded;
a follower belongs to its leader's row), or put the stack right.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, origins
from hio_validate.settings.difference import Group
from hio_validate.settings.value import UNKNOWN

_DIFFERENT = frozenset(Group) - {Group.EQUAL, Group.UNKNOWN}


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    if found is None:
        return
    for each in found.covered:
        compared = each.compared
        if each.disposition != "preserved" or compared is None:
            continue
        if compared.group not in _DIFFERENT or UNKNOWN in (compared.from_, compared.to):
            continue
        yield Problem(
            at(item, *each.path),
            f"{each.name} is called preserved and differs: {compared.from_} -> {compared.to}",
            _advice(compared.group),
            origins(found.said(compared)),
        )


def _advice(group: Group) -> str:
    if group is Group.FOLLOWED:
        return "take it off the line: a follower lives in its leader's row"
    if group is Group.ONE_BUILD:
        return "take it off the line: nobody sets it, and only one of the two builds knows it"
    if group is Group.OPERATIONAL:
        return "take it off the line: paths and endpoints need no row"
    return "give it a row of its own (changed, retest or excluded), or put the stack right"


RULE = Rule(
    "preserved-but-different", Scope.DOCUMENT, Severity.ERROR, "a setting called preserved has two values", check,
    kinds=("matrix/v1",), contract=("3.4",),
)  # fmt: skip
