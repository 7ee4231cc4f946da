"""Telemetry that was not taken while the legs ran that it is about.

Readings of another monitor count only where its clock, put right by its offset, overlaps the leg (contract 6.10). An
average that begins before the start or ends in the pause shows another load. Readings that touch no leg are an error; a leg
that they do not cover wholly, a clock whose offset nobody knows, and a run without legs are gates. A profiler slows down
what it watches: a leg that one ran beside is no benchmark and has to say so (contract 5.6), else it is an error.

How to fix: take the readings again over whole legs, with the offset of the clock measured at both ends. A receipt and a run
are never edited; what is wrong in them is said by a new entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.trials import pinned
from hio_validate.models.receipt import Telemetry
from hio_validate.models.run import Leg, Run
from hio_validate.moment import seconds_of
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt = item.model
    if not isinstance(receipt, Telemetry):
        return
    run = pinned(view.repo, "run/v1", receipt.run, item.service)
    if run is None:
        return
    legs: list[Leg] = run.model.legs
    if receipt.clock.offset_s == "unknown":
        said = (
            "nobody knows how far its clock is from that of the host, so that no leg is known to be covered"
        )
        yield Problem(
            at(item, "clock", "offset_s"), said, "measure the offset at both ends", severity=Severity.GATE
        )
        return
    if not legs:
        said = f"{run.name} does not tell when its legs ran"
        yield Problem(at(item, "run"), said, "name a run with legs", severity=Severity.GATE)
        return
    begin, end = (seconds_of(each) - receipt.clock.offset_s for each in (receipt.from_, receipt.to))
    yield from _legs(item, receipt, run, begin, end)


def _legs(item: Item, receipt: Telemetry, run: Item, begin: float, end: float) -> Iterator[Problem]:
    """What the time from `begin` to `end`, by the host's clock, misses of the legs of a run."""
    model: Run = run.model
    touched = [leg for leg in model.legs if begin < seconds_of(leg.ended) and end > seconds_of(leg.started)]
    if not touched:
        said = f"it was taken while no leg of {run.name} ran"
        yield Problem(
            at(item, "from"), said, "take the readings over whole legs", (("the legs", at(run, "legs")),)
        )
        return
    cut = [
        str(leg.leg)
        for leg in model.legs
        if leg not in touched or begin > seconds_of(leg.started) or end < seconds_of(leg.ended)
    ]
    if cut:
        said = f"it does not cover leg {', '.join(cut)} of {run.name}, which have no telemetry then"
        yield Problem(at(item, "to"), said, "take the readings over whole legs", severity=Severity.GATE)
    for leg in touched if receipt.instruments else ():
        if not leg.instrumented and not leg.invalid:
            said = f"it slows down what it watches, and leg {leg.leg} of {run.name} is called a benchmark"
            yield Problem(
                at(item, "instruments"), said, "measure again without it", (("the legs", at(run, "legs")),)
            )


RULE = Rule(
    "telemetry-outside-legs", Scope.DOCUMENT, Severity.ERROR, "telemetry was not taken during the legs", check,
    kinds=("receipt/v1",), contract=("5.6", "6.10"), since=5,
)  # fmt: skip
