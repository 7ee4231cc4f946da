"""Asks a server about itself over HTTP: /health, /props, /slots, /v1/models.

Invariant: GET only, to the address the process listens on; of an answer only listed facts are kept, never a
prompt, an output or a template's text (contract 1.8). A switched-off endpoint is a note, not an error.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hio_validate.models.capture import Reported
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener

Source = Literal["health", "props", "slots", "models"]
Facts = dict[str, str | bool | int | float]

_LARGEST_ANSWER_BYTES = 16 << 20
_POLL_S = 0.1
_LARGEST_SAFE_INTEGER = 1 << 53
_OFF = {
    401: "needs an API key, which is not read",
    403: "needs an API key, which is not read",
    404: "is not there",
    405: "is not there",
    501: "is switched off",
}
_PROPS = frozenset(
    {"total_slots", "model_path", "model_ftype", "model_alias", "build_info", "ui", "cors_proxy_enabled"}
)
_PROPS_FAMILIES = ("modalities.", "endpoint_", "default_generation_settings.params.", "chat_template_caps.")
_TEXTS_OF_A_REQUEST = ("prompt", "grammar", "stop", "json_schema", "logit_bias", "preserved", "trigger")
_SLOT = ("n_ctx", "is_processing", "speculative")


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask; `timeout_s` limits the wait for an answer to begin, and again its duration."""

    host: str
    port: int
    timeout_s: float = 5.0

    @classmethod
    def behind(cls, listener: Listener) -> Server:
        """The server at a listening socket; one that listens everywhere is asked over loopback."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        return cls(everywhere.get(listener.address, listener.address), listener.port)


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and decoded JSON; `fault` where there is no usable answer."""

    status: int
    data: Any = None
    fault: str | None = None


def get(server: Server, path: str) -> Answer:
    """One GET. Never raises for what the server does: `fault` says it."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=server.timeout_s)
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = _body(response, time.monotonic() + server.timeout_s)
    except (OSError, http.client.HTTPException) as error:
        return Answer(0, fault=f"{path} does not answer: {error or type(error).__name__}")
    finally:
        connection.close()
    if response.status in _OFF:
        return Answer(response.status, fault=f"{path} {_OFF[response.status]} (HTTP {response.status})")
    if len(body) > _LARGEST_ANSWER_BYTES:
        limit = _LARGEST_ANSWER_BYTES >> 20
        return Answer(response.status, fault=f"{path} answers with more than {limit} MiB")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Answer(response.status, fault=f"{path} does not answer in JSON (HTTP {response.status})")
    fault = None if response.status == 200 else f"{path} answers HTTP {response.status}"
    return Answer(response.status, data, fault)


def _body(response: http.client.HTTPResponse, end: float) -> bytes:
    """The answer's bytes, at most one beyond the limit. Raises TimeoutError when it drips past `end`."""
    pieces, size = [], 0
    while size <= _LARGEST_ANSWER_BYTES and (piece := response.read1(_LARGEST_ANSWER_BYTES + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > end:
            raise TimeoutError("the answer does not end")
    return b"".join(pieces)


def wait_until_loaded(server: Server, deadline_s: float) -> Reported:
    """/health, asked again while it says 503 (loading), for `deadline_s` seconds at most, then refused."""
    end = time.monotonic() + deadline_s
    while True:
        answer = get(server, "/health")
        if answer.status != 503:
            break
        if time.monotonic() >= end:
            raise Unobservable(f"port {server.port} still loads after {deadline_s:g} s (/health says 503)")
        time.sleep(_POLL_S)
    if answer.status == 200 and answer.fault:
        return Reported(how="health", facts={"http_status": 200})  # vLLM's answer has no body
    return _reported("health", answer, lambda data: _only(data, ("status",)))


def props(server: Server) -> Reported:
    """/props: default generation settings, identity and switches; the chat template as its SHA-256."""
    return _reported("props", get(server, "/props"), _props)


def slots(server: Server) -> Reported:
    """/slots: `<id>.n_ctx`, `.is_processing`, `.speculative` and nothing of any request."""
    return _reported("slots", get(server, "/slots"), _slots)


def models(server: Server) -> Reported:
    """/v1/models: `<index>.id`, `.owned_by`, `.aliases` and the numbers of `.meta`."""
    return _reported("models", get(server, "/v1/models"), _models)


def _reported(source: Source, answer: Answer, read: Callable[[Any], Facts]) -> Reported:
    if answer.fault:
        return Reported(how="unknown", note=answer.fault)
    try:
        facts = read(answer.data)
    except (TypeError, AttributeError, KeyError):
        return Reported(how="unknown", note="the answer has an unknown shape")
    return Reported(how=source, facts=facts)


def _props(data: Any) -> Facts:
    facts: Facts = {}
    for name, value in _flat(data):
        if name == "chat_template":
            raw = str(value).encode("utf-8", "backslashreplace")
            facts["chat_template_sha256"] = hashlib.sha256(raw).hexdigest()
        elif name in _PROPS or name == "default_generation_settings.n_ctx" or _is_setting(name):
            facts[name] = value
    return facts


def _is_setting(name: str) -> bool:
    if not name.startswith(_PROPS_FAMILIES):
        return False
    return not any(part in name.rpartition("params.")[2] for part in _TEXTS_OF_A_REQUEST)


def _slots(data: Any) -> Facts:
    return {
        f"{slot['id']}.{name}": value
        for slot in _sequence(data)
        for name, value in _only(slot, _SLOT).items()
        if isinstance(slot["id"], int)
    }


def _models(data: Any) -> Facts:
    facts: Facts = {}
    for index, model in enumerate(_sequence(data["data"])):
        for name, value in _flat(model):
            if name in ("id", "owned_by", "aliases", "max_model_len", "root") or name.startswith("meta."):
                facts[f"{index}.{name}"] = value
    return facts


def _sequence(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError(data)
    return data


def _only(data: Any, names: tuple[str, ...]) -> Facts:
    return {name: value for name, value in _flat(data) if name in names}


def _flat(data: Any, prefix: str = "") -> list[tuple[str, str | bool | int | float]]:
    """Scalars of nested mappings under dotted names; a list of scalars is one text joined with `;`."""
    if not isinstance(data, Mapping):
        raise TypeError(data)
    found: list[tuple[str, str | bool | int | float]] = []
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found += _flat(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
            found.append((name, ";".join(map(str, value))))
        elif isinstance(value, bool | str | int) or (isinstance(value, float) and math.isfinite(value)):
            found.append((name, _safe(value)))
    return found


def _safe(value: str | bool | int | float) -> str | bool | int | float:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return str(value) if type(value) is int and abs(value) > _LARGEST_SAFE_INTEGER else value
