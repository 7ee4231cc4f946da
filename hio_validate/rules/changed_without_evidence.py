"""A row that says `changed` and cites nothing that was measured.

A change without a measurement is a hope: "eight threads should be faster" has cost many a host its tail latency.
Contract 3.5: `changed` needs evidence that isolates this setting on this parent. A decision in the ledger that
pins no run is an opinion on record, not evidence. Paths, hosts and ports are listed and need none (contract
3.2). It is a gate: work in progress may be committed.

How to fix: cite the increment that measured it (`evidence: <entry id>`), or write `retest` until there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Decision
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.rules.cited import decided_rows


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "changed"):
        if not cited.needs_evidence:
            continue
        if cited.row.evidence is None:
            yield Problem(
                at(item, *cited.path, "disposition"),
                f"{cited.name} is changed without evidence",
                "cite the ledger entry that isolates it (evidence: <entry>), or write retest until it is measured",
            )
        elif cited.entry is not None and cited.run is None and isinstance(cited.entry.model, Decision):
            yield Problem(
                at(item, *cited.evidence_path),
                f"{cited.name} is changed because of {cited.entry.name}, which pins no run",
                "cite an entry that pins the run that measured it, or write retest",
                (("the cited entry", Place(cited.entry.document, ("kind",))),),
            )


RULE = Rule(
    "changed-without-evidence", Scope.DOCUMENT, Severity.GATE, "a change cites no evidence", check,
    kinds=("matrix/v1",), contract=("3.5",),
)  # fmt: skip
