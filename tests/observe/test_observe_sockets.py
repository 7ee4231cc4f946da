"""One owner of a listening socket, or a refusal that names everyone (contract 1.7)."""

from __future__ import annotations

import os
import socket

import pytest

from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener, listening_of, owner_of

from ..ports import free_port
from .conftest import ROOT, Start, as_nobody

LISTEN = """
import os, socket, sys
def listen(port, address="127.0.0.1", family=socket.AF_INET):
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    opened.bind((address, port))
    opened.listen()
    return opened
port = int(sys.argv[1])
"""


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_the_owner_of_a_port(start_python: Start) -> None:
    port = free_port()
    process = start_python(LISTEN + "held = listen(port)", str(port))
    owner = owner_of(port)
    assert owner.pid == process.pid
    assert (owner.listener.address, owner.listener.port, owner.listener.version) == ("127.0.0.1", port, 4)
    assert listening_of(process.pid) == owner.listener
    assert listening_of(process.pid, port) == owner.listener
    assert f"socket:[{owner.listener.inode}]" in {
        os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")
    }


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 on this machine")
def test_the_owner_of_an_ipv6_port(start_python: Start) -> None:
    port = free_port()
    process = start_python(LISTEN + "held = listen(port, '::1', socket.AF_INET6)", str(port))
    owner = owner_of(port)
    assert (owner.pid, owner.listener.address, owner.listener.version) == (process.pid, "::1", 6)
    assert str(owner.listener) == f"[::1]:{port}"


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 on this machine")
def test_one_process_on_both_families_is_one_owner(start_python: Start) -> None:
    port = free_port()
    script = LISTEN + "held = listen(port), listen(port, '::1', socket.AF_INET6)"
    process = start_python(script, str(port))
    assert owner_of(port).pid == process.pid
    assert listening_of(process.pid) == owner_of(port).listener
    assert owner_of(port).listener.version == 4


def test_nobody_listens() -> None:
    port = free_port()
    with pytest.raises(Unobservable, match=f"^nobody listens on port {port}$"):
        owner_of(port)


def test_a_connected_socket_is_no_listener(start_python: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = "import socket, sys\nheld = socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
        process = start_python(script, str(server.getsockname()[1]))
        assert listening_of(process.pid) is None


def test_two_listeners_on_one_port_are_refused(start_python: Start) -> None:
    port = free_port()
    script = LISTEN + "held = listen(port)"
    first, second = (start_python(script, str(port)).pid for _ in range(2))
    named = " and ".join(map(str, sorted([first, second])))
    with pytest.raises(
        Unobservable, match=rf"port {port} is listened on by processes {named}: either may answer"
    ):
        owner_of(port)
    with pytest.raises(Unobservable, match=named):
        listening_of(first)


def test_a_listener_for_every_address_is_a_rival(start_python: Start) -> None:
    port = free_port()
    first = start_python(LISTEN + "held = listen(port)", str(port)).pid
    second = start_python(LISTEN + "held = listen(port, '0.0.0.0')", str(port)).pid
    for pid in (first, second):
        with pytest.raises(Unobservable, match=" and ".join(map(str, sorted([first, second])))):
            listening_of(pid)


def test_another_address_of_the_machine_is_no_rival_of_a_pid(start_python: Start) -> None:
    port = free_port()
    first = start_python(LISTEN + "held = listen(port)", str(port)).pid
    start_python(LISTEN + "held = listen(port, '127.0.0.2')", str(port))
    found = listening_of(first)
    assert found is not None
    assert found.address == "127.0.0.1"
    with pytest.raises(Unobservable, match="either may answer"):
        owner_of(port)


def test_a_child_that_inherited_the_socket_is_refused_unless_explained(start_python: Start) -> None:
    port = free_port()
    script = LISTEN + (
        "held = listen(port)\nchild = os.fork()\n"
        "if not child:\n    import time\n    time.sleep(600)\n"
        "os.write(1, b'child %d\\n' % child)"
    )
    process = start_python(script, str(port))
    child = next(pid for pid in _children(process.pid))
    told = (
        rf"processes {process.pid} and {child} \({child} inherited it from {process.pid}\): either may answer"
    )
    with pytest.raises(Unobservable, match=told):
        owner_of(port)
    with pytest.raises(Unobservable, match=told):
        listening_of(process.pid)
    assert owner_of(port, explained=[child]).pid == process.pid
    assert listening_of(process.pid, explained=[child]) == owner_of(port, explained=[child]).listener


def test_several_ports_of_one_process_need_a_name(start_python: Start) -> None:
    ports = sorted([free_port(), free_port()])
    process = start_python(LISTEN + "held = listen(port), listen(int(sys.argv[2]))", *map(str, ports))
    with pytest.raises(Unobservable, match=f"listens on ports {ports[0]}, {ports[1]}: name the one"):
        listening_of(process.pid)
    found = listening_of(process.pid, ports[1])
    assert found is not None
    assert found.port == ports[1]
    with pytest.raises(Unobservable, match=f"process {process.pid} does not listen on port 1"):
        listening_of(process.pid, 1)


@pytest.mark.skipif(not ROOT, reason="needs root to listen as another user")
def test_without_privilege_the_owner_is_unknown(start_python: Start) -> None:
    port = free_port()
    start_python(LISTEN + "held = listen(port)", str(port))

    def ask() -> str:
        try:
            return str(owner_of(port))
        except Unobservable as refused:
            return refused.reason

    told = as_nobody(ask)
    assert told.startswith(f"who listens on 127.0.0.1:{port} is unknown: the socket belongs to user 0")


def test_an_answer_for_everyone_overlaps() -> None:
    one = Listener(4, "127.0.0.1", 80, 1, 0)
    assert one.answers_for(Listener(4, "0.0.0.0", 80, 2, 0))
    assert Listener(6, "::", 80, 3, 0).answers_for(one)
    assert not one.answers_for(Listener(4, "127.0.0.1", 81, 2, 0))
    assert not one.answers_for(Listener(4, "127.0.0.2", 80, 2, 0))


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]
