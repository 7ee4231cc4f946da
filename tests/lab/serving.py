"""Starts a recorded stack of this repository on the real engine, and ends it again."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hio_validate.history import Folder
from hio_validate.repo import load

ROOT = Path(__file__).parents[2]
LAB = Path(os.environ.get("HIO_LAB", "/opt/hio-lab"))
SERVICE = "lab/gemma-270m"
PATIENCE_S = 600


@dataclass(frozen=True)
class Server:
    """A live llama-server."""

    pid: int
    port: int
    log: Path


def command(stack: str, port: int | None = None) -> tuple[list[str], int]:
    """The command line of a recorded stack at its recorded site, and the port it listens on."""
    repo = load(Folder(ROOT))
    process = repo.find("stack/v1", stack, SERVICE).model.processes["server"]
    place = repo.find("site/v1", "lab").model.services["gemma-270m"]
    port = port or place.port
    places = {
        **place.paths,
        "host": place.host,
        "port": str(port),
        "model": str(LAB / "model/gemma-3-270m-q4-k-m.gguf"),
    }
    words = [word for line in process.argv for word in line]
    program = LAB / f"llama-{process.build.removeprefix('b')}" / "bin" / "llama-server"
    return [str(program), *(_filled(word, places) for word in words)], port


def _filled(word: str, places: dict[str, str]) -> str:
    return places[word[2:-1]] if word.startswith("${") else word


@contextmanager
def serving(argv: list[str], port: int, log: Path) -> Iterator[Server]:
    """Runs one server until the block ends. Only this process is ended, by its own handle."""
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    with (
        log.open("wb") as output,
        subprocess.Popen(argv, env=environment, stdout=output, stderr=output) as process,
    ):
        try:
            _wait(process, port, log)
            yield Server(process.pid, port, log)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {log.read_text()[-2000:]}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"no health on port {port} after {PATIENCE_S} s: {log.read_text()[-2000:]}")
