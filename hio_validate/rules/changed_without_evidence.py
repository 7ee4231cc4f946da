"""A row that says `changed` and cites nothing that was measured.

A change without a measurement is a hope: "eight threads should be faster" has cost many a host its tail latency.
Contract 3.5: `changed` needs evidence that isolates this setting on this parent. A decision in the ledger that
pins no run is an opinion on record, not evidence. Paths, hosts and ports are listed and need none (contract
3.2). History from before hio (`imported: true`) is kept and may be cited, and never rises above DRAFT (contract
7.1): nobody prespecified it or watched the host. It is a gate: work in progress may be committed.

How to fix: cite the increment that measured it (`evidence: <entry id>`), or write `retest` until there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.rules.cited import Cited, decided_rows, unmeasured

_CITE = "cite the ledger entry that isolates it (evidence: <entry>), or write retest until it is measured"


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "changed"):
        if cited.needs_evidence:
            yield from unmeasured(item, cited, "without evidence", _CITE)
            yield from _imported(item, cited)


def _imported(item: Item, cited: Cited) -> Iterator[Problem]:
    history = [each for each in (cited.entry, cited.run) if each and each.model and each.model.imported]
    if history:
        yield Problem(
            at(item, *cited.evidence_path),
            f"{cited.name} is changed because of {history[0].name}, which is history from before hio",
            "measure it again and cite that entry, or write retest",
            (("imported here", Place(history[0].document, ("imported",))),),
        )


RULE = Rule(
    "changed-without-evidence", Scope.DOCUMENT, Severity.GATE, "a change cites no evidence", check,
    kinds=("matrix/v1",), contract=("3.5", "7.1"), since=2,
)  # fmt: skip
