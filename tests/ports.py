"""Ports for the servers that tests start: each is given once, and to no other process of tests on this machine.

A port that the kernel names for a socket, which is then closed, is free for anybody: for another test, and as the near
end of any connection. These lie below the range that the kernel takes from.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

_FIRST, _BLOCK = 20_000, 64


def free_port() -> int:
    """A TCP port that nobody listens on and that no other test is given."""
    return next(port for port in _PORTS if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe, suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def _ports() -> Iterator[int]:
    """Ports of blocks that are this process' own until it ends."""
    kernels = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    blocks = (
        range(_FIRST, kernels - _BLOCK, _BLOCK) if kernels > _FIRST + _BLOCK else range(1024, 60_000, _BLOCK)
    )
    begin = os.getpid() % len(blocks)
    for first in chain(blocks[begin:], blocks[:begin]):
        if _is_ours(first):
            yield from range(first, first + _BLOCK)
    raise AssertionError("more ports than there are")


def _is_ours(block: int) -> bool:
    """Whether a block is ours from now on: a name that the kernel gives once and takes back when we end."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0hio-tests-ports-{block}")
    except OSError:
        claim.close()
        return False
    claim.detach()  # open as long as this process
    return True


_PORTS = _ports()
