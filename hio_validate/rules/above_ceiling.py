"""A measurement that is faster than what is possible.

Contract 9.3: a result above its ceiling is a finding. Then a ceiling is too low, work was counted that was not done (a
cached prompt, a shorter answer, tokens that were drafted), or the two are not of the same workload. It is an error where
the estimate is silent about it, and a gate where its findings say so: no candidate follows from a bound that is broken.

How to fix: `hio probe host` again, on an idle machine, with as many threads as the stack; look at the evaluated and
generated tokens of the run; then say in `findings:` what it was, or correct the term.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at_key
from hio_validate.rules.estimated import better_of, is_ordered

_SAYS = re.compile(r"above|ceiling|faster than|exceed|100 ?%", re.IGNORECASE)


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    least = _least(estimate)
    if least is None or least <= 100:
        return
    said = any(map(_SAYS.search, estimate.findings))
    yield Problem(
        at_key(item, "baseline", "efficiency_percent")
        if estimate.baseline and estimate.baseline.efficiency_percent
        else at_key(item, "baseline", "value"),
        f"at least {least:.4g} % of the bound was measured: "
        + ("its findings say so, and nothing follows before it is explained" if said else "that cannot be"),
        "a ceiling is too low, work was not done, or the workloads differ: find out, and say it in findings:",
        severity=Severity.GATE if said else None,
    )


def _least(estimate: Estimate) -> float | None:
    """Percent of the bound that was reached at least, whichever way is stated or follows; None where it is unknown."""
    baseline = estimate.baseline
    if baseline is None:
        return None
    found = [] if baseline.efficiency_percent is None else [baseline.efficiency_percent.low]
    metric = estimate.bound.metric if estimate.bound else None
    if metric is not None and is_ordered(metric):
        # Imported here: few repositories hold estimates, and intervals are dataclasses.
        from hio_validate.costs.gap import efficiency

        given = efficiency(baseline, metric, better_of(estimate))
        found += [] if given is None else [given.low]
    return max(found, default=None)


RULE = Rule(
    "above-ceiling", Scope.DOCUMENT, Severity.ERROR, "what was measured is faster than its bound", check,
    kinds=("estimate/v1",), contract=("9.3",), since=6,
)  # fmt: skip
