"""What every export says of a run's verdict, so that no number travels without it (contract 7.1)."""

from __future__ import annotations

from hio_validate.evidence.outcome import Result
from hio_validate.evidence.tiers import Verdict


def tier_in_words(judged: Verdict) -> str:
    """Tier, result, and what the tier lacks."""
    lacks = ", ".join(each.reason for each in judged.reasons)
    return f"{judged.tier}, {judged.result}" + (f"; it lacks: {lacks}" if lacks else "")


def best_in_words(judged: Verdict) -> str:
    """What came out of it, never more than was measured (contract 7.7)."""
    case = judged.case
    scope = f"{case.fixture or 'an unknown fixture'}, {case.regime or 'an unknown regime'}"
    if judged.result in (Result.NOT_COMPARABLE, Result.NOT_MEASURABLE):
        return f"scope {scope}"
    return f"{judged.best} is the best of the {len(case.model.arms)} configurations measured in scope {scope}"
