"""Asks one server the questions of one leg and says when each piece of each answer came.

    python -m hio_validate.execute.client FILE

FILE is the JSON of `Errand`. One JSON line for each request goes to standard output as soon as it has ended;
arrival times go to the errand's `events`. A process of its own: nothing else disturbs its time stamps, and
whoever waits for it can end it (docs/adr/0011-experiments.md).

Invariants: times are of the monotonic clock, in nanoseconds, taken when bytes arrive and before they are read;
a request that failed has a status that says why, and no metric at all.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from hio_validate.evidence.arrivals import client_metrics
from hio_validate.execute.counted import Miscounted, Uncounted, counts
from hio_validate.execute.stream import Event, Events
from hio_validate.execute.work import Question

OK = "ok"
KEY_VARIABLE = "HIO_API_KEY"
"""Variable of the client's environment with the key that the server asks for; it is in no file."""
_LARGEST_PIECE = 1 << 16
_EXCERPT = 300


@dataclass(frozen=True)
class Errand:
    """What a client is sent out with; `silence_s`: longest time without a byte; `events`: path of the arrival times.

    `none_is_left_out`: the server counts cached tokens, and says nothing where there were none.
    """

    host: str
    port: int
    events: str
    silence_s: float
    questions: tuple[Question, ...]
    none_is_left_out: bool = False

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Errand:
        data = json.loads(text)
        asked = tuple(Question(**{**each, "contains": tuple(each["contains"])}) for each in data["questions"])
        return cls(**{**data, "questions": asked})


class Failed(Exception):
    """A request that came to no answer; the text is its status."""


@dataclass
class Answer:
    """One answer as it arrived; times in nanoseconds after connecting began."""

    began: int
    """Monotonic clock, ns."""
    connected: int = 0
    sent: int = 0
    headers: int = 0
    end: int = 0
    pieces: list[tuple[int, str, int]] = field(default_factory=list)
    """(arrival, kind, characters); kind is content, reasoning or tool."""
    progress: list[tuple[int, int]] = field(default_factory=list)
    """(arrival, prompt tokens processed)."""
    text: str = ""
    """Everything generated, in order."""
    said: str = ""
    """The same without reasoning."""
    timings: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    """The last of each that an event carried."""
    finish: str | None = None

    def now(self) -> int:
        return time.monotonic_ns() - self.began


def main() -> int:
    """Exit code 0 where every request was answered, 1 where one failed; only items of a task set are asked after a failure."""
    errand = Errand.from_text(Path(sys.argv[1]).read_text(encoding="utf-8"))
    failed = False
    with open(errand.events, "a", encoding="utf-8") as events:
        for number, question in enumerate(errand.questions, 1):
            record = ask(errand, number, question, events)
            print(json.dumps(record), flush=True)
            failed = failed or record["status"] != OK
            if failed and not question.item:
                return 1
    return int(failed)


def ask(errand: Errand, number: int, question: Question, events: TextIO) -> dict[str, Any]:
    """One request: its record, with metrics where it was answered."""
    record: dict[str, Any] = {
        "request": number,
        "phase": question.phase,
        "fixture": question.fixture,
        "started": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        "prompt_sha256": prompt_sha256(question),
    }
    answer = Answer(time.monotonic_ns())
    try:
        _exchange(errand, question, answer)
        measured = _measured(answer, errand.none_is_left_out)
        record |= {"status": OK, **measured, **_judged(answer, question)}
        record |= {"item": question.item, "answer": answer.said} if question.item else {}
    except Failed as error:
        record |= {"item": question.item} if question.item else {}
        record["status"] = " ".join(str(error).split())
    events.write(json.dumps(_arrivals(number, answer)) + "\n")
    events.flush()
    return record


def prompt_sha256(question: Question) -> str:
    """SHA-256 of the prompt's text, or of the conversation as JSON, without the nonce."""
    asked = question.body.get("prompt")
    if isinstance(asked, str):
        return hashlib.sha256(asked.removeprefix(question.nonce).encode()).hexdigest()
    first, *rest = question.body["messages"]
    turns = [{**first, "content": first["content"].removeprefix(question.nonce)}, *rest]
    plain = json.dumps(turns, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def _exchange(errand: Errand, question: Question, answer: Answer) -> None:
    """The whole request. Raises Failed."""
    connection = http.client.HTTPConnection(errand.host, errand.port, timeout=errand.silence_s)
    where = f"{errand.host}:{errand.port}"
    try:
        connection.connect()
        answer.connected = answer.now()
        body = json.dumps(question.body).encode()
        connection.request("POST", question.endpoint, body, _headers())
        answer.sent = answer.now()
        response = connection.getresponse()
        answer.headers = answer.now()
        if response.status != 200:
            raise Failed(f"HTTP {response.status}: {_excerpt(response.read(_LARGEST_PIECE))}")
        _receive(response, question, answer)
    except ConnectionRefusedError:
        raise Failed(f"refused: nobody listens at {where}") from None
    except TimeoutError:
        raise Failed(f"silent: no byte for {errand.silence_s:g} s") from None
    except (ValueError, TypeError, AttributeError) as error:  # MalformedStream, or JSON of another shape
        raise Failed(f"malformed stream: {error}") from None
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"reset: the connection to {where} ended: {error or type(error).__name__}") from None
    finally:
        answer.end = answer.now()
        connection.close()


