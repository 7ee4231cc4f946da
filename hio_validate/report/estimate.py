"""An estimate for a person, for an issue and for a program."""

from __future__ import annotations

from typing import Any

from hio_validate.evidence.metrics import METRICS
from hio_validate.models.estimate import Estimate
from hio_validate.report.estimate_markdown import markdown
from hio_validate.report.estimate_sentences import longest_names
from hio_validate.report.estimate_text import text

__all__ = ["as_json", "markdown", "text"]


def as_json(estimate: Estimate) -> dict[str, Any]:
    """The estimate as versioned data: each amount has its unit, what is not known is null."""
    told = estimate.model_dump(by_alias=True)
    del told["hio"]
    metric = METRICS[estimate.target.metric]
    return {
        "version": 1,
        "estimate": told.pop("name"),
        **told,
        "metric_unit": metric.unit,
        "bound_by": longest_names(estimate),
    }
