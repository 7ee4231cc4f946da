"""One estimate, whole: ledger, bound, what was measured, candidates, the next experiment.

Invariants: where the shape of the workload or of the model is missing there is no bound (contract 9.1); where the stack
has an open correctness failure no change is proposed, only what finds its cause (contract 9.6); the status is never that of a result (contract 9.5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from hio_validate import __version__
from hio_validate.estimating.assumed import that_matter
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates import LookedAt, looked_at
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.measured import compared
from hio_validate.estimating.next import next_of
from hio_validate.models.base import JudgedBy
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item
from hio_validate.rules import NEWEST


def estimate(inputs: Inputs, name: str, at: str | None) -> Estimate:
    """The document of an estimate. It launches nothing and decides nothing."""
    ledger = terms_of(inputs)
    bound = None if inputs.unknown else bound_of(ledger, inputs)
    baseline, findings = compared(inputs, bound)
    known, path = replace(inputs, baseline=baseline), cast(Any, inputs.path)
    looked = LookedAt() if inputs.wrong or bound is None else looked_at(known, ledger, bound)
    candidates = looked.candidates
    return Estimate(
        hio="estimate/v1",
        name=name,
        service=inputs.service,
        at=at,
        status="DRAFT" if bound is not None else "NEEDS_CONTEXT",
        target=inputs.target,
        path=path,
        workload=inputs.workload,
        ceilings=[_pin(item) for item in inputs.ceilings],
        terms=[*ledger.terms],
        bound=bound,
        baseline=baseline,
        missing=list(dict.fromkeys((*inputs.missing, *ledger.missing, *looked.missing))),
        findings=[*findings, *looked.said],
        profile=_pin(inputs.profile) if inputs.profile else None,
        assumptions=[*that_matter(known, ledger, candidates)],
        candidates=[*candidates],
        next=next_of(known, ledger, bound, candidates),
        blocked_by=[_pin(entry) for entry in inputs.wrong],
        judged_by=JudgedBy(hio=__version__, rules=NEWEST),
    )


def _pin(item: Item) -> str:
    return f"{item.name}@{item.document.digest}"
