"""The task set of a plan that is begun: asked where a plan of the service has said what is enough, else told.

Invariant: floor and margin are a person's words; they are taken from a plan of the same service, or left out.
"""

from __future__ import annotations

from typing import Any

from hio_validate.evidence.design import full_name
from hio_validate.evidence.proportions import least_margin, z_of
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import View

_USUAL_LEVEL = 0.05
"""Of a plan's quality gate that names no other (models/plan.py)."""


def quality_of(view: View, service: str) -> dict[str, Any] | None:
    """`quality:` of the plan that was run last, else of the first by name, whose task set is there; None where no plan has one."""
    ran = {
        run.model.plan.partition("@")[0]: moment(run.model.at)
        for run in view.repo.of("run/v1")
        if run.service == service and run.model.plan is not None and run.model.at is not None
    }
    asking = [
        plan
        for plan in view.repo.of("plan/v1")
        if plan.service == service and plan.model.quality is not None and _is_there(plan, view)
    ]
    if not asking:
        return None
    never = moment("0001-01-01T00:00:00Z")
    last = max(sorted(asking, key=lambda plan: plan.name), key=lambda plan: ran.get(plan.name, never))
    gate = last.model.quality
    said = {"tasks": gate.tasks, "floor": gate.floor, "margin": gate.margin}
    more = {"alpha": gate.alpha} if gate.alpha != _USUAL_LEVEL else {}
    return said | more | ({"legs": gate.legs} if gate.legs != "first" else {})


def unasked(view: View, service: str) -> str:
    """That a task set is there and no plan says what is enough: what to write; nothing where none is."""
    sets = [item for item in view.repo.of("tasks/v1") if item.service == service]
    if not sets or quality_of(view, service) is not None:
        return ""
    first = sets[0]
    least = least_margin(first.model.items.count, z_of(_USUAL_LEVEL))
    others = f" (or {', '.join(item.name for item in sets[1:4])})" if len(sets) > 1 else ""
    return (
        f"the task set {first.name}{others} is not asked: only you know what is enough; write "
        f"quality: {{tasks: {first.name}, floor: ..., margin: ...}}, the margin at least {least:.3f}"
    )


def _is_there(plan: Item, view: View) -> bool:
    name = full_name(plan.model.quality.tasks, plan)
    return any(f"{item.service}/{item.name}" == name for item in view.repo.of("tasks/v1"))
