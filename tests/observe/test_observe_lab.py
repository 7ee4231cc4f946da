"""The real llama-server: what a capture of it must show (`make lab` builds it)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from hio_validate.models.capture import CapturedProcess
from hio_validate.observe.capture import OBSERVED_FIELDS, OBSERVED_IN_VERBOSE_LOG, capture_process
from hio_validate.observe.hashing import HashCache
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listeners, owner_of
from hio_validate.settings.family import learn, packaged

from ..ports import free_port
from .conftest import ROOT, Start, as_nobody, eventually

pytestmark = pytest.mark.lab

LAB = Path(os.environ.get("HIO_LAB", "/opt/hio-lab"))
MODEL = LAB / "model" / "gemma-3-270m-q4-k-m.gguf"
FAMILY = packaged("llama-server")


class Server:
    """A llama-server with its log."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: Path, binary: Path) -> None:
        self.pid, self.port, self.log, self.binary = process.pid, port, log, binary

    def capture(self, **more: Any) -> CapturedProcess:
        assert FAMILY
        text = subprocess.run([self.binary, "--help"], capture_output=True, text=True, check=True).stdout
        more.setdefault("cache", HashCache(None))
        eventually(lambda: owner_of(self.port).pid == self.pid)
        return capture_process(self.pid, FAMILY, learn(text, FAMILY), **more)


@pytest.fixture
def serve(start: Start, place: Path) -> Any:
    """Starts a llama-server of a folder of binaries; its log lies in `place`."""

    def begin(
        *words: str,
        folder: Path | None = None,
        model: Path = MODEL,
        port: int = 0,
        as_nobody: bool = False,
        **more: Any,
    ) -> Server:
        binary = (folder or LAB / "llama-11434" / "bin") / "llama-server"
        port = port or free_port()
        log = place / f"server-{len(list(place.glob('server-*')))}.log"
        with log.open("w") as sink:
            process = start(
                [
                    binary,
                    "-m",
                    model,
                    "--port",
                    str(port),
                    "-t",
                    "1",
                    "-c",
                    "512",
                    "-np",
                    "1",
                    "--no-warmup",
                    *words,
                ],
                as_nobody=as_nobody,
                stderr=sink,
                **more,
            )
        return Server(process, port, log, binary)

    return begin


@pytest.fixture
def copies(place: Path) -> Iterator[tuple[Path, Path]]:
    """Binaries and model that a test may replace."""
    shutil.copytree(LAB / "llama-11434" / "bin", place / "bin", symlinks=True)
    shutil.copy(MODEL, place / "model.gguf")
    yield place / "bin", place / "model.gguf"


