"""A plan begun for a person: what the documents say is filled in, what only a person can say stands as TODO.

Invariant: every value comes from a document or is computed from one; `hio plan check` refuses a plan until each TODO
is written (rule unfinished-plan), and finds nothing else in it that these documents could have answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hio_validate.evidence.design import balanced_order, has_answered
from hio_validate.evidence.dialects import SeveralDialects, of_stacks, one_dialect
from hio_validate.evidence.metrics import METRICS, TIMED_BY_SERVER
from hio_validate.ledger import one_setting
from hio_validate.models.entry import FailedRun
from hio_validate.models.site import Place
from hio_validate.plans.compared import Compared
from hio_validate.plans.drafting import drafting_of, measured_by
from hio_validate.plans.fixtures import (
    CHECK,
    CHECKED,
    FIXTURE,
    MEASURED,
    checks_of,
    last_fixture,
    latest_first,
    new_fixture,
)
from hio_validate.plans.quality import quality_of, unasked
from hio_validate.plans.refusal import CannotPlan
from hio_validate.plans.same_work import same_work_of, with_reasons
from hio_validate.recording import modeline
from hio_validate.repo import item_of
from hio_validate.rules.base import View
from hio_validate.rules.planned import asked_with, has_baseline, runs_of
from hio_validate.rules.unfinished_plan import TODO
from hio_validate.rules.unrestored_service import serves
from hio_validate.settings.places import place_of
from hio_validate.settings.request import Dialect
from hio_validate.source import read
from hio_validate.source.dump import Row, dump

LEGS = {"screening": 2, "confirmation": 4, "a-a": 4}
"""Legs of each arm: two to look at; with four the smallest two-sided p is 2/70."""


@dataclass(frozen=True)
class Begun:
    """The files to write, the plan first, and what a person should know of them."""

    files: tuple[tuple[str, bytes], ...]
    said: str
    todo: int
    """Texts that only a person can write."""
    hints: tuple[str, ...] = ()
    """What a person should look at: what was chosen for a reason, and what the documents have and nothing asks for."""


def begin(
    view: View,
    service: str,
    compared: Compared,
    stage: str,
    name: str,
    metric: str | None,
    fixture: str | None,
) -> Begun:
    """The plan and, where the service has no fixture, the fixture to be completed. Raises CannotPlan."""
    files: list[tuple[str, bytes]] = []
    dialect = _dialect(view, service, compared)
    metric = _metric(metric, dialect)
    measured = fixture or last_fixture(view, service)
    if measured is None:
        measured = FIXTURE
        files.append(new_fixture(service, measured, MEASURED, dialect))
    asked = measured_by(view, service, compared.arms, measured)
    files += [asked.file] if asked.file else []
    checks = checks_of(view, service)
    if not checks and stage == "confirmation":
        checks = [CHECK]
        files.append(new_fixture(service, CHECK, CHECKED, dialect))
    work = same_work_of(compared.factors, drafting_of(view, service, compared.arms))
    data = _plan(
        view,
        service,
        compared,
        stage,
        name,
        metric,
        asked.fixture,
        checks,
        work.data,
        dialect.start_s,
    )
    file = f"manifests/services/{service}/plans/{name}.yaml"
    written = dump(_with_runs(view, data, file), head=modeline("plan", file))
    files.insert(0, (file, with_reasons(written, work.reasons)))
    factors = f"{', '.join(compared.factors) or 'nothing'} changed against {compared.baseline}"
    said = f"{factors}, {len(data['order'])} legs, asked by {compared.asked_by}"
    hints = (asked.said, work.said, unasked(view, service) if stage == "confirmation" else "")
    todo = sum(content.count(TODO.encode()) for _, content in files)
    return Begun(tuple(files), said, todo, tuple(each for each in hints if each))


def _plan(
    view: View,
    service: str,
    compared: Compared,
    stage: str,
    name: str,
    metric: str,
    fixture: str,
    checks: list[str],
    same_work: Row,
    start_s: int,
) -> dict[str, Any]:
    """The plan without what earlier runs say of it."""
    place = place_of(service, view.repo)
    first, second = compared.arms
    order = balanced_order(first, second, LEGS[stage])
    a_a = stage == "a-a"
    quality = quality_of(view, service) if stage == "confirmation" else None
    return {
        "hio": "plan/v1",
        "name": name,
        "service": service,
        "question": compared.question,
        "stage": stage,
        "hypothesis": {
            "claim": "both arms are the same, so what differs is noise" if a_a else f"{TODO}: what is expected of {metric}, with a number",
            "operation": f"{TODO}: the expensive operation, e.g. reading the weights",
            "mechanism": "none: nothing is changed" if a_a else f"{TODO}: what the change does to that operation",
        },
        "baseline": first,
        "arms": dict(compared.arms),
        "factors": list(compared.factors),
        **({"combined": True} if len(compared.factors) > 1 else {}),
        "order": order,
        "fixture": fixture,
        "requests": Row(warm_up=1, measured=3),
        **({"checks": checks} if checks else {}),
        **({"quality": Row(quality)} if quality else {}),
        "same_work": same_work,
        "decide": _criteria(metric),
        "limits": _limits(place, len(order), start_s),
        "abort_owner": f"{TODO}: who may end it and is told",
        "serving": Row(_serving(view, service)),
        **({"respect": respect} if (respect := _respected(view, service)) else {}),
        **({"known_failures": failures} if (failures := _failures(view, service, compared)) else {}),
        "untested": [f"other requests than {fixture}", "several requests at once"],
    }  # fmt: skip


def _dialect(view: View, service: str, compared: Compared) -> Dialect:
    """In whose words both arms are asked. Raises CannotPlan."""
    stacks = [(name, str(arm["stack"])) for name, arm in compared.arms.items()]
    try:
        return one_dialect(of_stacks(stacks, service, view.repo))
    except SeveralDialects as error:
        raise CannotPlan(
            f"{error}; plan a run of each (hio plan new --a-a --stack NAME), and compare them with hio compare"
        ) from None


def _metric(asked: str | None, dialect: Dialect) -> str:
    """What decides: the speed of decoding as the server times it, else as the client sees it. Raises CannotPlan."""
    if asked in TIMED_BY_SERVER and not dialect.times_itself:
        raise CannotPlan(
            f"{asked} comes from the server's own times, and {dialect.family} reports none; "
            f"say --metric {'tpot_ms' if asked == 'decode_tps' else 'ttft_ms'}, which the client sees"
        )
    return asked or ("decode_tps" if dialect.times_itself else "tpot_ms")


_OTHER_PHASE = {
    "decode_tps": "prefill_tps",
    "prefill_tps": "decode_tps",
    "tpot_ms": "ttft_ms",
    "ttft_ms": "tpot_ms",
}


def _criteria(metric: str) -> dict[str, Any]:
    """Level and effect as they are usual here; the other phase of a request may not pay for the gain (contract 6.4)."""
    other = _OTHER_PHASE.get(metric)
    return {
        "metric": metric,
        "better": METRICS[metric].better,
        "at_least_percent": 3,
        "test": "permutation",
        "alpha": 0.05,
        "power": 0.8,
        **({"bounds": [Row(metric=other, worse_by_percent=5)]} if other else {}),
    }


_ASKED_S = 180
"""Seconds that a leg may take after its server is ready."""


def _limits(place: Place | None, legs: int, start_s: int) -> dict[str, Any]:
    """The site's limits where it has any; else what a small server needs at most."""
    said = place.limits if place else {}
    return {
        "memory": said.get("memory_max", "8GiB"),
        "available": said.get("memory_available", "1GiB"),
        "start_s": start_s,
        "leg_s": start_s + _ASKED_S,
        "total_s": legs * (start_s + _ASKED_S),
    }


