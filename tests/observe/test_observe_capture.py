"""A whole capture of a real process that serves HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hio_validate.models import reader
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.observe.capture import capture, capture_process
from hio_validate.observe.hashing import HashCache
from hio_validate.observe.refusal import Unobservable
from hio_validate.settings.catalogue import Arity, Catalogue, Option

from ..ports import free_port
from .conftest import Start
from .gguf_writer import gguf

SERVER = """
import json, mmap, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
port, model, loading_s = int(sys.argv[2]), sys.argv[4], float(os.environ.get("LOADING_S", 0))
with open(model, "rb") as file:
    keep = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
begun = time.monotonic()
alias = os.environ.get("ALIAS", "tiny")
answers = {
    "/health": {"status": "ok"},
    "/props": {"total_slots": 1, "model_alias": alias, "chat_template": "x"},
    "/slots": [{"id": 0, "n_ctx": 8, "prompt": "what nobody may read"}],
    "/v1/models": {"data": [{"id": alias}]},
}
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        loading = time.monotonic() - begun < loading_s
        self.send_response(503 if loading else 200)
        self.end_headers()
        self.wfile.write(json.dumps(answers[self.path]).encode())
    def log_message(self, *words):
        pass
server = HTTPServer(("127.0.0.1", port), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
"""

FAMILY: Family = reader("family/v1").validate_python(
    {"hio": "family/v1", "name": "tiny-server", "classes": {"secret": ["api-key"]}, "env-prefix": ["TINY_"]}
)
CATALOGUE = Catalogue(
    (
        Option("c", ("-c",)),
        Option("port", ("--port",)),
        Option("model", ("-m", "--model")),
        Option("api-key", ("--api-key",), env=("TINY_KEY",)),
        Option("flash", ("--flash",), arity=Arity.NONE),
    )
)
SECRET = "planted-secret-value"


@pytest.fixture
def model(place: Path) -> Path:
    file = place / "m.gguf"
    file.write_bytes(gguf({"general.architecture": ("str", "tiny")}) + bytes(5000))
    return file


def taken(pid: int, **more: Any) -> CapturedProcess:
    return capture_process(pid, FAMILY, CATALOGUE, cache=HashCache(None), **more)


def test_everything_of_one_process(start_python: Start, model: Path) -> None:
    port = free_port()
    env = {"TINY_MODE": "fast", "PLAIN": "nothing of ours"}
    process = start_python(SERVER, "--port", str(port), "-m", str(model), "--flash", env=env)
    seen = taken(
        process.pid, log="initializing, n_slots = 1, n_ctx_slot = 8, kv_unified = 'true'\n", build="b1"
    )
    assert (seen.pid, seen.family, seen.build) == (process.pid, "tiny-server", "b1")
    assert seen.executable.sha256
    assert all(library.sha256 for library in seen.libraries.values())
    assert list(seen.libraries) == sorted(seen.libraries)
    assert (seen.artifacts["model"].gguf or {})["general.architecture"] == "tiny"
    assert (seen.argv.value or [])[-3:] == [["--port", str(port)], ["-m", str(model)], ["--flash"]]
    assert (seen.environ.values, seen.environ.withheld) == ({"TINY_MODE": "fast"}, [])
    assert set(seen.environ.names) >= {"TINY_MODE", "PLAIN"}
    assert (seen.threads.count or 0) >= 2
    assert seen.listening
    assert (seen.listening.address, seen.listening.port) == ("127.0.0.1", port)
    reports = {
        "health": seen.health,
        "props": seen.props,
        "slots": seen.slots,
        "models": seen.models,
        "log": seen.log,
    }
    assert {name: report.how for name, report in reports.items() if report} == {
        name: name for name in reports
    }
    assert seen.log
    assert seen.log.facts["n_slots"] == 1
    assert "what nobody may read" not in json.dumps(seen.model_dump() | {"argv": None})


def test_two_captures_of_one_process_agree(start_python: Start, model: Path) -> None:
    process = start_python(SERVER, "--port", str(free_port()), "-m", str(model))
    first, second = (taken(process.pid).model_dump() | {"memory": None} for _ in range(2))
    assert first == second


def test_a_planted_secret_is_nowhere_in_the_document(start_python: Start, model: Path) -> None:
    env = {
        "TINY_KEY": SECRET,
        "HF_TOKEN": SECRET + "-2",
        "ALIAS": f"model of {SECRET}",
        "TINY_PATH": f"/k/{SECRET}",
    }
    words = ["--port", str(free_port()), "-m", str(model), "--api-key", SECRET, f"--api-key={SECRET}", SECRET]
    process = start_python(SERVER, *words, env=env)
    document = capture("x", {"server": taken(process.pid)})
    text = json.dumps(document.model_dump(by_alias=True))
    assert SECRET not in text
    server = document.processes["server"]
    assert server.argv.withheld == ["--api-key"]
    assert {"TINY_KEY", "HF_TOKEN"} <= set(server.environ.withheld)
    assert server.props
    assert server.props.facts["model_alias"] == "withheld"
    assert (server.argv.value or [])[-3:] == [["--api-key", "withheld"], ["--api-key=withheld"], ["withheld"]]


def test_loading_is_waited_for_and_refused_after_the_deadline(start_python: Start, model: Path) -> None:
    words = ["--port", str(free_port()), "-m", str(model)]
    assert taken(start_python(SERVER, *words, env={"LOADING_S": "0.5"}).pid, deadline=600).props
    words[1] = str(free_port())
    with pytest.raises(Unobservable, match=rf"port {words[1]} still loads after 0.2 s"):
        taken(start_python(SERVER, *words, env={"LOADING_S": "600"}).pid, deadline=0.2)


def test_a_process_that_ends_meanwhile_is_one_sentence(start: Start) -> None:
    process = start(["sleep", "600"])

    def end(done: int, total: int) -> None:
        process.kill()
        process.wait()

    with pytest.raises(Unobservable, match=f"process {process.pid}"):
        capture_process(process.pid, None, None, cache=HashCache(None), progress=end)


def test_a_process_that_serves_nothing(start: Start) -> None:
    seen = capture_process(start(["sleep", "600"]).pid, None, None, cache=HashCache(None))
    assert (seen.family, seen.listening, seen.props, seen.log) == ("unknown", None, None, None)
    assert seen.argv.value == [["sleep"], ["600"]]


def test_a_wrong_pid_is_one_sentence() -> None:
    with pytest.raises(Unobservable, match=r"^there is no process 4194999"):
        taken(4194999)


def test_the_document(start: Start) -> None:
    process = capture_process(start(["sleep", "600"]).pid, None, None, cache=HashCache(None))
    moment = datetime(2026, 9, 16, 23, 58, tzinfo=UTC)
    document = capture("base", {"server": process}, service="lab/tiny", stack="base", site="lab", at=moment)
    assert (document.name, document.service, document.site, document.at) == (
        "base",
        "lab/tiny",
        "lab",
        "2026-09-16T23:58:00Z",
    )
    assert document.by.startswith("hio ")
    plain = document.model_dump(by_alias=True, exclude_none=True)
    assert reader("capture/v1").validate_python(plain) == document
