"""A place-holder of a stack that its site says nothing about.

`${model}` in a stack stands for a path of the service's site, `${host}` and `${port}` for where it listens there,
`${secret:NAME}` for a secret of which the site says where it is kept. One that is misspelt reaches the engine as it is
written: a server that looks for a file called `${modell}` (contract 2.3). Where no site describes the service,
nothing is said.

How to fix: write the name as the site does, or add it to `paths:` or `secrets:` of the service in the site.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, listed
from hio_validate.settings.places import place_holders, place_of, values
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    place = place_of(item.service, view.repo)
    if place is None:
        return
    known = values(place)
    for role, process in item.model.processes.items():
        for path, name in place_holders(process):
            if name not in known:
                near = nearest(name, known)
                has = f"the site has {listed(known)}" if known else "the site names no path and no secret"
                yield Problem(
                    at(item, "processes", role, *path),
                    f"${{{name}}} is nothing that the site of {item.service} defines",
                    f"did you mean ${{{near}}}?" if near else has,
                )


RULE = Rule(
    "unknown-placeholder", Scope.DOCUMENT, Severity.ERROR, "a place-holder is nothing that the site defines", check,
    kinds=("stack/v1",), contract=("2.3",), since=2,
)  # fmt: skip