def leaves(data: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path -> value of everything that is not None."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, f"{prefix}{key}.")
    if data is not None:
        yield prefix.rstrip("."), data


def listeners_on(port: int) -> int:
    return sum(listener.port == port for listener in listeners())


def digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@pytest.mark.parametrize("build", ["llama-11434", "llama-10001"])
def test_the_listed_fields_come_out_observed(serve: Any, build: str) -> None:
    server = serve("-lv", "4", folder=LAB / build / "bin")
    server.capture()
    seen = server.capture(log=server.log.read_text())
    found = dict(leaves(seen.model_dump()))
    expected = OBSERVED_FIELDS + OBSERVED_IN_VERBOSE_LOG
    missing = [field for field in expected if not any(fnmatchcase(path, field) for path in found)]
    assert missing == []
    assert "unknown" not in {value for path, value in found.items() if path.endswith(".how")}
    assert all(library.sha256 for library in seen.libraries.values())
    assert seen.artifacts["model"].sha256 == digest(MODEL)
    assert (seen.artifacts["model"].gguf or {})["quantisation"] == "Q4_K_M"
    folder = LAB / build / "bin"
    assert seen.executable.sha256 == digest(folder / "llama-server")
    own = {
        name: library for name, library in seen.libraries.items() if Path(library.path or "").parent == folder
    }
    assert len(own) >= 7
    assert {name: library.sha256 for name, library in own.items()} == {
        name: digest(folder / name) for name in own
    }
    assert seen.listening
    assert seen.listening.port == server.port


def replace_all(folder: Path, model: Path, library: str) -> dict[str, str]:
    """Puts other files in the place of executable, a library and the model; digests of those before."""
    before = {}
    for name, file in {
        "executable": folder / "llama-server",
        "library": folder / library,
        "model": model,
    }.items():
        before[name] = digest(file)
        other = file.with_name("other")
        shutil.copy(file, other)
        with other.open("ab") as handle:
            handle.write(b"another build")
        other.replace(file)
    return before


def running(server: Server) -> dict[str, Any]:
    seen = server.capture()
    library = next(name for name in seen.libraries if name.startswith("libggml-cpu"))
    files = {
        "executable": seen.executable,
        "library": seen.libraries[library],
        "model": seen.artifacts["model"],
    }
    return {name: [file.sha256, file.how, file.note] for name, file in files.items()}


def cpu_library(folder: Path) -> str:
    return next(
        file.name
        for file in folder.iterdir()
        if file.name.startswith("libggml-cpu") and not file.is_symlink()
    )


@pytest.mark.skipif(not ROOT, reason="map_files needs root")
def test_replaced_while_it_runs_the_running_bytes_are_hashed(serve: Any, copies: tuple[Path, Path]) -> None:
    folder, model = copies
    server = serve(folder=folder, model=model)
    server.capture()
    before = replace_all(folder, model, cpu_library(folder))
    assert running(server) == {name: [was, "hash", "(deleted), replaced"] for name, was in before.items()}


def test_replaced_as_an_ordinary_user_only_the_executable_is_known(
    serve: Any, copies: tuple[Path, Path]
) -> None:
    folder, model = copies
    server = serve(folder=folder, model=model, as_nobody=True)
    whole = as_nobody(lambda: running(server))
    assert {how for _, how, _ in whole.values()} == {"hash"}, "as long as nothing is replaced"
    before = replace_all(folder, model, cpu_library(folder))
    assert as_nobody(lambda: running(server)) == {
        "executable": [before["executable"], "hash", "(deleted), replaced"],
        "library": [None, "unknown", "replaced"],
        "model": [None, "unknown", "replaced"],
    }


def test_two_servers_on_one_port_are_refused(serve: Any) -> None:
    first = serve("--reuse-port")
    first.capture()
    second = serve("--reuse-port", port=first.port)
    eventually(lambda: listeners_on(first.port) == 2)
    both = " and ".join(map(str, sorted([first.pid, second.pid])))
    for ask in (lambda: owner_of(first.port), lambda: capture_process(first.pid, FAMILY, None)):
        with pytest.raises(Unobservable, match=f"listened on by processes {both}: either may answer"):
            ask()


def test_loading_waits(serve: Any) -> None:
    server = serve()
    eventually(lambda: owner_of(server.port).pid == server.pid)
    with pytest.raises(Unobservable, match=f"port {server.port} still loads after 0 s"):
        capture_process(server.pid, FAMILY, None, deadline=0, cache=HashCache(None))
    seen = server.capture(deadline=60.0)
    assert seen.health
    assert seen.health.facts == {"status": "ok"}
    assert seen.props
    assert seen.props.facts["total_slots"] == 1


def test_a_wrong_pid_is_refused(serve: Any) -> None:
    server = serve()
    server.capture()
    with pytest.raises(Unobservable, match=f"process {os.getpid()} does not listen on port {server.port}"):
        capture_process(os.getpid(), FAMILY, None, port=server.port)


def test_a_model_that_is_not_mapped_is_unknown(serve: Any) -> None:
    seen = serve("--load-mode", "none").capture()
    model = seen.artifacts["model"]
    assert (model.sha256, model.how, model.note) == (None, "unknown", "not mapped")


def test_secrets_and_switched_off_endpoints(serve: Any) -> None:
    env = dict(os.environ) | {"HF_TOKEN": "planted-in-environ"}
    server = serve("--api-key", "planted-in-argv", "--no-slots", env=env)
    seen = server.capture()
    assert "planted" not in json.dumps(seen.model_dump())
    assert seen.argv.withheld == ["--api-key"]
    assert seen.environ.withheld == ["HF_TOKEN"]
    assert seen.props
    assert seen.props.note == "/props needs an API key, which is not read (HTTP 401)"
