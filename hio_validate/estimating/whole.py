"""One estimate, whole: ledger, bound, what was measured, candidates, the next experiment.

Invariants: where the shape of the workload or of the model is missing there is no bound (contract 9.1); that a
model cannot fit its memory stands before every other finding; where the stack
has an open correctness failure no change is proposed, only what finds its cause (contract 9.6); the status is never that of a result (contract 9.5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from hio_validate import __version__
from hio_validate.estimating.assumed import that_matter, without_effect
from hio_validate.estimating.bounds.arithmetic import ARITHMETIC
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.bounds.memory import memory_of, missing_of
from hio_validate.estimating.bounds.rates import stated
from hio_validate.estimating.candidates import LookedAt, looked_at
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.measured import compared
from hio_validate.estimating.fits import cannot_fit, findings_of
from hio_validate.estimating.next import next_of
from hio_validate.models.base import JudgedBy
from hio_validate.models.estimate import Estimate
from hio_validate.rules import NEWEST


def estimate(inputs: Inputs, name: str, at: str | None) -> Estimate:
    """The document of an estimate. It launches nothing and decides nothing."""
    ledger = terms_of(inputs)
    bound = None if inputs.unknown else bound_of(ledger, inputs)
    baseline, findings = compared(inputs, bound)
    known, path = replace(inputs, baseline=baseline), cast(Any, inputs.path)
    memory = memory_of(inputs)
    unsure = () if baseline is not None else missing_of(inputs, memory)
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
        ceilings=[item.pin for item in inputs.ceilings],
        terms=[*ledger.terms],
        bound=bound,
        memory=memory,
        baseline=baseline,
        missing=list(dict.fromkeys((*inputs.missing, *unsure, *ledger.missing, *looked.missing))),
        findings=[
            *findings_of(memory, measured=baseline is not None),
            *findings,
            *without_effect(known, ledger),
            *looked.said,
        ],
        profile=inputs.profile.pin if inputs.profile else None,
        assumptions=[
            *that_matter(known, ledger, candidates),
            *(stated(inputs, "memory-beside") if memory else ()),
        ],
        candidates=[*candidates],
        next=next_of(known, ledger, bound, candidates, fits=not cannot_fit(memory)),
        blocked_by=[entry.pin for entry in inputs.wrong],
        arithmetic=ARITHMETIC,
        judged_by=JudgedBy(hio=__version__, rules=NEWEST),
    )
