"""A bound and a measurement that are not of the same workload.

The bound of a 27B model says nothing of a run of a 4B one. Contract 9.1: an estimate has a workload identity; what was
measured is beside its bound only where stack, settings, fixture, model, host, concurrency and threads are the same, and
what a record does not say is not the same: that is a gate. hio asks one request after the other, so a run of its own is
one of concurrency 1.

How to fix: take the run of this workload (`hio estimate --run`), or the shape of the model that ran (`hio probe model`);
without one, leave the baseline out and say so in `missing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Estimate
from hio_validate.models.run import Arm, Run
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.rules.estimated import short


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    if estimate.baseline is None:
        return
    run = view.repo.find("run/v1", name_of(estimate.baseline.run), item.service)
    if run is None or run.model is None:
        return  # pin-mismatch, or the run's own fault
    arm = run.model.arms.get(estimate.baseline.arm)
    if arm is None:
        yield Problem(
            at(item, "baseline", "arm"),
            f"{run.name} has no arm {estimate.baseline.arm}",
            f"it has {listed(run.model.arms)}",
        )
        return
    yield from _stack(item, estimate, run, arm)
    yield from _fixture(item, estimate, run)
    yield from _seen(item, estimate, run, arm, view)
    if estimate.workload.concurrency != 1:
        yield Problem(
            at(item, "workload", "concurrency"),
            f"the workload has {estimate.workload.concurrency} requests at the same time; {run.name} has one",
            "take a run of this load, or estimate one request",
        )


def _stack(item: Item, estimate: Estimate, run: Item, arm: Arm) -> Iterator[Problem]:
    related = (("the arm", at(run, "arms", estimate.baseline.arm if estimate.baseline else "")),)
    if arm.stack != estimate.workload.stack:
        yield Problem(
            at(item, "baseline", "run"),
            f"{run.name} measured the stack {short(arm.stack)}; the workload is {short(estimate.workload.stack)}",
            "take a run of this stack, or estimate that one",
            related,
        )
    if arm.set:
        yield Problem(
            at(item, "baseline", "arm"),
            f"this arm sets {listed(arm.set)} beside its stack; the workload is the stack alone",
            "take an arm without a delta, or make a stack of it and estimate that",
            related,
        )


def _fixture(item: Item, estimate: Estimate, run: Item) -> Iterator[Problem]:
    wanted, asked = estimate.workload.fixture, run.model.fixtures
    if wanted in asked:
        return
    unknown = not (wanted and asked)
    told = f"{run.name} asked {listed(map(short, asked)) or 'what it does not say'}"
    yield Problem(
        at(item, "workload", "fixture") if wanted else at(item, "baseline", "run"),
        f"{told}; the workload is {short(wanted) if wanted else 'no fixture'}",
        "take a run that asked this fixture",
        (("the run", Place(run.document, ("name",))),),
        severity=Severity.GATE if unknown else None,
    )


def _seen(item: Item, estimate: Estimate, run: Item, arm: Arm, view: View) -> Iterator[Problem]:
    """Host and model of the run, as its captures show them, against the workload's host and its shape's file."""
    shape_pin = estimate.workload.shape
    shape = view.repo.find("shape/v1", name_of(shape_pin), item.service) if shape_pin else None
    file = shape.model.source.sha256 if shape and shape.model and _is_model_file(shape) else None
    hosts, models = _observed(run, arm, view)
    for what, wanted, got, path in (
        ("model", file, models, ("workload", "shape")),
        ("host", estimate.workload.target_host, hosts, ("workload", "target_host")),
    ):
        if what == "model" and not shape_pin:
            continue
        if wanted is None or not got:
            mine = "the estimate" if wanted is None else run.name
            yield Problem(
                at(item, *path) if what == "model" or wanted else at(item, "baseline", "run"),
                f"whether {run.name} ran {'on ' if what == 'host' else ''}the {what} of this estimate is unknown: {mine} does not tell it",
                f"take a run whose captures show its {what}, and name the {what} here",
                severity=Severity.GATE,
            )
        elif got != {wanted}:
            yield Problem(
                at(item, *path),
                f"{run.name} ran on another {what}: {listed(sorted(each[:12] for each in got))}, here {wanted[:12]}"
                if what == "host"
                else f"{run.name} ran another model: {listed(sorted(each[:12] for each in got))}, the shape is of {wanted[:12]}",
                f"take a run of this {what}, or estimate that one",
                (("the run", Place(run.document, ("name",))),),
            )


def _is_model_file(shape: Item) -> bool:
    """Whether the digest of a shape is that of the model's bytes; that of a config.json names no weights."""
    return bool(shape.model.source.format == "gguf")


def _observed(run: Item, arm: Arm, view: View) -> tuple[set[str], set[str]]:
    """(hosts, models) that the arm's captures show, else what the run's scope says; empty where one does not know."""
    model: Run = run.model
    captures = [view.repo.find("capture/v1", name_of(pin), run.service) for pin in arm.captures]
    seen = [each.model for each in captures if each is not None and each.model is not None]
    hosts = {each.host.id for each in seen}
    models = {
        artifact.sha256 if artifact else None
        for each in seen
        for artifact in [next((p.artifacts.get("model") for p in each.processes.values()), None)]
    }
    scope = model.scope
    said_host, said_model = (scope.host, scope.model) if scope else (None, None)
    return _known(hosts or {said_host}), _known(models or {said_model})


def _known(found: set[str | None]) -> set[str]:
    """The values where all are known, else none."""
    return {each for each in found if each} if None not in found else set()


RULE = Rule(
    "mismatched-shape", Scope.DOCUMENT, Severity.ERROR, "bound and measurement are not of the same workload", check,
    kinds=("estimate/v1",), contract=("9.1",), since=6,
)  # fmt: skip
