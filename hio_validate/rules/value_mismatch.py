"""A row that shows another value than the one computed from the two stacks.

Reviewers read the row, the engine reads the stack. If the row says `from: 8` and the parent runs with 4, the
review approved a change that does not exist and missed the one that does (contract 3.2: values shown in a row
equal those computed from the two stacks). Spelling is not a difference: `f16` is `F16`, `on` is `enabled`. The
same holds for the `defaults:` line: `known` where no help text was learned hides every default of that build.

How to fix: write the computed value into the row, or, if the row says what was meant, put the stack right. The
finding points at the argument the computed value comes from.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.inheritance import Inheritance
from hio_validate.models.matrix import FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, origins
from hio_validate.settings.difference import Compared
from hio_validate.settings.secrets import WITHHELD
from hio_validate.settings.setting import Class
from hio_validate.settings.value import same, text_of
from hio_validate.source.dump import quoted


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    if found is None:
        return
    for each in found.covered:
        if isinstance(each.row, FactorRow) and each.compared is not None:
            yield from _row(item, each.name, (*each.path[:2],), each.row, each.compared, found)
    yield from _defaults(item, found)


def _row(
    item: Item, name: str, path: Path, row: FactorRow, compared: Compared, found: Inheritance
) -> Iterator[Problem]:
    sides = (
        ("from", "parent", row.from_, compared.from_, compared.parent),
        ("to", "candidate", row.to, compared.to, compared.candidate),
    )
    for key, side, shown, computed, setting in sides:
        if not same(text_of(shown), computed):
            said = WITHHELD if compared.class_ is Class.SECRET else text_of(shown)
            yield Problem(
                at(item, *path, key),
                f"{name}: {key} is {said} here; computed is {setting.shown if setting else computed}",
                f"write {key}: {quoted(computed)}, or put the stack right",
                origins(said for said in found.said(compared) if said.side == side),
            )


def _defaults(item: Item, found: Inheritance) -> Iterator[Problem]:
    if found.matrix.defaults is None:
        return
    unknown = found.sides_without_defaults()
    for side in ("parent", "candidate"):
        said, computed = getattr(found.matrix.defaults, side), "unknown" if side in unknown else "known"
        if said != computed:
            yield Problem(
                at(item, "defaults", side),
                f"the defaults of the {side}'s build are {computed}, not {said}",
                f"write {side}: {computed}, or name a learned build in the stack"
                if computed == "unknown"
                else f"write {side}: {computed}; delete the line where both sides are known",
            )


RULE = Rule(
    "value-mismatch", Scope.DOCUMENT, Severity.ERROR, "a row shows a value that is not the computed one", check,
    kinds=("matrix/v1",), contract=("3.2",),
)  # fmt: skip
