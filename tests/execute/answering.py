"""A server that answers with given bytes, and a client that was sent to it: real sockets, a real process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hio_validate.execute.client import Errand
from hio_validate.execute.work import Question

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def event(**data: Any) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


@contextmanager
def answering(answers: Sequence[bytes], *, reset: bool = False, hold: bool = False) -> Iterator[int]:
    """A server that gives each connection the next of these bytes, whatever it is asked."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    _request(connection)
                    for piece in answer.split(b"|CUT|"):
                        connection.sendall(piece)
                    if hold:
                        stop.wait()
                    if reset:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()


def _request(connection: socket.socket) -> None:
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += connection.recv(65536)
    head, _, body = raw.partition(b"\r\n\r\n")
    length = int(
        next(
            line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
    )
    while len(body) < length:
        body += connection.recv(65536)


def asked(
    port: int, tmp_path: Path, questions: Sequence[Question], silence_s: float = 600.0, **more: Any
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit code, records and arrival times of a client that was sent to a port."""
    errand, events = tmp_path / "errand.json", tmp_path / "events.jsonl"
    errand.write_text(Errand("127.0.0.1", port, str(events), silence_s, tuple(questions), **more).as_text())
    done = subprocess.run(
        [sys.executable, "-m", "hio_validate.execute.client", str(errand)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, records, [json.loads(line) for line in events.read_text().splitlines()]
