"""Whether a client that goes away in the middle frees its slot: by /slots, else by how soon a single slot answers again."""

from __future__ import annotations

import time
from typing import Any

from hio_validate.execute.qualify.asking import Row, Server, get, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "disconnect"
_PIECES, _WORDS, _MOST_TOKENS, _WAIT_S, _POLL_S = 6, 8, 4096, 8.0, 0.02


def ask(subject: Subject) -> list[Row]:
    """One long answer that nobody waits for, and how long it keeps its slot."""
    server = subject.server
    before = _busy(server)
    if before is None and subject.claim.slots != 1:
        return [{"probe": NAME, "unasked": "the server tells of no slots, and there may be a free one"}]
    if before:
        return [{"probe": NAME, "unasked": f"{before} slots are busy with requests of others"}]
    room = subject.claim.context_per_slot or _MOST_TOKENS
    tokens = max(_PIECES, min(_MOST_TOKENS, room - 10 * _WORDS))
    row = request(server, NAME, "left", talk(new_word(), _WORDS), tokens, go_after=_PIECES).row
    row |= _freed(server) if before is not None else _answered_again(server)
    return [row]


def _freed(server: Server) -> Row:
    began = time.monotonic()
    while (waited := time.monotonic() - began) < _WAIT_S:
        if _busy(server) == 0:
            return {"freed_ms": round(1000 * waited, 3), "seen_by": "slots"}
        time.sleep(_POLL_S)
    return {"waited_ms": round(1000 * waited, 3), "seen_by": "slots"}


def _answered_again(server: Server) -> Row:
    began = time.monotonic()
    request(server, NAME, "next", talk(new_word(), 2), 1)
    return {"freed_ms": round(1000 * (time.monotonic() - began), 3), "seen_by": "next-request"}


def _busy(server: Server) -> int | None:
    """How many slots work; None where the server does not tell."""
    said: Any = get(server, "/slots")
    if not isinstance(said, list) or not all(
        isinstance(each, dict) and "is_processing" in each for each in said
    ):
        return None
    return sum(bool(each["is_processing"]) for each in said)
