"""A conditional exclusion whose condition does not hold: the setting it requires was not itself excluded.

"We never ran score3, because attn4 was already out" is a fair reason not to measure, but only while attn4 is
really out, by a measurement, and not through a chain that ends in a circle or in a row that says `retest`
(contract 3.5: `requires:` a setting that was itself excluded, transitively). A member of an excluded bundle was
not excluded by itself (contract 3.6), the namesake of another process is another setting, and `requires:` on a row
that is not excluded says nothing at all.

How to fix: exclude the required setting with its negative control, or decide this one by itself; what a change
merely hangs on is written `depends:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Covered, Inheritance
from hio_validate.ledger import one_setting
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    for each in found.covered if found else ():
        if found is not None and isinstance(each.row, FactorRow) and each.row.requires is not None:
            yield from _judge(item, each, each.row, each.row.requires, found)


def _judge(item: Item, each: Covered, row: FactorRow, requires: str, found: Inheritance) -> Iterator[Problem]:
    place = at(item, *each.path[:2], "requires")
    if row.disposition != "excluded":
        yield Problem(
            place,
            f"{each.name} is {row.disposition}; requires: belongs to an excluded row",
            "write depends: for a setting whose change calls for a retest, or exclude the row",
        )
        return
    wrong = _broken_chain(each, found)
    if wrong:
        related = _row_of(_meant(requires, each, found), found)
        yield Problem(
            place,
            f"{each.name} is excluded because of {requires}, but {wrong}",
            "exclude the required setting with evidence, or decide this one by itself",
            ((("its row", at(item, *related.path)),) if related else ()),
        )


def _meant(name: str, asking: Covered, found: Inheritance) -> str:
    """The address that a name in a row means: a bare one that could be any process's is the row's own."""
    compared = found.difference.find(name)
    if compared is not None:
        return compared.address
    own = asking.compared.address.partition(".")[0] if asking.compared else ""
    names_a_process = name.partition(".")[0] in found.ours.processes | found.theirs.processes
    return name if names_a_process or not own else f"{own}.{name}"


def _row_of(address: str, found: Inheritance) -> Covered | None:
    return next((each for each in found.covered if one_setting(_address(each), address)), None)


def _address(each: Covered) -> str:
    return each.compared.address if each.compared else each.name


def _broken_chain(each: Covered, found: Inheritance) -> str:
    """Why the chain of requirements does not end in a measured exclusion, "" where it does."""
    seen: set[str] = set()
    while isinstance(each.row, FactorRow) and each.row.requires is not None:
        name = each.row.requires
        address = _meant(name, each, found)
        if address in seen:
            return f"{name} requires itself in a circle"
        seen.add(address)
        required = _row_of(address, found)
        if required is None:
            return "" if _was_excluded(address, found) else f"{name} has no row and no negative control"
        if isinstance(required.row, Bundle):
            return f"{name} is only a member of the bundle {required.row.bundle}, which decides no member by itself"
        if required.disposition != "excluded":
            return f"{name} is {required.disposition}"
        each = required
    return ""


def _was_excluded(address: str, found: Inheritance) -> bool:
    """Whether the ledger has a negative control of a setting, named with or without its process."""
    for control in found.ledger.exclusions(found.tips):
        compared = found.difference.find(control.model.factor)
        if one_setting(compared.address if compared else control.model.factor, address):
            return True
    return False


RULE = Rule(
    "requires-not-excluded", Scope.DOCUMENT, Severity.ERROR, "the required setting was not excluded", check,
    kinds=("matrix/v1",), contract=("3.5",), since=2,
)  # fmt: skip
