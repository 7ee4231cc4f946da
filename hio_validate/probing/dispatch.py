"""What it costs to ask another process: a round trip over loopback HTTP, and the start of a process."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from hio_validate.models.ceilings import Rate
from hio_validate.probing import answering
from hio_validate.probing.extent import Extent
from hio_validate.probing.refusal import NotMeasured
from hio_validate.probing.sampling import Step, each_takes, rate

_REQUEST = b'{"prompt":"x","n_predict":1,"cache_prompt":true,"stream":false}'
_PATIENCE_S = 10.0


def round_trip(extent: Extent) -> tuple[str, Rate]:
    """(name, rate): one request and its answer on a connection that stays open, in microseconds. Raises NotMeasured."""
    try:
        with _server() as port:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
            try:
                taken, calls = each_takes(lambda: _ask(connection), extent.sample_s, extent.repetitions)
            finally:
                connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotMeasured(f"http-round-trip: the own server on loopback did not answer: {error}") from None
    said = (
        f"http.client to http.server of Python {sys.version.split()[0]} in another process over 127.0.0.1, keep-alive, "
        f"POST of {len(_REQUEST)} bytes, answer of {len(answering.BODY)}; mean of {calls} round trips a repetition"
    )
    return "http-round-trip", rate("http-round-trip", [each * 1e6 for each in taken], "us", said)


def starts(extent: Extent) -> Iterator[Step]:
    """The start and end of a program that does nothing, and of Python, in milliseconds."""
    true = shutil.which("true")
    if true:
        yield partial(_start, "true", [true], extent)
    yield partial(_start, "python", [sys.executable, "-S", "-c", "pass"], extent)


def _start(name: str, command: list[str], extent: Extent) -> tuple[str, Rate]:
    taken, calls = each_takes(partial(_run, command), extent.sample_s, extent.repetitions)
    shown = " ".join([os.path.basename(command[0]), *command[1:]])
    said = f"{shown}, started and waited for; mean of {calls} processes a repetition"
    return f"process-start-{name}", rate("process-start", [each * 1e3 for each in taken], "ms", said)


def _run(command: list[str]) -> None:
    try:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotMeasured(f"process-start: {command[0]} does not run: {error}") from None


def _ask(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/completion", _REQUEST, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200 or answer.read() != answering.BODY:
        raise ValueError("somebody else answered")


@contextmanager
def _server() -> Iterator[int]:
    """The port of a server of our own; it has ended when this is left."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", answering.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.stdin is not None and child.stdout is not None
    try:
        yield int(child.stdout.readline())
    finally:
        child.kill()
        child.stdin.close()
        child.stdout.close()
        child.wait()
