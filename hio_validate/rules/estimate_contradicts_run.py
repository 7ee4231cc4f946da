"""A measured value in an estimate that the rows of its run do not give.

The baseline of an estimate is what its efficiency is of. Contract 7.3 holds here, too: a number is computed from the raw
rows. The value is the median over the measured requests of the arm's legs that count, the ends are the smallest and the
largest leg; the arms of a run of stage a-a are one stack, and all of their legs count. A leg that is invalid or ran beside a profiler counts for nothing (contract 5.6).

How to fix: `hio estimate --write` computes them from the run; take another run where this one has no such metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from hio_validate.diagnostic import Severity
from hio_validate.evidence.averages import median
from hio_validate.evidence.case import Case
from hio_validate.evidence.raw import UnreadableRows, is_unknown, number
from hio_validate.evidence.workload import alike
from hio_validate.models.estimate import Estimate, MeasuredBaseline
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    baseline = estimate.baseline
    run = view.repo.find("run/v1", name_of(baseline.run), item.service) if baseline else None
    if baseline is None or run is None or run.model is None or baseline.arm not in run.model.arms:
        return  # pin-mismatch or mismatched-shape
    case, metric = Case(run, view), estimate.target.metric
    if case.rows is None:
        return  # unreadable-rows
    given = _given(case, baseline, metric)
    if given is None:
        yield Problem(
            at(item, "baseline", "arm"),
            f"no leg of this arm of {run.name} tells {metric} and counts",
            "take a run that measured it, or another metric",
            (("its columns", at_key(run, "columns")),),
        )
        return
    for key, theirs in given.items():
        said = getattr(baseline, key)
        if not isclose(said, theirs, rel_tol=1e-6):
            yield Problem(
                at(item, "baseline", key),
                f"{key} of {metric} is {said:.9g} here; the rows of {run.name} give {theirs:.9g}",
                "write what the rows give, all digits",
            )


def _given(case: Case, baseline: MeasuredBaseline, metric: str) -> dict[str, float] | None:
    if metric not in case.model.columns:
        return None
    trials = [
        trial
        for arm in alike(case, baseline.arm)
        for trial in case.counted(arm)
        if not (trial.leg is not None and trial.leg.instrumented)
    ]
    try:
        legs = [value for trial in trials if (value := trial.value(metric)) is not None]
        rows = [number(row, metric) for trial in trials for row in trial.rows if not is_unknown(row, metric)]
    except UnreadableRows:
        return None
    if not legs or not rows:
        return None
    return {"value": median(rows), "low": min(legs), "high": max(legs)}


RULE = Rule(
    "estimate-contradicts-run", Scope.DOCUMENT, Severity.ERROR, "a measured value that the rows of the run do not give", check,
    kinds=("estimate/v1",), contract=("7.3", "5.6"), since=6, suppressible=False,
)  # fmt: skip
