"""Whether a stack listens more widely than before, and which approval says so (contract 5.1).

Invariant: only what became wider is told; what is not known may be wider.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.ledger import Ledger
from hio_validate.models.entry import Approval, Deployment
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.review.changes import Exposure
from hio_validate.review.stacks import Sides
from hio_validate.review.trees import Side
from hio_validate.settings.difference import Compared, Group
from hio_validate.settings.exposure import LISTENS, Reach, reach, wider
from hio_validate.settings.secrets import WITHHELD
from hio_validate.settings.setting import Effective, Setting
from hio_validate.settings.value import ABSENT

_ORIGINS = frozenset({"cors-origins", "allowed-origins"})
_KEYS = frozenset({"api-key", "api-key-file"})
_NOBODY = "localhost"
"""What a stack that was not there before exposed: no more than to its own host."""


_WORDS = {
    Reach.LOCAL: "its own host",
    Reach.PRIVATE: "a private address",
    Reach.PUBLIC: "a public address",
    Reach.EVERYWHERE: "every address of the host",
    None: "an address of which nobody knows whom it reaches",
}


def widened(sides: Sides | None, stack: Item, after: Effective) -> Iterator[Exposure]:
    """What a stack would expose beyond what it, or what it replaces, exposed before."""
    if sides is None:
        for each in after.settings.values():
            if each.factor in LISTENS:
                yield from _listening(stack, each.address, None, each.value)
        return
    for compared in sides.difference.touched:
        # How an option that one build does not have acts there is not known, and nobody set it.
        if compared.group is not Group.ONE_BUILD:
            yield from _compared(compared, sides, stack, after)


def _compared(each: Compared, sides: Sides, stack: Item, after: Effective) -> Iterator[Exposure]:
    process, _, factor = each.address.partition(".")
    if factor in LISTENS and each.candidate is not None:
        known = process in sides.before.processes
        yield from _listening(stack, each.address, each.from_ if known else None, each.to)
    elif factor in _ORIGINS and "*" in each.to and "*" not in each.from_:
        yield Exposure(stack.name, each.address, each.from_, each.to, "pages of every origin may call it")
    elif factor in _KEYS and _is_set(each.parent) and not any(map(_is_a_key, after.settings.values())):
        yield Exposure(stack.name, each.address, WITHHELD, ABSENT, "it no longer asks for a key")


def _listening(stack: Item, setting: str, before: str | None, after: str) -> Iterator[Exposure]:
    more = wider(_NOBODY if before is None else before, after)
    if more is not False:
        asked = "" if more else "; whether more can reach it than before is not known"
        reason = f"it would listen on {_WORDS[reach(after)]}{asked}"
        yield Exposure(stack.name, setting, ABSENT if before is None else before, after, reason)


def _is_set(setting: Setting | None) -> bool:
    return setting is not None and setting.set_by_a_person


def _is_a_key(setting: Setting) -> bool:
    return setting.factor in _KEYS and setting.set_by_a_person


def approved(exposure: Exposure, stack: Item, service: str, side: Side, now: str) -> Exposure:
    """The exposure with the approval that covers it; else with why none does.

    `now` is a time in UTC. An approval must not have expired then, or when the stack was deployed.
    """
    ledger = side.view.ledger(service)
    when = _deployed(ledger, stack) or now
    named = [item for item in ledger.as_of() if _names(item, exposure, stack, service)]
    valid = next((item for item in reversed(named) if moment(item.model.until) >= moment(when)), None)
    if valid is not None:
        return exposure._replace(approval=valid.name)
    if named:
        expired = f"{named[-1].name} expired on {named[-1].model.until[:10]}"
        return exposure._replace(reason=f"{exposure.reason}; {expired}")
    return exposure


def _names(item: Item, exposure: Exposure, stack: Item, service: str) -> bool:
    """Whether an entry is an approval to deploy that names this setting of this service, and no other stack."""
    given = item.model
    if not isinstance(given, Approval) or given.approves != "deploy" or service not in given.services:
        return False
    pinned = given.pins.stack if given.pins else None
    ours = pinned is None or pinned.rpartition("/")[2] == stack.pin
    return ours and not {exposure.setting, exposure.setting.partition(".")[2]}.isdisjoint(given.factors)


def _deployed(ledger: Ledger, stack: Item) -> str | None:
    """When a stack was deployed, where it is what is deployed now."""
    said = ledger.deployment
    if said is None or not isinstance(said.model, Deployment):
        return None
    name, _, digest = said.model.pins.candidate.rpartition("/")[2].partition("@")
    return said.model.at if (name, digest) == (stack.name, stack.document.digest) else None
