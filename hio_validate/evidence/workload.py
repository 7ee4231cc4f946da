"""The workload that an arm of a run had, as its record tells it: host, model, requests at once, state of the cache (contract 9.1).

Invariant: what captures show goes before what is declared; a declaration stands for captures that do not know; what nobody
tells is None, and never equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.evidence.case import Case
from hio_validate.evidence.weights import model_of_process
from hio_validate.models.capture import Capture


def host_of(case: Case, arm: str) -> str | None:
    """The id of the host that an arm was measured on."""
    seen = [capture.host.id for _, capture in case.captures(arm) if capture is not None]
    return told(seen, case.model.scope.host if case.model.scope else None)


def model_of(case: Case, arm: str) -> str | None:
    """SHA-256 of the model that an arm served, of a split one each shard's."""
    seen = [model_in(capture) for _, capture in case.captures(arm) if capture is not None]
    return told(seen, case.model.scope.model if case.model.scope else None)


def alike(case: Case, arm: str) -> tuple[str, ...]:
    """The arms of a run of stage a-a that are one stack with an arm, itself among them; of other runs the arm alone.

    What an arm had is what the document says of it, its captures aside; host and model are those that captures tell.
    """
    stage = case.model.stage or (case.plan.stage if case.plan is not None else None)
    if stage != "a-a":
        return (arm,)
    mine = _had(case, arm)
    return tuple(name for name in case.model.arms if name == arm or _had(case, name) == mine)


def _had(case: Case, arm: str) -> tuple[object, ...]:
    said = case.arm(arm)
    return said.stack, dict(said.set), host_of(case, arm), model_of(case, arm)


def concurrency_of(case: Case) -> int | None:
    """Requests at the same time; hio asks one after the other, of others' runs only their regime says it."""
    if case.plan is not None and not case.model.imported:
        return 1
    return 1 if "one request" in (case.regime or "").lower() else None


def cache_of(case: Case) -> str | None:
    """cold or warm, as the regime begins."""
    return next((word for word in ("cold", "warm") if (case.regime or "").lower().startswith(word)), None)


def model_in(capture: Capture) -> str | None:
    """The first known model of a capture's processes; what all of them serve together is evidence/weights.py's weights_in."""
    models = (model_of_process(process.artifacts) for process in capture.processes.values())
    return next((model for model in models if model is not None), None)


def told(seen: Sequence[str | None], declared: str | None) -> str | None:
    """The one that all captures show; where some do not know, the declared one that the others show."""
    claimed = {each for each in seen if each}
    if not seen or not all(seen):
        claimed |= {declared} if declared else set()
        return declared if len(claimed) == 1 else None
    return claimed.pop() if len(claimed) == 1 else None
