"""Settings that are decided together without a question declared for the whole.

Two settings changed at once and the server got faster: one may have gained 10 % and the other lost 4 %. Contract
3.6: a common gain or loss decides none of them, unless the interaction was the declared question. A question
that was written after the result is no better, so the run that a bundle cites must carry it too (a gate, since
old runs cannot be changed).

How to fix: write `question:` with what the whole was measured for (its members stay unresolved in isolation),
and cite a run whose `question:` was declared before it began; or split the bundle into rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.matrix import Bundle, Matrix
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.rules.cited import decided_rows


def check(item: Item, view: View) -> Iterator[Problem]:
    matrix: Matrix = item.model
    for index, row in enumerate(matrix.rows):
        if isinstance(row, Bundle) and not (row.question or "").strip():
            yield Problem(
                at(item, "rows", index, "bundle"),
                f"the bundle {row.bundle} declares no question",
                "write question: what the whole was measured for; its members stay unresolved in isolation",
            )
    for cited in decided_rows(item, view, "changed", "excluded"):
        run = cited.run
        if isinstance(cited.row, Bundle) and run is not None and not (run.model.question or "").strip():
            yield Problem(
                at(item, *cited.evidence_path),
                f"{run.name}, which decides {cited.name}, declared no question",
                "cite a run with a question: about the whole, declared before it began, or write retest",
                (("the run", Place(run.document, ("name",))),),
                severity=Severity.GATE,
            )


RULE = Rule(
    "bundle-without-question", Scope.DOCUMENT, Severity.ERROR, "a bundle declares no question", check,
    kinds=("matrix/v1",), contract=("3.6",),
)  # fmt: skip
