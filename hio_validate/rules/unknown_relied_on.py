"""A decided row, a decided line of defaults, or a side never captured: something nobody knows.

`--threads -1`, `--flash-attn auto` on two machines, a withheld secret, a build without a help text: two
unknowns look the same on paper and may run differently. Contract 1.5: unknown never passes as equal, not even
to itself; contract 2.4: what is decided at run time is resolved by an observation or reported as unknown. The
row may stay while you work (it is a gate), but it does not go into a deployment.

Which executable, libraries and model run is seen by a capture only (contract 1.6). A side without one gives one
gate for all of these, not one for each library.

How to fix: observe the value (`hio capture`, then `captures:` in the matrix), set it explicitly in the stack,
or write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Inheritance
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, origins
from hio_validate.settings.difference import Compared
from hio_validate.settings.setting import Class
from hio_validate.settings.value import UNKNOWN


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    if found is None:
        return
    for each in found.covered:
        compared = each.compared
        if compared is None or each.disposition in ("retest", "undecided"):
            continue
        sides = (("parent", compared.from_), ("candidate", compared.to))
        unknown = [side for side, value in sides if value == UNKNOWN]
        if unknown:
            yield Problem(
                at(item, *each.path),
                f"{each.name} is {each.disposition}, but its value is unknown at the {' and the '.join(unknown)}",
                _advice(compared),
                origins(said for said in found.said(compared) if not said.setting.known),
            )
    yield from _defaults(item, found)
    yield from _never_captured(item, found)


def _advice(compared: Compared) -> str:
    if compared.class_ is Class.SECRET:
        return "take it off the row: a secret is withheld, so it is never known, and it needs no row"
    return "observe it (hio capture, then captures: in the matrix), set it in the stack, or write retest"


def _never_captured(item: Item, found: Inheritance) -> Iterator[Problem]:
    """One finding for all that only a capture can show, however many libraries that would be."""
    captures = found.matrix.captures
    missing = [side for side in ("parent", "candidate") if getattr(captures, side, None) is None]
    if missing:
        one = len(missing) == 1
        yield Problem(
            at_key(item, "captures") if captures else at(item, "candidate"),
            f"the {' and the '.join(missing)} {'was' if one else 'were'} not captured, "
            f"so {'its' if one else 'their'} executable, libraries and model are unknown",
            "capture what runs (hio capture --stack) and name it here: "
            f"captures: {{{', '.join(f'{side}: <capture>' for side in missing)}}}",
        )


def _defaults(item: Item, found: Inheritance) -> Iterator[Problem]:
    defaults = found.matrix.defaults
    unknown = found.sides_without_defaults()
    if defaults is not None and unknown and defaults.disposition not in ("retest", "undecided"):
        yield Problem(
            at(item, "defaults", "disposition"),
            f"the defaults are {defaults.disposition}, but they are unknown at the {' and the '.join(unknown)}",
            "learn the build's help text (hio engine learn), or write retest",
        )


RULE = Rule(
    "unknown-relied-on", Scope.DOCUMENT, Severity.GATE, "a decided row relies on a value nobody knows", check,
    kinds=("matrix/v1",), contract=("1.5", "1.6", "2.4", "3.4"), since=2,
)  # fmt: skip
