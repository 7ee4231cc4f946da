"""Who can reach what a process listens on, and whether another address lets more in (contract 5.1).

Invariant: what an address reaches is never guessed; a host name, which only a resolver knows, reaches the unknown.
"""

from __future__ import annotations

from enum import IntEnum

LISTENS = frozenset({"host"})
"""Factors whose value is the address that a server listens on."""


class Reach(IntEnum):
    """Who gets in, from few to all."""

    LOCAL = 0
    """Loopback or a Unix socket: processes of this host."""
    PRIVATE = 1
    """An address that no router of the internet leads to."""
    PUBLIC = 2
    EVERYWHERE = 3
    """Every address of the host."""


_EVERYWHERE = frozenset({"", "*", "None"})
"""Beside `0.0.0.0` and `::`. vLLM's default None binds to every address (its create_server_socket)."""


def reach(host: str) -> Reach | None:
    """Who reaches a server that listens on this host; None where the text does not say.

    Of several addresses, separated by commas (llama-server), the one that most can reach counts.
    """
    if "," in host:
        found = [reach(each.strip()) for each in host.split(",")]
        return None if None in found else max(each for each in found if each is not None)
    from ipaddress import ip_address  # only where two stacks listen differently

    if host in _EVERYWHERE:
        return Reach.EVERYWHERE
    if host == "localhost" or host.startswith("/") or host.endswith(".sock"):
        return Reach.LOCAL
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_unspecified:
        return Reach.EVERYWHERE
    if address.is_loopback:
        return Reach.LOCAL
    return Reach.PUBLIC if address.is_global else Reach.PRIVATE


def wider(before: str, after: str) -> bool | None:
    """Whether more can reach `after` than `before`, two values of a host; None where that is unknown.

    Unknown is not equal: `unknown` is no host, and two unknown ones may differ. A name is equal to itself.
    """
    if before == after and before != "unknown":
        return False
    then, now = reach(before), reach(after)
    if then is Reach.EVERYWHERE or now is Reach.LOCAL:
        return False
    return None if then is None or now is None else now > then