def _headers() -> dict[str, str]:
    key = os.environ.get(KEY_VARIABLE)
    said = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    return said | ({"Authorization": f"Bearer {key}"} if key else {})


def _receive(response: http.client.HTTPResponse, question: Question, answer: Answer) -> None:
    events = Events()
    done = False
    while piece := response.read1(_LARGEST_PIECE):
        at = answer.now()
        for event in events.feed(piece):
            done = _take(event, at, question, answer) or done
    if not done or not events.is_between_events:
        raise Failed("ended early: the stream ended without its final event")


def _take(event: Event, at: int, question: Question, answer: Answer) -> bool:
    """Note what an event says; whether it is the last one. Raises Failed."""
    if event.data is None:
        return True
    if event.is_error:
        raise Failed(f"error event: {_excerpt(json.dumps(event.data.get('error', event.data)).encode())}")
    for kind, text in _pieces(event.data):
        answer.pieces.append((at, kind, len(text)))
        answer.text += text
        answer.said += "" if kind == "reasoning" else text
    progress = event.data.get("prompt_progress")
    if isinstance(progress, dict):
        answer.progress.append((at, int(progress.get("processed", 0))))
    answer.finish = _finish(event.data) or answer.finish
    for name, kept in (("timings", answer.timings), ("usage", answer.usage)):
        said = event.data.get(name)
        if isinstance(said, dict):
            kept.clear()
            kept.update(said)
    return question.endpoint == "/completion" and event.data.get("stop") is True


def _pieces(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(kind, text) of everything generated that an event carries."""
    if data.get("content"):
        yield "content", str(data["content"])
    for choice in data.get("choices") or ():
        delta = choice.get("delta") or {}
        for kind, text in (
            ("reasoning", delta.get("reasoning_content") or delta.get("reasoning")),
            ("content", delta.get("content") or choice.get("text")),
        ):
            if text:
                yield kind, str(text)
        if delta.get("tool_calls"):
            yield "tool", json.dumps(delta["tool_calls"], sort_keys=True)


def _finish(data: Mapping[str, Any]) -> str | None:
    reasons = [data.get("stop_type"), *(choice.get("finish_reason") for choice in data.get("choices") or ())]
    return next((str(each) for each in reasons if each), None)


def _measured(answer: Answer, none_is_left_out: bool) -> dict[str, Any]:
    """Metrics and counts of an answer. Raises Failed where the server does not count what it generated."""
    try:
        counted = counts(answer.timings, answer.usage, none_is_left_out)
    except Uncounted as error:
        raise Failed(str(error)) from None
    except Miscounted as error:
        raise Failed(f"malformed stream: {error}") from None
    arrived = [at for at, _, _ in answer.pieces]
    generated = int(counted["generated"])
    found: dict[str, Any] = {
        **{name: counted[name] for name in ("decode_tps", "prefill_tps") if name in counted},
        **client_metrics(answer.sent, arrived, answer.end, generated),
        **counted,
        "pieces": len(answer.pieces),
        "finish": answer.finish,
        "content_sha256": hashlib.sha256(answer.text.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    return {name: value for name, value in found.items() if value is not None}


def _judged(answer: Answer, question: Question) -> dict[str, str]:
    """Whether the answer is what the fixture expects; nothing expected, nothing judged."""
    if not question.contains and question.content_sha256 is None:
        return {"expected": "-"}
    said = answer.said.casefold()
    right = all(each.casefold() in said for each in question.contains)
    if question.content_sha256 is not None:
        right = (
            right
            and hashlib.sha256(answer.said.encode("utf-8", "surrogatepass")).hexdigest()
            == question.content_sha256
        )
    return {"expected": "pass" if right else "fail"}


def _arrivals(number: int, answer: Answer) -> dict[str, Any]:
    return {
        "request": number,
        "began_ns": answer.began,
        "connected_ns": answer.connected,
        "sent_ns": answer.sent,
        "headers_ns": answer.headers,
        "progress": answer.progress,
        "pieces": answer.pieces,
        "end_ns": answer.end,
    }


def _excerpt(raw: bytes) -> str:
    text = " ".join(raw.decode("utf-8", "replace").split())
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


if __name__ == "__main__":
    sys.exit(main())
