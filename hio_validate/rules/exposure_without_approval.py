"""A candidate that listens wider than its parent, and no approval names it.

`--host 0.0.0.0` is one word in an env file, and prompts of others are on the network. Addresses need no
measurement, but wider exposure needs a yes of the owner (contract 5.1): from loopback to a private address,
to a public one, to every address of the host (`0.0.0.0`, `::`). A default that a build moved counts like a
flag; place-holders such as `${host}` are looked up in the site. Whether a host name, or what nobody knows, is
wider is unknown, and unknown is not equal.

An approval of kind deploy for this service that names the setting in `factors:` covers it. No clock is asked:
it must not have expired when the matrix was deployed, or, before that, at the time of the ledger's latest
entry.

How to fix: listen where the parent listens; or ask the owner and append an approval (`approves: deploy`,
`factors: [server.host]`).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.inheritance import Inheritance
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Approval
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.settings.difference import Compared, Group
from hio_validate.settings.exposure import LISTENS, wider
from hio_validate.settings.places import filled_in, place_of, values


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    for compared in found.difference.touched if found else ():
        if found is None or compared.group is Group.EQUAL or not _listens(compared):
            continue
        place = place_of(item.service, view.repo)
        known = values(place) if place else {}
        before, after = filled_in(compared.from_, known), filled_in(compared.to, known)
        more = wider(before, after)
        if more is False:
            continue
        approvals = list(_approvals(item, compared, found, view))
        if not any(valid for _, valid in approvals):
            name = compared.address
            said = f"{name} listens wider" if more else f"whether {name} listens wider is unknown"
            yield Problem(
                at(item, *_row(compared, found)),
                f"{said}: {before} -> {after}, and no approval that still holds names it",
                f"ask the owner and append an approval (approves: deploy, factors: [{name}]), or listen as the parent does",
                tuple(("it expired", Place(each.document, ("until",))) for each, _ in approvals),
            )


def _listens(compared: Compared) -> bool:
    return any(side is not None and side.factor in LISTENS for side in (compared.parent, compared.candidate))


def _row(compared: Compared, found: Inheritance) -> Path:
    named = (
        each.path for each in found.covered if each.compared and each.compared.address == compared.address
    )
    return next(named, ("candidate",))


def _approvals(item: Item, compared: Compared, found: Inheritance, view: View) -> Iterator[tuple[Item, bool]]:
    """The approvals of this service that name the setting, and whether they hold when it matters."""
    ledger, when = _when(item, view)
    for entry in ledger.entries.values():
        given = entry.model
        if isinstance(given, Approval) and given.approves == "deploy" and item.service in given.services:
            named = (found.difference.find(factor) for factor in given.factors)
            pinned = given.pins.stack if given.pins else None
            ours = pinned is None or pinned.rpartition("/")[2] == found.candidate.pin
            if ours and any(each is not None and each.address == compared.address for each in named):
                yield entry, moment(given.until) >= moment(when)


def _when(item: Item, view: View) -> tuple[Ledger, str]:
    """The ledger as it was when the matrix was first deployed, and when that was; else as it is now."""
    ledger, deployed = view.ledger(item.service), view.deployment_of(item)
    if deployed is not None:
        return ledger.before(deployed.name), deployed.model.at
    return ledger, max((entry.model.at for entry in ledger.entries.values()), key=moment, default="Z")


RULE = Rule(
    "exposure-without-approval", Scope.DOCUMENT, Severity.GATE, "a candidate listens wider and no approval names it", check,
    kinds=("matrix/v1",), contract=("3.2", "5.1"), since=2,
)  # fmt: skip
