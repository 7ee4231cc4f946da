"""Who may reach a stack: whether it listens more widely than before, and which approval says so (contract 5.1).

Invariant: an address that is not known counts as the widest after a change and as the narrowest before it; only what became wider is told.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from enum import IntEnum

from hio_validate.models.entry import Approval
from hio_validate.repo import Item
from hio_validate.review.changes import Exposure
from hio_validate.review.stacks import Sides
from hio_validate.review.trees import Side
from hio_validate.settings.difference import Compared, Group
from hio_validate.settings.setting import Class, Effective
from hio_validate.settings.value import ABSENT, UNKNOWN

_ADDRESSES = frozenset({"host"})
_ORIGINS = frozenset({"cors-origins", "allowed-origins"})
_KEYS = frozenset({"api-key", "api-key-file"})


_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"),
    )
)
"""RFC 1918, 3927, 4193, 4291."""


class Reach(IntEnum):
    """From where a listening socket can be reached."""

    NOWHERE = 0
    THIS_HOST = 1
    PRIVATE_NETWORK = 2
    ANY_NETWORK = 3
    EVERY_ADDRESS = 4
    """Every address of the host, present and future."""
    NOT_KNOWN = 5


_WORDS = {
    Reach.THIS_HOST: "this host only",
    Reach.PRIVATE_NETWORK: "one private address",
    Reach.ANY_NETWORK: "an address that may be public",
    Reach.EVERY_ADDRESS: "every address of the host",
    Reach.NOT_KNOWN: "an address that is not known",
}


def is_wider(before: Reach, after: Reach) -> bool:
    """Whether more can reach it than before; what is not known was reached by nobody, and will be by everybody."""
    known = Reach.NOWHERE if before is Reach.NOT_KNOWN else before
    return after > max(known, Reach.THIS_HOST)


def reach(address: str | None) -> Reach:
    """How far an address is listened to; a list counts as its widest part."""
    if address is None:
        return Reach.NOWHERE
    return max(map(_reach, address.split(",")))


def _reach(address: str) -> Reach:
    text = address.strip().strip("[]").lower()
    if text in ("", "*", "none", ABSENT):
        return Reach.EVERY_ADDRESS
    if text == UNKNOWN or "${" in text:
        return Reach.NOT_KNOWN
    if text == "localhost" or text.endswith(".sock") or text.startswith("unix:"):
        return Reach.THIS_HOST
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return Reach.ANY_NETWORK
    mapped = getattr(found, "ipv4_mapped", None) or found
    if mapped.is_unspecified:
        return Reach.EVERY_ADDRESS
    if mapped.is_loopback:
        return Reach.THIS_HOST
    private = any(mapped in network for network in _PRIVATE)
    return Reach.PRIVATE_NETWORK if private else Reach.ANY_NETWORK


def widened(sides: Sides | None, stack: Item, after: Effective) -> Iterator[Exposure]:
    """What a stack would expose beyond what it, or what it replaces, exposed before."""
    if sides is None:
        yield from _exposed_from_nothing(stack, after)
        return
    for each in sides.difference.touched:
        factor = each.address.partition(".")[2]
        if factor in _ADDRESSES and each.class_ is Class.ENDPOINT:
            yield from _wider_address(each, sides, stack)
        elif each.group is Group.ONE_BUILD:
            continue  # how an option that one build does not have acts there is not known, and nobody set it
        elif factor in _ORIGINS and "*" in each.to and "*" not in each.from_:
            yield Exposure(stack.name, each.address, each.from_, each.to, "pages of every origin may call it")
        elif factor in _KEYS and _is_set(each, 0) and not _is_set(each, 1) and not _guarded(after):
            yield Exposure(stack.name, each.address, "withheld", ABSENT, "it no longer asks for a key")


def _exposed_from_nothing(stack: Item, after: Effective) -> Iterator[Exposure]:
    for each in after.settings.values():
        is_address = each.factor in _ADDRESSES and each.class_ is Class.ENDPOINT
        if is_address and is_wider(Reach.NOWHERE, reach(each.value)):
            yield _exposure(stack, each.address, ABSENT, each.value, Reach.NOWHERE)


def _wider_address(each: Compared, sides: Sides, stack: Item) -> Iterator[Exposure]:
    before, after = Reach.NOWHERE, reach(each.to if each.candidate else None)
    if each.address.partition(".")[0] in sides.before.processes:
        before = reach(each.from_)
    if each.from_ != each.to and is_wider(before, after):
        yield _exposure(stack, each.address, each.from_, each.to, before)


def _exposure(stack: Item, setting: str, from_: str, to: str, before: Reach) -> Exposure:
    was = f", before: {_WORDS[before]}" if before in _WORDS else ""
    return Exposure(stack.name, setting, from_, to, f"it listens on {_WORDS[reach(to)]}{was}")


def _is_set(each: Compared, side: int) -> bool:
    setting = (each.parent, each.candidate)[side]
    return setting is not None and setting.set_by_a_person


def _guarded(effective: Effective) -> bool:
    return any(setting.factor in _KEYS and setting.set_by_a_person for setting in effective.settings.values())


def approved(exposure: Exposure, stack: Item, service: str, side: Side, now: str) -> Exposure:
    """The exposure with the approval that covers it; else with why none does. `now` is a time in UTC."""
    named = [
        item
        for item in side.view.ledger(service).as_of()
        if isinstance(item.model, Approval)
        and item.model.approves == "deploy"
        and service in item.model.services
        and not {exposure.setting, exposure.setting.partition(".")[2]}.isdisjoint(item.model.factors)
        and _is_about(item.model, stack)
    ]
    valid = next((item for item in reversed(named) if item.model.until > now), None)
    if valid is not None:
        return exposure._replace(approval=valid.name)
    if named:
        last = named[-1]
        return exposure._replace(reason=f"{exposure.reason}; {last.name} expired on {last.model.until[:10]}")
    return exposure


def _is_about(approval: Approval, stack: Item) -> bool:
    """Whether it is bound to no stack, or to exactly these bytes of this one."""
    pinned = approval.pins.stack if approval.pins else None
    return pinned is None or pinned.rpartition("/")[2] == f"{stack.name}@{stack.document.digest}"
