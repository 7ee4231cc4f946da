"""A plan begun for a person: what the documents say is filled in, what only a person can say stands as TODO.

Invariant: every value comes from a document or is computed from one; `hio plan check` refuses a plan until each TODO
is written (rule unfinished-plan), and finds nothing else in it that these documents could have answered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hio_validate.evidence.design import balanced_order, between, full_name, has_answered
from hio_validate.evidence.metrics import METRICS
from hio_validate.inheritance import Inheritance
from hio_validate.ledger import one_setting
from hio_validate.models.entry import FailedRun
from hio_validate.models.site import Place
from hio_validate.moment import moment
from hio_validate.next_test import AskedTest, asked_tests
from hio_validate.planned_drafting import measured_by
from hio_validate.planned_quality import quality_of, unasked
from hio_validate.recording import modeline
from hio_validate.repo import Item, item_of
from hio_validate.rules.base import View
from hio_validate.rules.planned import asked_with, has_baseline, plan_of, runs_of
from hio_validate.rules.unfinished_plan import TODO
from hio_validate.rules.unrestored_service import serves
from hio_validate.settings.difference import Compared as ComparedSetting
from hio_validate.settings.places import place_of
from hio_validate.settings.setting import Class
from hio_validate.settings.value import ABSENT, UNKNOWN, text_of
from hio_validate.source import read
from hio_validate.source.dump import Row, dump

GREEDY = {
    "temperature": 0,
    "top_k": 1,
    "repeat_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "dry_multiplier": 0,
}
"""The complete sampling chain that takes the likeliest token (rule missing-sampling-chain says why it is complete)."""

LEGS = {"screening": 2, "confirmation": 4, "a-a": 4}
"""Legs of each arm: two to look at; with four the smallest two-sided p is 2/70."""

FIXTURE, CHECK = "short", "check"
"""Names of the fixtures that are begun where a service has none: what is measured, and what judges the answers."""


class CannotPlan(Exception):
    """There is nothing to plan, or it is not clear what; says why."""


@dataclass(frozen=True)
class Compared:
    """What a plan compares: two arms, and the settings in which they differ."""

    name: str
    """What the plan is called where nobody names it."""
    arms: Mapping[str, Mapping[str, Any]]
    factors: tuple[str, ...]
    question: str
    asked_by: str

    @property
    def baseline(self) -> str:
        return next(iter(self.arms))


@dataclass(frozen=True)
class Begun:
    """The files to write, the plan first, and what a person should know of them."""

    files: tuple[tuple[str, bytes], ...]
    said: str
    todo: int
    """Texts that only a person can write."""
    hint: str = ""
    """What the documents have and nothing asks for."""


def asked(view: View, service: str, factor: str | None, matrix: str | None) -> AskedTest:
    """The test that is to be planned: the next one that a matrix asks for, or the one that is named. Raises CannotPlan."""
    matrices = {item.name for item in view.repo.of("matrix/v1") if item.service == service}
    tests = [test for test in asked_tests(view, service) if matrix in (None, test.source)]
    tests = [test for test in tests if factor is None or _is_about(test, factor)]
    of_rows = [
        test for test in tests if test.source in matrices and not test.factor.startswith("defaults of ")
    ]
    lasting = [test for test in of_rows if factor or matrix or not test.outlived]
    if lasting:
        return lasting[0]
    if of_rows:
        raise CannotPlan(
            f"{of_rows[0].source} and whatever else asks is about a parent that was replaced; name it with --matrix "
            f"all the same, or try a setting on the current parent: --set SETTING=VALUE"
        )
    which = f" about {factor}" if factor else ""
    if tests:
        raise CannotPlan(
            f"{tests[0].source} asks for {tests[0].factor}, and no row of a matrix says from which value to which; "
            "write the candidate stack, then hio matrix new"
        )
    where = matrix or service
    raise CannotPlan(f"{where} asks for no test{which}; hio ledger next {service} lists what is asked for")


def _is_about(test: AskedTest, factor: str) -> bool:
    return test.factor == f"the bundle {factor}" or one_setting(test.factor, factor)


def of_test(view: View, service: str, test: AskedTest) -> Compared:
    """The comparison that an asked test wants: parent against parent with a delta. Raises CannotPlan."""
    item = view.repo.find("matrix/v1", test.source, service)
    found = view.inheritance(item) if item is not None and item.model is not None else None
    if found is None:
        raise CannotPlan(f"the matrix {test.source} cannot be resolved; hio validate says why")
    bundle = test.factor.removeprefix(_A_BUNDLE) if test.factor.startswith(_A_BUNDLE) else None
    wanted = _wanted(found, test, bundle)
    parent = found.parent
    short = bundle or _short(wanted[0].address, wanted[0].to)
    arm = _arm(view, found, wanted)
    mine = view.settings.effective(
        parent if "set" in arm else found.candidate,
        None,
        {key: text_of(value) for key, value in arm.get("set", {}).items()},
    )
    return Compared(
        short,
        {parent.name: Row(stack=parent.name), short: Row(arm)},
        tuple(each.address for each in between(view.settings.effective(parent), mine, view.settings)[1]),
        f"What does {test.factor}{f' {test.change}' if test.change else ''} change on {parent.name}?",
        test.source,
    )


_A_BUNDLE = "the bundle "


def _wanted(found: Inheritance, test: AskedTest, bundle: str | None) -> list[ComparedSetting]:
    """The settings that a test is about, compared between parent and candidate. Raises CannotPlan."""
    covered = [
        each for each in found.covered if getattr(each.row, "bundle", None) == bundle and each.compared
    ]
    mine = [each for each in covered if bundle or (each.compared and each.compared.address == test.factor)]
    if any(each.disposition == "undecided" for each in mine):
        raise CannotPlan(
            f"the row {test.factor} of {test.source} is undecided; write retest where it is to be measured"
        )
    wanted = [each.compared for each in mine if each.compared]
    if not wanted:
        raise CannotPlan(f"neither stack of {test.source} has {test.factor}, so there is nothing to compare")
    return wanted


def of_a_a(view: View, service: str, stack: str | None = None) -> Compared:
    """A stack against itself; without one the current parent. Raises CannotPlan."""
    parent = named_or_parent(view, service, stack).name
    return Compared(
        f"{parent}-a-a",
        {parent: Row(stack=parent), f"{parent}-again": Row(stack=parent)},
        (),
        f"How much does {parent} differ from itself on this host?",
        "the ledger" if stack is None else "the command line",
    )


def named_or_parent(view: View, service: str, stack: str | None) -> Item:
    """The stack of that name, without one the current parent. Raises CannotPlan."""
    name = stack or view.ledger(service).parent
    if name is None:
        raise CannotPlan(
            f"the ledger of {service} names no parent; record what serves: hio ledger append baseline"
        )
    item = view.repo.find("stack/v1", name, service)
    if item is None or item.model is None:
        has = ", ".join(sorted(each.name for each in view.repo.of("stack/v1") if each.service == service))
        raise CannotPlan(f"no readable stack of {service} is called {name}; it has {has or 'none'}")
    return item


def _short(address: str, value: str) -> str:
    """A name for an arm: `threads-2` for server.threads = 2."""
    words = re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{address.partition('.')[2]}-{value}").strip("-.")
    return words[:60].rstrip("-.")


def _arm(view: View, found: Inheritance, wanted: Sequence[ComparedSetting]) -> dict[str, Any]:
    """The arm as parent plus delta; as the candidate itself where no delta can say it, e.g. another build or a path."""
    delta = {side.address: each.to for each in wanted if (side := each.parent or each.candidate)}
    if not all(_can_be_said(each) for each in wanted):
        return {"stack": found.candidate.name}
    effective = view.settings.effective(found.parent, None, delta)
    reached = {address: effective.settings.get(address) for address in delta}
    differing = between(view.settings.effective(found.parent), effective, view.settings)[1]
    exact = all(each is not None and each.value == delta[address] for address, each in reached.items())
    if not exact or len(differing) != len(delta):
        return {"stack": found.candidate.name}
    return {"stack": found.parent.name, "set": Row({name: scalar(value) for name, value in delta.items()})}


def _can_be_said(each: ComparedSetting) -> bool:
    """Whether a plan may write the value down: a known one that stands for itself and is no secret."""
    return each.to not in (ABSENT, UNKNOWN) and "${" not in each.to and each.class_ is Class.TUNING


def scalar(value: str) -> str | int:
    return int(value) if re.fullmatch(r"-?[1-9][0-9]{0,14}|0", value) else value


def begin(
    view: View, service: str, compared: Compared, stage: str, name: str, metric: str, fixture: str | None
) -> Begun:
    """The plan and, where the service has no fixture, the fixture to be completed. Raises CannotPlan."""
    files: list[tuple[str, bytes]] = []
    measured = fixture or _last_fixture(view, service)
    if measured is None:
        measured = FIXTURE
        files.append(_new_fixture(service, measured, _MEASURED))
    asked = measured_by(view, service, compared.arms, measured)
    files += [asked.file] if asked.file else []
    checks = _checks(view, service)
    if not checks and stage == "confirmation":
        checks = [CHECK]
        files.append(_new_fixture(service, CHECK, _CHECKED))
    data = _plan(view, service, compared, stage, name, metric, asked.fixture, checks)
    file = f"manifests/services/{service}/plans/{name}.yaml"
    files.insert(0, (file, dump(_with_runs(view, data, file), head=modeline("plan", file))))
    factors = f"{', '.join(compared.factors) or 'nothing'} changed against {compared.baseline}"
    said = f"{factors}, {len(data['order'])} legs, asked by {compared.asked_by}"
    hint = asked.said or (unasked(view, service) if stage == "confirmation" else "")
    return Begun(tuple(files), said, sum(content.count(TODO.encode()) for _, content in files), hint)


_MEASURED = {
    "prompt": f"{TODO}: a prompt of the workload that this service serves",
    "max_tokens": 128,
    "ignore_eos": True,
}
_CHECKED = {
    "prompt": f"{TODO}: a question with one right answer",
    "max_tokens": 32,
    "expect": {
        "source": f"{TODO}: who says what is right, other than this engine",
        "contains": [f"{TODO}: the answer"],
    },
}


def _new_fixture(service: str, name: str, asks: Mapping[str, Any]) -> tuple[str, bytes]:
    """A fixture with a complete greedy chain, whose prompt a person writes."""
    file = f"manifests/services/{service}/fixtures/{name}.yaml"
    data = {
        "hio": "fixture/v1",
        "name": name,
        "endpoint": "/completion",
        **asks,
        "seed": 1,
        "sampling": Row(GREEDY),
    }
    return file, dump(data, head=modeline("fixture", file))


def _plan(
    view: View,
    service: str,
    compared: Compared,
    stage: str,
    name: str,
    metric: str,
    fixture: str,
    checks: list[str],
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
        "same_work": Row(content="equal"),
        "decide": _criteria(metric),
        "limits": _limits(place, len(order)),
        "abort_owner": f"{TODO}: who may end it and is told",
        "serving": Row(_serving(view, service)),
        **({"respect": respect} if (respect := _respected(view, service)) else {}),
        **({"known_failures": failures} if (failures := _failures(view, service, compared)) else {}),
        "untested": [f"other requests than {fixture}", "several requests at once"],
    }  # fmt: skip


def _criteria(metric: str) -> dict[str, Any]:
    """Level and effect as they are usual here; the other phase of a request may not pay for the gain (contract 6.4)."""
    other = {"decode_tps": "prefill_tps", "prefill_tps": "decode_tps"}.get(metric)
    return {
        "metric": metric,
        "better": METRICS[metric].better,
        "at_least_percent": 3,
        "test": "permutation",
        "alpha": 0.05,
        "power": 0.8,
        **({"bounds": [Row(metric=other, worse_by_percent=5)]} if other else {}),
    }


def _limits(place: Place | None, legs: int) -> dict[str, Any]:
    """The site's limits where it has any; else what a small server needs at most."""
    said = place.limits if place else {}
    return {
        "memory": said.get("memory_max", "8GiB"),
        "available": said.get("memory_available", "1GiB"),
        "start_s": 120,
        "leg_s": 300,
        "total_s": legs * 300,
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


def _fixtures(view: View, service: str) -> list[Item]:
    return [item for item in view.repo.of("fixture/v1") if item.service == service]


def _checks(view: View, service: str) -> list[str]:
    return [item.name for item in _fixtures(view, service) if item.model.expect is not None]


def _last_fixture(view: View, service: str) -> str | None:
    """The fixture that the latest run of a plan measured, else the service's only one; None where it has none. Raises CannotPlan."""
    runs = [run for run in view.repo.of("run/v1") if run.service == service]
    for run in _latest_first(runs):
        plan = plan_of(run, view)
        if plan is not None and plan.model.fixture:
            return str(plan.model.fixture)
    names = [item.name for item in _fixtures(view, service) if item.model.expect is None]
    names = names or [item.name for item in _fixtures(view, service)]
    if len(names) > 1:
        raise CannotPlan(
            f"{service} has several fixtures; say which one is measured: --fixture {' or '.join(names)}"
        )
    return names[0] if names else None


def _latest_first(runs: Sequence[Item]) -> list[Item]:
    dated = [run for run in runs if run.model.at is not None]
    return sorted(dated, key=lambda run: (moment(run.model.at), run.name), reverse=True)


def _with_runs(view: View, data: dict[str, Any], file: str) -> dict[str, Any]:
    """The plan with what earlier runs say: its noise, what it reproduces, and what it repeats."""
    item = item_of(read(dump(data), file))
    if item.model is None:
        raise CannotPlan(
            f"the plan would not be one: {item.refused[0].message if item.refused else 'it cannot be read'}"
        )
    done = [run for run in _latest_first(list(runs_of(item, view))) if run.model.outcome == "completed"]
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


def default_name(compared: Compared, stage: str) -> str:
    """What a plan is called where nobody names it."""
    return f"{compared.name}-screening" if stage == "screening" else compared.name


def fixture_is_there(view: View, service: str, fixture: str) -> bool:
    """Whether a service has a fixture of that name."""
    return any(full_name(fixture, item) == f"{service}/{item.name}" for item in _fixtures(view, service))


def no_fixture(view: View, service: str, fixture: str) -> str:
    """That a service has no fixture of that name, and which it has."""
    names = sorted(item.name for item in _fixtures(view, service))
    has = f"it has {', '.join(names[:6])}" if names else "it has none; without --fixture one is begun"
    return f"no readable fixture of {service} is called {fixture}; {has}"
