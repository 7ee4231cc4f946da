"""A trial on a port that another service of its site has.

Two servers on one port either do not start, or share it (SO_REUSEPORT) and answer each other's requests: then nobody
knows who was measured (contract 5.5). The port of the plan, or of its service where the plan gives none, is held
against the ports that the site gives to services which go on serving: its own with `during: leave`, and every other.

How to fix: give the plan a `port` that no service of the site has; or stop the service for the trial
(`during: stop`, with its approval).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.settings.places import place_of


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    site_name, _, mine = (item.service or "").partition("/")
    site = view.repo.find("site/v1", site_name)
    own = place_of(item.service, view.repo)
    port = plan.port or (own.port if own else None)
    if site is None or site.model is None or port is None:
        return
    for name, place in site.model.services.items():
        keeps = name != mine or plan.serving.during == "leave"
        if keeps and place.port == port:
            yield Problem(
                at(item, *(("port",) if plan.port else ("serving", "during"))),
                f"port {port} is where {site_name}/{name} serves during this trial",
                "give the trial a port of its own",
                (("its place", at(site, "services", name, "port")),),
            )


RULE = Rule(
    "contested-port", Scope.DOCUMENT, Severity.ERROR, "the trial's port is where another service serves", check,
    kinds=("plan/v1",), contract=("5.5",), since=3,
)  # fmt: skip
