"""A difference between parent and candidate that no row of the matrix covers.

This is what hio is for. A stack that is rebuilt by hand silently loses the pinned threads, the K/V type or the
draft length that someone measured months ago, and the new thing is then compared with a parent it no longer
resembles. Contract 3.3: an undocumented difference is an error and blocks deployment. Covered must be every
setting that differs, every tuning setting that the parent sets, every accepted increment, every measured exclusion
that either stack sets, and every default that moved between two builds (contract 2.2). An increment that neither
side sets any more is lost, whatever the default is today: somebody started from an older stack. Paths, hosts and
ports need no row; a follower lives in its leader's row; what the ledger decided after the tips of `as_of`, or after
an entry pinned the matrix, asks for none.

A build whose help text nobody learned has unknown defaults: that is one line, `defaults:`, not two hundred rows.

How to fix: decide each setting that is listed. The help shows a row ready to paste, with `retest`, which is
always honest; equal settings go together on one `preserved:` line.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.inheritance import Inheritance, Required
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, origins
from hio_validate.settings.difference import NEEDS_A_ROW
from hio_validate.source.dump import quoted


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    if found is None:
        return
    for required in found.missing():
        yield _undocumented(found, required)
    if found.matrix.defaults is None:
        for side in found.sides_without_defaults():
            yield Problem(
                at(item, side),
                f"the defaults of the {side}'s build are unknown: no help text was learned",
                "name a build: in the stack, or add a line "
                "defaults: {parent: …, candidate: …, disposition: retest}",
            )


def _undocumented(found: Inheritance, required: Required) -> Problem:
    compared = required.compared
    address, from_, to = compared.address, compared.from_, compared.to
    if compared.group in NEEDS_A_ROW or from_ != to or required.lost:
        message = f"{address} has no row: {from_} -> {to} ({required.why})"
        advice = f"decide it: - {{factor: {address}, from: {quoted(from_)}, to: {quoted(to)}, disposition: retest}}"
        if required.lost:
            message = f"{address} has no row: {required.why}, and neither side sets it ({from_} -> {to})"
            advice = f"set it in the candidate, or {advice}"
    else:
        message = f"{address} has no row: {from_} on both sides ({required.why})"
        advice = f"add {address} to a preserved: line"
    return Problem(at_key(found.item, "rows"), message, advice, origins(found.said(compared)))


RULE = Rule(
    "undocumented-difference", Scope.DOCUMENT, Severity.ERROR, "a difference or inherited setting has no row", check,
    kinds=("matrix/v1",), contract=("3.1", "3.3", "2.2", "2.5"), since=2, suppressible=False, spares_older=True,
)  # fmt: skip
