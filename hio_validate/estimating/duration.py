"""What an experiment of a service costs: minutes, from its last runs, else from the limits that a plan has."""

from __future__ import annotations

from hio_validate.estimating.context.inputs import Inputs
from hio_validate.moment import seconds_of

LEGS, LEG_S = 8, 300.0
"""Legs of a confirmation that hio plan new begins, and the seconds that its limits give each (hio_validate/plans/begin.py)."""

MOST = 5
"""Runs that are looked at, the newest first."""


def minutes_of(inputs: Inputs) -> float:
    """Minutes of one confirmation: the longest of the newest completed runs of the service, else what the limits allow."""
    view = inputs.view
    spent: list[tuple[str, float]] = []
    for run in view.repo.of("run/v1") if view is not None else ():
        model = run.model
        if run.service == inputs.service and model.outcome == "completed" and model.at and model.ended:
            seconds = seconds_of(model.ended) - seconds_of(model.at)
            planned = LEGS / len(model.legs) if model.legs else 1.0
            spent.append((model.at, seconds * planned))
    newest = [seconds for _, seconds in sorted(spent, reverse=True)[:MOST]]
    return round((max(newest) if newest else LEGS * LEG_S) / 60, 1)
