"""A setting that is called preserved although no flag or variable sets it on a side.

The two values are equal today, and one of them is only what the build or the model happens to bring along. The
next build moves that default, or the next stack forgets the side effect, and a setting that someone measured
is lost without a line of diff. Contract 3.4 therefore wants it named: preserved through a default is said to
be so. It is a note; the values are equal.

How to fix: set it explicitly on that side, or put it on a preserved line of its own with `through: default`
(or `through: implicit` where the stack's `implicit:` says why it is in force).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Covered
from hio_validate.models.matrix import Preserved
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, origins
from hio_validate.settings.difference import Group
from hio_validate.settings.setting import Origin, Setting
from hio_validate.settings.value import UNKNOWN

_WAYS = {
    Origin.IMPLICIT: "what is implicit",
    Origin.METADATA: "the model's metadata",
    Origin.OBSERVED: "what was decided at run time",
}


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    if found is None:
        return
    for each in found.covered:
        compared = each.compared
        if each.disposition != "preserved" or compared is None or compared.group is not Group.EQUAL:
            continue
        if compared.to == UNKNOWN or (isinstance(each.row, Preserved) and each.row.through is not None):
            continue
        ways = {side: way for side, way in _ways(each) if way}
        if ways:
            through = " and ".join(f"{way} at the {side}" for side, way in ways.items())
            word = "implicit" if "what is implicit" in ways.values() else "default"
            yield Problem(
                at(item, *each.path),
                f"{each.name} is preserved only through {through} ({compared.to})",
                f"set it there, or name it: put it on a preserved: line with through: {word}",
                origins(found.said(compared)),
            )


def _ways(each: Covered) -> Iterator[tuple[str, str]]:
    compared = each.compared
    if compared is not None:
        yield "parent", _way(compared.parent)
        yield "candidate", _way(compared.candidate)


def _way(setting: Setting | None) -> str:
    """What brings a setting about where no flag or variable does; "" where one does."""
    if setting is None or setting.origin is Origin.DEFAULT:
        return "the default"
    if setting.origin is Origin.FOLLOWS:
        return f"what it follows ({setting.leader})"
    return _WAYS.get(setting.origin, "")


RULE = Rule(
    "preserved-through-default", Scope.DOCUMENT, Severity.NOTE, "a setting is preserved only by a default", check,
    kinds=("matrix/v1",), contract=("3.4",),
)  # fmt: skip
