"""A candidate as an opportunity of the ledger: what may pay elsewhere or later, with what is not known (contract 8.4).

Invariant: it is told as an estimate; no number of it is a result.
"""

from __future__ import annotations

from typing import Any

from hio_validate.models.estimate import Candidate, Estimate


def opportunity_of(candidate: Candidate, estimate: Estimate) -> dict[str, Any]:
    """The fields of an entry of kind opportunity (models/entry.py), without what every entry has."""
    gain = candidate.gain_percent
    metric = estimate.target.metric
    workload = estimate.workload
    lengths = [
        f"{count} {what} tokens"
        for count, what in ((workload.prompt_tokens, "prompt"), (workload.generated_tokens, "generated"))
        if count is not None
    ]
    regime = ", ".join([*lengths, f"{workload.concurrency} at once", f"{workload.cache} cache"])
    return {
        **({"factor": candidate.factor} if candidate.factor else {}),
        "result_kind": "speed",
        "benefit": f"{metric} at most {gain.value:.3g} % better (estimated, {gain.low:.3g} to {gain.high:.3g} %): {candidate.mechanism}",
        "regression": f"not measured; refuted where {candidate.stop_if}",
        "uncertainty": f"an estimate with {candidate.confidence} confidence, bounded by its share of the {_OF[candidate.share_of]}; nothing was measured",
        "workloads": [f"{estimate.path} of {workload.stack.partition('@')[0]}: {regime}"],
        "next": _next(candidate, estimate),
    }


_OF = {"profile": "profile", "measured": "measured time", "bound": "lower bound"}


def _next(candidate: Candidate, estimate: Estimate) -> str:
    if estimate.next is not None and estimate.next.candidate == candidate.name and estimate.next.command:
        return estimate.next.command
    if candidate.factor and candidate.change:
        return f"{estimate.workload.stack.partition('@')[0]} against itself with {candidate.factor} {candidate.change}"
    return f"route {candidate.route}: {candidate.mechanism}"
