"""Another process is asked, started and ended."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hio_validate.probing import answering
from hio_validate.probing.dispatch import _server, round_trip, starts
from hio_validate.probing.extent import Extent
from hio_validate.probing.refusal import NotMeasured


def test_a_round_trip_is_timed_and_the_server_has_ended(tiny: Extent) -> None:
    _, found = round_trip(tiny)
    assert (found.quantity, found.unit, len(found.samples)) == ("http-round-trip", "us", 7)
    assert found.low > 5


def test_an_answer_leaves_in_one_piece() -> None:
    """Two small segments that wait for an acknowledgement would take 40 ms."""
    with _server() as port, socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert connection.recv(65536).endswith(answering.BODY)


def test_the_server_answers_a_connection_again_and_ends_with_its_parent() -> None:
    with _server() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        for _ in range(3):
            connection.request("POST", "/completion", b"{}")
            answer = connection.getresponse()
            assert answer.read() == answering.BODY and not answer.will_close
        connection.close()
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=600).request("GET", "/")


def test_a_server_whose_parent_is_gone_ends(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", answering.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None and child.stdin is not None
        assert int(child.stdout.readline()) > 0
        child.stdin.close()
        assert child.wait(600) == 0


def test_starting_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Extent) -> None:
    (tmp_path / "true").write_text("#!/bin/sh\nexec /bin/sleep 0.05\n")
    (tmp_path / "true").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = dict(step() for step in starts(tiny))
    assert [*found] == ["process-start-true", "process-start-python"]
    assert all((each.unit, len(each.samples)) == ("ms", 7) for each in found.values())
    assert found["process-start-true"].low >= 50


def test_a_program_that_does_not_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Extent
) -> None:
    (tmp_path / "true").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "true").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotMeasured, match=r"process-start: .*true does not run"):
        dict(step() for step in starts(tiny))
