"""A row that says `excluded` and cites nothing that was measured.

An exclusion is what the next engineer does not try again. If it rests on a feeling, or on a result of several
settings together, a good setting is lost for years (contract 3.5: `excluded` needs measured evidence, or
`requires:` a setting that was itself excluded). A decision that pins no run is not a measurement. It is a
gate: the row may be committed while the control is still to be run.

How to fix: cite the negative control (`evidence: <entry id>`), name the excluded setting that this one needs
(`requires:`), or write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.matrix import FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View
from hio_validate.rules.cited import decided_rows, unmeasured

_CITE = "cite the negative control (evidence: <entry>), or name the excluded setting it needs (requires:)"


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "excluded"):
        conditional = isinstance(cited.row, FactorRow) and cited.row.requires is not None
        if cited.needs_evidence and not conditional:
            yield from unmeasured(item, cited, "without a measurement", _CITE)


RULE = Rule(
    "excluded-without-measurement", Scope.DOCUMENT, Severity.GATE, "an exclusion cites no measurement", check,
    kinds=("matrix/v1",), contract=("3.5",),
)  # fmt: skip
