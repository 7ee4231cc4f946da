"""The A-A experiment that says how much two equal arms differ on this host (contract 7.2).

Invariant: noise counts only where it was measured on the same host, with the same baseline, model, fixture and regime;
whatever is unknown is not the same.
"""

from __future__ import annotations

from functools import cached_property

from hio_validate.evidence.case import Case
from hio_validate.evidence.weights import weights_in
from hio_validate.repo import Item, name_of


class Floor:
    """The A-A run that a plan names, and why it may not be used; `run` is None where it names none that is there."""

    def __init__(self, case: Case, run: Item | None) -> None:
        self.case, self.run = case, run

    @cached_property
    def refused(self) -> str:
        """Why there is no known noise, in a sentence; "" where there is."""
        decide = self.case.decide
        if decide is None:
            return "no plan names an A-A run of this host"
        if decide.noise is None:
            return "the plan names no A-A run (decide.noise)"
        if self.run is None:
            return f"the A-A run {decide.noise} is not there, or cannot be read"
        return _unfit(Case(self.run, self.case.known), self.case)

    def arms(self, metric: str) -> list[list[float]]:
        """The observations of each arm of the A-A run; empty where it may not be used or has not that metric."""
        if self.refused or self.run is None or metric not in self.run.model.columns:
            return []
        other = Case(self.run, self.case.known)
        return [other.values(arm, metric) for arm in other.model.arms]

    def values(self, metric: str) -> list[float]:
        """All observations of the A-A run."""
        return [value for arm in self.arms(metric) for value in arm]


def floor_of(case: Case) -> Floor:
    """The A-A run of a run's plan."""
    decide = case.decide
    found = (
        case.known.repo.find("run/v1", name_of(decide.noise), case.run.service)
        if decide and decide.noise
        else None
    )
    return Floor(case, found if found is not None and found.model is not None else None)


def _unfit(noise: Case, case: Case) -> str:
    name = noise.run.name
    if noise.run.file == case.run.file:
        return f"{name} cannot be its own noise"
    if noise.model.imported or noise.plan is None or noise.plan.stage != "a-a":
        return f"{name} is no A-A experiment that hio ran from a plan of stage a-a"
    if noise.model.outcome != "completed":
        return f"the A-A run {name} was not completed"
    too_few = [arm for arm in noise.model.arms if len(noise.counted(arm)) < 3]
    if too_few:
        return f"the A-A run {name} has fewer than 3 trials of {too_few[0]} that count"
    mine, theirs = _context(case), _context(noise)
    other = [part for part, value in mine.items() if value is None or value != theirs[part]]
    return f"the A-A run {name} was not measured with the same {', '.join(other)}" if other else ""


def _context(case: Case) -> dict[str, object]:
    """Where a run holds, as observed where it was; None = unknown."""
    captures = [capture for arm in case.model.arms for _, capture in case.captures(arm)]
    bench = case.plan.bench if case.plan else None
    asked = (bench.prompt_tokens, bench.generated_tokens) if bench else ()
    return {
        "host": _the_only([capture.host.id if capture else None for capture in captures]),
        "model": _baseline_weights(case),
        "fixture": (case.fixture, asked),
        "regime": case.regime,
        "baseline": case.arm(case.baseline).stack,
    }


def _baseline_weights(case: Case) -> str | None:
    """What the baseline served, where the weights of every leg are known: a candidate may serve others."""
    served = {
        arm: [weights_in(capture) if capture else None for _, capture in case.captures(arm)]
        for arm in case.model.arms
    }
    return _the_only(served[case.baseline]) if all(map(all, served.values())) else None


def _the_only(found: list[str | None]) -> str | None:
    """What all captures show; None where they differ or one does not know."""
    return found[0] if len(set(found)) == 1 else None
