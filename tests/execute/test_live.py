"""Who serves now is told by process, program and start, from this host as it is."""

from __future__ import annotations

import os
import socket

from hio_validate.execute.live import serving_on


def test_who_listens_is_named_by_its_process_and_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        told = serving_on(port)
    assert told.startswith(f"process {os.getpid()}, {os.path.realpath('/proc/self/exe')}, started 2")
    assert told.endswith(f"listens on 127.0.0.1:{port}")
    assert serving_on(port) == f"nobody listens on port {port}"