def _serving(view: View, service: str) -> dict[str, str]:
    """A service that was deployed is stopped and restored; one that only has a ledger does not serve."""
    ledger = view.ledger(service)
    if ledger.deployment is None:
        return {"during": "none"}
    return {"during": "stop", "restore": serves(ledger) or ""}


def _respected(view: View, service: str) -> list[str]:
    site = view.repo.find("site/v1", service.partition("/")[0])
    guarded = site.model.guarded if site is not None and site.model is not None else []
    return [name for name in guarded if re.fullmatch(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*", name)]


def _failures(view: View, service: str, compared: Compared) -> list[str]:
    """Failed runs of these settings, as the ledger has them."""
    return [
        f"{entry.name}: {entry.model.hazard}"
        for entry in view.ledger(service).as_of()
        if isinstance(entry.model, FailedRun)
        and entry.model.factor
        and any(one_setting(entry.model.factor, factor) for factor in compared.factors)
    ]


def _with_runs(view: View, data: dict[str, Any], file: str) -> dict[str, Any]:
    """The plan with what earlier runs say: its noise, what it reproduces, and what it repeats."""
    item = item_of(read(dump(data), file))
    if item.model is None:
        raise CannotPlan(
            f"the plan would not be one: {item.refused[0].message if item.refused else 'it cannot be read'}"
        )
    done = [run for run in latest_first(list(runs_of(item, view))) if run.model.outcome == "completed"]
    mine = [run for run in done if has_baseline(run, item) and asked_with(run, item.model.fixture, item)]
    noise = next((run.name for run in mine if run.model.stage == "a-a"), None)
    again = next((run for run in done if has_answered(run, item, view.repo)), None)
    said = dict(data)
    if noise and data["stage"] != "a-a":
        said["decide"] = {**data["decide"], "noise": noise}
    if mine:
        said["reproduces"] = mine[0].name
    if again is not None:
        said["again"] = {"run": again.name, "question": f"{TODO}: what {again.name} left open"}
    return said
