"""Who listens on a TCP port: the socket's inode in /proc/net/tcp, and the processes that hold it.

Invariant: one owner or a refusal that names everyone (contract 1.7). A child that inherited the socket may
answer in its parent's place, and nothing in /proc proves that it does not; so it counts as a second owner
unless the caller has explained it by its pid.
"""

from __future__ import annotations

import ipaddress
import re
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable

_LISTEN = "0A"
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_WILDCARDS = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True, slots=True, order=True)
class Listener:
    """A listening TCP socket."""

    version: int
    """4 or 6."""
    address: str
    port: int
    inode: int
    uid: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if self.version == 6 else f"{self.address}:{self.port}"

    def answers_for(self, other: Listener) -> bool:
        """Whether a connection meant for `other` may end here."""
        if self.port != other.port:
            return False
        return self.address == other.address or bool(_WILDCARDS & {self.address, other.address})


@dataclass(frozen=True, slots=True)
class Owner:
    """The one process that owns a listening socket."""

    pid: int
    listener: Listener


def owner_of(port: int, explained: Collection[int] = ()) -> Owner:
    """The process that alone listens on `port` in our network namespace.

    `explained` are pids known to have inherited the socket without answering on it. Raises Unobservable if
    nobody listens, if several do, or if the owner cannot be seen without privilege.
    """
    found = listening(port)
    if not found:
        raise Unobservable(f"nobody listens on port {port}")
    holders = holders_of({listener.inode for listener in found})
    pids = {pid for listener in found for pid in holders.get(listener.inode, ())} - set(explained)
    unseen = [listener for listener in found if not holders.get(listener.inode)]
    if unseen:
        raise Unobservable(
            f"who listens on {unseen[0]} is unknown: the socket belongs to user {unseen[0].uid}, "
            "whose processes cannot be read without that user or root"
        )
    _refuse_many(pids, f"port {port}")
    if not pids:
        raise Unobservable(f"port {port} is held only by processes explained as heirs: {_named(explained)}")
    return Owner(pids.pop(), found[0])


def listening_of(pid: int, port: int | None = None, explained: Collection[int] = ()) -> Listener | None:
    """The socket a process listens on and nobody else; None if it listens on none.

    Raises Unobservable if another process shares the socket or listens where connections to it may end, if the
    process does not listen on `port`, or if it listens on several ports and none was named.
    """
    everyone = listeners(pid)
    own_inodes = set(_inodes(proc.open_files(pid).values()))
    own = [each for each in everyone if each.inode in own_inodes and port in (None, each.port)]
    if not own and port is not None:
        raise Unobservable(f"process {pid} does not listen on port {port}")
    if not own:
        return None
    ports = sorted({each.port for each in own})
    if len(ports) > 1:
        listed = ", ".join(map(str, ports))
        raise Unobservable(f"process {pid} listens on ports {listed}: name the one that serves")
    strangers = [each for each in everyone if each.inode not in own_inodes]
    rivals = [each for each in strangers if any(each.answers_for(one) for one in own)]
    holders = holders_of({each.inode for each in [*own, *rivals]})
    for rival in rivals:
        if not holders.get(rival.inode):
            raise Unobservable(f"a process of user {rival.uid} that cannot be read also listens on {rival}")
    others = {other for inodes in holders.values() for other in inodes} - set(explained)
    _refuse_many(others | {pid}, str(own[0]))
    return own[0]


def listening(port: int) -> list[Listener]:
    """Every socket that listens on a port of this host, whoever holds it."""
    return [each for each in listeners() if each.port == port]


def listeners(pid: int | None = None) -> list[Listener]:
    """Every listening TCP socket of our network namespace, or of a process' one; IPv4 first."""
    found: list[Listener] = []
    for version, name in ((4, "tcp"), (6, "tcp6")):
        try:
            lines = Path(f"/proc/{pid or 'self'}/net/{name}").read_text().splitlines()[1:]
        except FileNotFoundError:
            continue  # a kernel without IPv6
        except OSError as error:
            raise Unobservable(f"the sockets cannot be listed: {error.strerror}") from None
        waiting = (line.split() for line in lines if _LISTEN in line)  # a busy host has thousands of others
        found += [listener for fields in waiting if (listener := _listener(version, fields))]
    return sorted(found)


def holders_of(inodes: Collection[int]) -> dict[int, set[int]]:
    """Inode of a socket -> processes with a descriptor of it, as far as we may see."""
    found: dict[int, set[int]] = {}
    for pid in proc.everyone():
        try:
            targets = proc.open_files(pid).values()
        except Unobservable:
            continue
        for inode in _inodes(targets):
            if inode in inodes:
                found.setdefault(inode, set()).add(pid)
    return found


def _inodes(targets: Iterable[str]) -> Iterable[int]:
    return (int(match[1]) for target in targets if (match := _SOCKET.fullmatch(target)))


def _listener(version: int, fields: list[str]) -> Listener | None:
    if fields[3] != _LISTEN:
        return None
    address, _, port = fields[1].partition(":")
    return Listener(version, _address(address), int(port, 16), int(fields[9]), int(fields[7]))


def _address(words: str) -> str:
    """The kernel prints each 32-bit word of an address as a number of this machine's byte order."""
    raw = b"".join(struct.pack("=I", int(words[at : at + 8], 16)) for at in range(0, len(words), 8))
    address = ipaddress.ip_address(raw)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _refuse_many(pids: Collection[int], where: str) -> None:
    if len(pids) < 2:
        return
    heirs = {pid: elder for pid in pids if (elder := _elder(pid, pids))}
    if heirs:
        told = ", ".join(f"{pid} inherited it from {elder}" for pid, elder in sorted(heirs.items()))
        raise Unobservable(
            f"{where} is listened on by processes {_named(pids)} ({told}): either may answer; "
            "explain the heir that does not, or stop it"
        )
    raise Unobservable(f"{where} is listened on by processes {_named(pids)}: either may answer")


def _named(pids: Collection[int]) -> str:
    return " and ".join(map(str, sorted(pids)))


def _elder(pid: int, pids: Collection[int]) -> int | None:
    """The nearest ancestor of a process among `pids`."""
    at = pid
    while at > 1:
        try:
            at = proc.parent(at)
        except Unobservable:
            return None
        if at in pids:
            return at
    return None
