"""What a server says of itself over real HTTP, and what of it is never kept (contract 1.8)."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe import endpoints
from hio_validate.observe.endpoints import Server
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener

Serve = Callable[..., Server]
PROMPT = "what nobody may read"


class Quiet(ThreadingHTTPServer):
    """Says nothing about a client that has given up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that gives (status, body) for a path; a body may be JSON-able, bytes, or a function."""
    running: list[ThreadingHTTPServer] = []

    def begin(answers: dict[str, tuple[int, Any]]) -> Server:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = answers.get(self.path, (404, {}))
                if callable(body):
                    status, body = body()
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = Quiet(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        running.append(server)
        return Server("127.0.0.1", server.server_port, timeout_s=600.0)

    yield begin
    for server in running:
        server.shutdown()
        server.server_close()


def test_loading_is_waited_for(serve: Serve) -> None:
    asked: list[str] = []

    def answer() -> tuple[int, Any]:
        asked.append("/health")
        return (503, {"error": "Loading model"}) if len(asked) < 4 else (200, {"status": "ok"})

    reported = endpoints.wait_until_loaded(serve({"/health": (0, answer)}), 600)
    assert (reported.how, reported.facts) == ("health", {"status": "ok"})
    assert len(asked) == 4


def test_loading_for_ever_is_refused_after_the_deadline(serve: Serve) -> None:
    server = serve({"/health": (503, {"error": "Loading model"})})
    with pytest.raises(Unobservable, match=f"port {server.port} still loads after 0.3 s"):
        endpoints.wait_until_loaded(server, 0.3)


def test_health_without_a_body_counts(serve: Serve) -> None:
    assert endpoints.wait_until_loaded(serve({"/health": (200, b"")}), 1).facts == {"http_status": 200}


def test_props_keep_settings_and_no_text(serve: Serve) -> None:
    props = {
        "default_generation_settings": {
            "n_ctx": 512,
            "prompt": PROMPT,
            "params": {
                "temperature": 0.5,
                "top_k": 40,
                "samplers": ["top_k", "temperature"],
                "speculative.types": "none",
                "grammar": PROMPT,
                "stop": [PROMPT],
                "generation_prompt": PROMPT,
                "seed": 2**60,
                "lora": [],
                "nothing": None,
            },
        },
        "total_slots": 2,
        "build_info": "b1-abc",
        "chat_template": "{{ hello }}",
        "modalities": {"vision": False},
        "endpoint_slots": True,
        "media_marker": "<__media_x__>",
        "ui_settings": {"text": PROMPT},
    }
    reported = endpoints.props(serve({"/props": (200, props)}))
    assert reported.how == "props"
    assert reported.facts == {
        "default_generation_settings.n_ctx": 512,
        "default_generation_settings.params.temperature": 0.5,
        "default_generation_settings.params.top_k": 40,
        "default_generation_settings.params.samplers": "top_k;temperature",
        "default_generation_settings.params.speculative.types": "none",
        "default_generation_settings.params.seed": str(2**60),
        "total_slots": 2,
        "build_info": "b1-abc",
        "chat_template_sha256": hashlib.sha256(b"{{ hello }}").hexdigest(),
        "modalities.vision": False,
        "endpoint_slots": True,
    }


def test_slots_keep_four_fields(serve: Serve) -> None:
    slots = [
        {"id": 0, "n_ctx": 512, "is_processing": False, "speculative": False, "prompt": PROMPT},
        {"id": 1, "n_ctx": 512, "is_processing": True, "speculative": False, "params": {"n_ctx": PROMPT}},
    ]
    assert endpoints.slots(serve({"/slots": (200, slots)})).facts == {
        "0.n_ctx": 512,
        "0.is_processing": False,
        "0.speculative": False,
        "1.n_ctx": 512,
        "1.is_processing": True,
        "1.speculative": False,
    }


def test_models(serve: Serve) -> None:
    data = {"data": [{"id": "m", "created": 5, "owned_by": "llamacpp", "meta": {"n_vocab": 7}, "tags": []}]}
    assert endpoints.models(serve({"/v1/models": (200, data)})).facts == {
        "0.id": "m",
        "0.owned_by": "llamacpp",
        "0.meta.n_vocab": 7,
    }


@pytest.mark.parametrize(
    ("status", "note"),
    [
        (501, "/slots is switched off (HTTP 501)"),
        (403, "/slots needs an API key, which is not read (HTTP 403)"),
        (401, "/slots needs an API key, which is not read (HTTP 401)"),
        (404, "/slots is not there (HTTP 404)"),
        (500, "/slots answers HTTP 500"),
    ],
)
def test_a_closed_endpoint_is_a_note(serve: Serve, status: int, note: str) -> None:
    reported = endpoints.slots(serve({"/slots": (status, {"error": PROMPT})}))
    assert (reported.how, reported.facts, reported.note) == ("unknown", {}, note)


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b'"text"', b"[1]", b"[" * 100_000, b'[{"n_ctx": 1}]'])
def test_an_answer_of_another_shape_is_a_note(serve: Serve, body: bytes) -> None:
    reported = endpoints.slots(serve({"/slots": (200, body)}))
    assert reported.how == "unknown"
    assert reported.note


def test_a_huge_answer_is_not_read_to_its_end(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "_LARGEST_ANSWER_BYTES", 1 << 20)
    reported = endpoints.props(serve({"/props": (200, b" " * (1 << 20) + b"{}")}))
    assert reported.note == "/props answers with more than 1 MiB"


def test_a_silent_server_is_a_note(serve: Serve) -> None:
    given_up = threading.Event()

    def silence() -> tuple[int, Any]:
        given_up.wait()
        return 200, {}

    server = serve({"/props": (0, silence)})
    try:
        reported = endpoints.props(Server(server.host, server.port, timeout_s=0.2))
    finally:
        given_up.set()
    assert reported.note == "/props does not answer: timed out"


def test_nobody_there_is_a_note() -> None:
    assert "/props does not answer" in (endpoints.props(Server("127.0.0.1", 1, 0.5)).note or "")


def test_a_proxy_of_the_environment_is_not_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert endpoints.wait_until_loaded(serve({"/health": (200, {"status": "ok"})}), 1).how == "health"


@pytest.mark.parametrize(
    ("address", "asked"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("127.0.0.2", "127.0.0.2")]
)
def test_who_listens_everywhere_is_asked_over_loopback(address: str, asked: str) -> None:
    assert Server.behind(Listener(4, address, 80, 1, 0)).host == asked


TEXTS = st.text(min_size=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_is_a_traceback(data: Any) -> None:
    for source, read in (
        ("props", endpoints._props),
        ("slots", endpoints._slots),
        ("models", endpoints._models),
    ):
        endpoints._reported(source, endpoints.Answer(200, data), read)  # type: ignore[arg-type]
