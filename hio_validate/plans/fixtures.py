"""The requests of a plan: fixtures that are there, and those that are begun where a service has none.

Invariant: a fixture that is begun has a complete greedy chain; what it asks is a person's to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.evidence.design import full_name
from hio_validate.moment import moment
from hio_validate.plans.refusal import CannotPlan
from hio_validate.recording import modeline
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.rules.planned import plan_of
from hio_validate.rules.unfinished_plan import TODO
from hio_validate.settings.request import DIALECTS, LLAMA, Dialect
from hio_validate.source.dump import Row, dump

GREEDY = DIALECTS[LLAMA].greedy
"""The complete sampling chain that takes llama-server's likeliest token (rule missing-sampling-chain says why it is complete)."""

FIXTURE, CHECK = "short", "check"
"""Names of the fixtures that are begun where a service has none: what is measured, and what judges the answers."""

MEASURED = {
    "prompt": f"{TODO}: a prompt of the workload that this service serves",
    "max_tokens": 128,
    "ignore_eos": True,
}
CHECKED = {
    "prompt": f"{TODO}: a question with one right answer",
    "max_tokens": 32,
    "expect": {
        "source": f"{TODO}: who says what is right, other than this engine",
        "contains": [f"{TODO}: the answer"],
    },
}


def new_fixture(service: str, name: str, asks: Mapping[str, Any], dialect: Dialect) -> tuple[str, bytes]:
    """A fixture in the words of an engine, with its complete greedy chain, whose prompt a person writes."""
    file = f"manifests/services/{service}/fixtures/{name}.yaml"
    data = {
        "hio": "fixture/v1",
        "name": name,
        "endpoint": dialect.endpoints[0],
        **asks,
        "seed": 1,
        "sampling": Row(dialect.greedy),
    }
    return file, dump(data, head=modeline("fixture", file))


def _fixtures(view: View, service: str) -> list[Item]:
    return [item for item in view.repo.of("fixture/v1") if item.service == service]


def checks_of(view: View, service: str) -> list[str]:
    return [item.name for item in _fixtures(view, service) if item.model.expect is not None]


def last_fixture(view: View, service: str) -> str | None:
    """The fixture that the latest run of a plan measured, else the service's only one; None where it has none. Raises CannotPlan."""
    runs = [run for run in view.repo.of("run/v1") if run.service == service]
    for run in latest_first(runs):
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


def latest_first(runs: Sequence[Item]) -> list[Item]:
    dated = [run for run in runs if run.model.at is not None]
    return sorted(dated, key=lambda run: (moment(run.model.at), run.name), reverse=True)


def fixture_is_there(view: View, service: str, fixture: str) -> bool:
    """Whether a service has a fixture of that name."""
    return any(full_name(fixture, item) == f"{service}/{item.name}" for item in _fixtures(view, service))


def no_fixture(view: View, service: str, fixture: str) -> str:
    """That a service has no fixture of that name, and which it has."""
    names = sorted(item.name for item in _fixtures(view, service))
    has = f"it has {', '.join(names[:6])}" if names else "it has none; without --fixture one is begun"
    return f"no readable fixture of {service} is called {fixture}; {has}"
