"""A bound and a measurement that are not of the same workload.

The bound of a 27B model says nothing of a run of a 4B one. Contract 9.1: an estimate has a workload identity; what was
measured is beside its bound only where resolved settings and build, fixture, model, host, concurrency and cache are the
same, and what a record does not say is not the same: that is a gate. hio asks one request after the other, so a run of its
own is one of concurrency 1; of others' runs only their regime says it. Without a fixture the tokens that the rows count
are compared.

How to fix: take the run of this workload (`hio estimate --run`), or the shape of the model that ran (`hio probe model`);
without one, leave the baseline out and say so in `missing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Path, Severity
from hio_validate.evidence.case import Case
from hio_validate.evidence.raw import is_unknown
from hio_validate.evidence.same_stack import other_stack
from hio_validate.evidence.weights import shown
from hio_validate.evidence.workload import cache_of, concurrency_of, host_of, model_of
from hio_validate.models.estimate import Estimate
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed
from hio_validate.rules.estimated import file_of, short


class Compared(NamedTuple):
    """One part of the workload, here and in the run; None where it is not known."""

    what: str
    path: Path
    here: str | None
    there: str | None


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    if estimate.baseline is None:
        return
    run = view.repo.find("run/v1", name_of(estimate.baseline.run), item.service)
    if run is None or run.model is None:
        return  # pin-mismatch, or the run's own fault
    if estimate.baseline.arm not in run.model.arms:
        yield Problem(
            at(item, "baseline", "arm"),
            f"{run.name} has no arm {estimate.baseline.arm}",
            f"it has {listed(run.model.arms)}",
        )
        return
    case, arm = Case(run, view), estimate.baseline.arm
    yield from _stack(item, estimate, case, view)
    related = (("the run", at_key(run, "arms", arm)),)
    for each in _parts(item, estimate, case, view):
        if each.here is None or each.there is None:
            who = "this estimate" if each.here is None else run.name
            yield Problem(
                at(item, *each.path),
                f"whether {run.name} had the {each.what} of this workload is unknown: {who} does not tell it",
                f"take a run that tells its {each.what}, and name the {each.what} here",
                related,
                severity=Severity.GATE,
            )
        elif each.here != each.there:
            yield Problem(
                at(item, *each.path),
                f"{run.name} had another {each.what}: {each.there}; the workload has {each.here}",
                f"take a run of this {each.what}, or estimate that one",
                related,
            )


def _stack(item: Item, estimate: Estimate, case: Case, view: View) -> Iterator[Problem]:
    stack = view.repo.find("stack/v1", name_of(estimate.workload.stack), item.service)
    arm = case.arm(estimate.baseline.arm if estimate.baseline else "")
    if stack is None or stack.model is None:
        return  # pin-mismatch, or the stack's own fault
    other = other_stack(arm, stack, case.run.service, view.repo, view.settings)
    if other:
        yield Problem(
            at(item, "baseline", "arm"),
            f"this arm of {case.run.name} had another stack than {stack.name}: {other}",
            "take a run of this stack, or estimate that one",
            (("the arm", at_key(case.run, "arms", estimate.baseline.arm if estimate.baseline else "")),),
        )


def _parts(item: Item, estimate: Estimate, case: Case, view: View) -> Iterator[Compared]:
    workload, arm = estimate.workload, estimate.baseline.arm if estimate.baseline else ""
    yield from _asked(estimate, case, arm)
    if workload.shape:
        model = _file_of(workload.shape, item, view)
        there = model_of(case, arm)
        yield Compared("model", ("workload", "shape"), model and shown(model), there and shown(there))
    if estimate.bound is not None:  # without one the measurement stands alone: nothing here is of a host
        host, there = workload.target_host, host_of(case, arm)
        place: Path = ("workload", "target_host") if host else ("baseline", "run")
        yield Compared("host", place, host and host[:12], there and there[:12])
    at_once = concurrency_of(case)
    told = None if at_once is None else str(at_once)
    yield Compared("concurrency", ("workload", "concurrency"), str(workload.concurrency), told)
    yield Compared("state of the cache", ("baseline", "run"), workload.cache, cache_of(case))


def _asked(estimate: Estimate, case: Case, arm: str) -> Iterator[Compared]:
    """The fixture; where the estimate names none, the tokens that the rows count."""
    wanted = estimate.workload.fixture
    if wanted is not None:
        pins = [pin.rpartition("/")[2] for pin in case.model.fixtures]
        mine = wanted.rpartition("/")[2]
        there = mine if mine in pins else listed(pins) or None
        short_there = there if there is None else listed(map(short, there.split(", ")))
        yield Compared("fixture", ("workload", "fixture"), short(mine), short_there)
        return
    for column, key in (("evaluated", "prompt_tokens"), ("generated", "generated_tokens")):
        tokens = getattr(estimate.workload, key)
        bench = case.plan.bench if case.plan is not None else None
        counted = [str(getattr(bench, key))] if bench is not None else _counted(case, arm, column)
        told = None if tokens is None else str(tokens)
        yield Compared(f"number of {column} tokens", ("baseline", "run"), told, " or ".join(counted) or None)


def _counted(case: Case, arm: str, column: str) -> list[str]:
    """The numbers of tokens that the rows of an arm's trials tell; none where one does not know it."""
    if column not in case.model.columns:
        return []
    rows = [row for trial in case.counted(arm) for row in trial.rows]
    if any(is_unknown(row, column) for row in rows):
        return []
    return sorted({row.cells[column] for row in rows})


def _file_of(pin: str, item: Item, view: View) -> str | None:
    """SHA-256 of the model file that the pinned shape is of."""
    shape = view.repo.find("shape/v1", name_of(pin), item.service)
    return file_of(shape.model) if shape is not None and shape.model is not None else None


RULE = Rule(
    "mismatched-shape", Scope.DOCUMENT, Severity.ERROR, "bound and measurement are not of the same workload", check,
    kinds=("estimate/v1",), contract=("9.1",), since=6,
)  # fmt: skip
