"""One request of a probe to a llama-server, with the arrival time of every piece of its answer.

Invariant: a row holds counts, times and hashes, and no word of what was asked or answered (contract 1.8).
"""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from hio_validate.evidence.probes import OK
from hio_validate.execute.stream import Events

Row = dict[str, Any]
_PIECE_BYTES = 1 << 16
_EXCERPT = 200
_NOT_THERE = frozenset({404, 405, 501})


@dataclass(frozen=True)
class Server:
    """Where to ask; `silence_s`: longest time without a byte."""

    host: str
    port: int
    key: str | None = field(default=None, repr=False)
    silence_s: float = 60.0
    began: float = field(default_factory=time.monotonic)

    def now_ms(self) -> float:
        """Milliseconds since the probing began."""
        return round(1000 * (time.monotonic() - self.began), 3)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=self.silence_s)

    @property
    def headers(self) -> Mapping[str, str]:
        said = {"Content-Type": "application/json"}
        return said | ({"Authorization": f"Bearer {self.key}"} if self.key else {})


@dataclass
class Asked:
    """A request that was made: its row, and its answer, which is kept nowhere."""

    row: Row
    text: str = ""


def ask(
    server: Server, probe: str, request: str, prompt: str, tokens: int, *, go_after: int | None = None,
    foreign: Collection[str] = (), more: Mapping[str, Any] | None = None,
) -> Asked:  # fmt: skip
    """Ask for `tokens` tokens; with `go_after` the client goes away after so many pieces. Never raises for the server."""
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    asked = Asked({"probe": probe, "request": request, "prompt_sha256": digest, "asked_tokens": tokens})
    body = {"prompt": prompt, "n_predict": tokens, "stream": True, "cache_prompt": True, "temperature": 0.0,
            "seed": 1, "ignore_eos": True, **(more or {})}  # fmt: skip
    asked.row |= {"sent_ms": server.now_ms(), "arrivals_ms": []}
    connection = server.connection()
    try:
        connection.request("POST", "/completion", json.dumps(body), dict(server.headers))
        asked.row["status"] = _received(server, connection.getresponse(), asked, go_after)
    except TimeoutError:
        asked.row |= {"status": f"no byte came for {server.silence_s:g} s", "silent": True}
    except (OSError, ValueError, http.client.HTTPException) as error:
        asked.row["status"] = f"the connection ended: {error or type(error).__name__}"
    finally:
        connection.close()
        asked.row["end_ms"] = server.now_ms()
    asked.row["foreign_words"] = sum(asked.text.count(word) for word in foreign)
    asked.row["answer_sha256"] = hashlib.sha256(asked.text.encode()).hexdigest()
    return asked


def _received(server: Server, response: http.client.HTTPResponse, asked: Asked, go_after: int | None) -> str:
    if response.status in _NOT_THERE:
        asked.row["unasked"] = "the server has no /completion, which hio qualify asks"
    if response.status != 200:
        said = " ".join(response.read(_PIECE_BYTES).decode("utf-8", "replace").split())
        return f"HTTP {response.status}: {said[:_EXCERPT]}"
    events, arrivals = Events(), asked.row["arrivals_ms"]
    while piece := response.read1(_PIECE_BYTES):
        at = server.now_ms()
        asked.row.setdefault("first_ms", at)
        for event in events.feed(piece):
            if event.is_error:
                return "the stream told an error"
            data = event.data or {}
            if data.get("content"):
                arrivals.append(at)
                asked.text += str(data["content"])
            if data.get("stop") is True:
                _count(asked.row, data.get("timings"))
                return OK
        if go_after is not None and len(arrivals) >= go_after:
            return "the client went away, as it should"
    return "the stream ended without its last event"


def _count(row: Row, timings: Any) -> None:
    """The server's own counts, as far as it gives them."""
    for name, key in (("evaluated", "prompt_n"), ("cached", "cache_n"), ("generated", "predicted_n")):
        if isinstance(timings, dict) and isinstance(timings.get(key), int):
            row[name] = timings[key]


def get(server: Server, path: str) -> Any:
    """The JSON at a path; None where there is none."""
    return _json(server, "GET", path, None)


def count_tokens(server: Server, text: str) -> int | None:
    """How many tokens a prompt has, with its start mark; None where the server does not tell."""
    data = _json(server, "POST", "/tokenize", {"content": text, "add_special": True})
    tokens = data.get("tokens") if isinstance(data, dict) else None
    return len(tokens) if isinstance(tokens, list) else None


def _json(server: Server, method: str, path: str, body: Any) -> Any:
    connection = server.connection()
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, dict(server.headers))
        response = connection.getresponse()
        raw = response.read()
        return json.loads(raw) if response.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def new_word() -> str:
    """A word that no other conversation has."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in secrets.token_hex(5))


def talk(word: str, count: int) -> str:
    """A prompt of `count` words that begins with a word of its own and is full of it."""
    return " ".join(f"{word} {number}" for number in range((count + 1) // 2))
