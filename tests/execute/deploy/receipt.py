"""A qualification whose verdicts follow from its rows, of a process that nobody had to start."""

from __future__ import annotations

import json
from typing import Any

from hio_validate.evidence.probes import PROBES, judged
from hio_validate.models.qualification import Claim
from tests.small_repo import sha

CLAIM = {"context_per_slot": 256, "slots": 2}
_ASKED = {
    "cached": 0,
    "end_ms": 100.0,
    "evaluated": 60,
    "first_ms": 5.0,
    "generated": 8,
    "sent_ms": 0.0,
    "status": "ok",
}


def rows(healthy: bool = True) -> list[dict[str, Any]]:
    """What a well-behaved server gave."""

    def asked(probe: str, request: str, **more: Any) -> dict[str, Any]:
        return {**_ASKED, "probe": probe, "request": request, **more}

    arrivals = [5.0 + 10 * number for number in range(9)]
    return [
        {"check": "argv", "probe": "identity", "verdict": "equal"},
        {"check": "executable", "probe": "identity", "verdict": "equal"},
        {"check": "/health", "probe": "identity", "verdict": "equal" if healthy else "differs"},
        asked("streaming", "try-1", arrivals_ms=arrivals),
        asked("append-reuse", "first"),
        asked("append-reuse", "second", cached=60, evaluated=11),
        asked("disconnect", "left", arrivals_ms=arrivals[:4], asked_tokens=400, freed_ms=40.0, seen_by="slots",
              status="the client went away, as it should"),
        asked("slots", "a", foreign_words=0),
        asked("slots", "b", foreign_words=0),
        asked("slots", "a-again", cached=60, evaluated=11, foreign_words=0),
        asked("populated-context", "full", evaluated=244, prompt_tokens=244),
    ]  # fmt: skip


def receipt(
    room: str, service: str, stack: str, build: str, process: dict[str, Any], healthy: bool = True
) -> dict[str, str]:
    """File -> text of the receipt of a stack, by its pin, and of its rows."""
    name = f"q-{stack.partition('@')[0]}"
    seen = rows(healthy)
    text = "".join(json.dumps(row) + "\n" for row in seen)
    probes = {}
    for probe in PROBES:
        found = judged(probe, seen, Claim(**CLAIM))
        probes[probe] = {
            "verdict": found.verdict,
            "found": found.found,
            **({"because": found.because} if found.because else {}),
        }
    data = {
        "hio": "qualification/v1", "name": name, "service": service, "stack": stack, "build": build,
        "at": "2026-11-28T00:00:00Z", "process": process, "claim": CLAIM, "probes": probes,
        "rows": {"file": f"{name}.jsonl", "sha256": sha(text)},
    }  # fmt: skip
    document = "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in data.items())
    return {f"{room}/qualifications/{name}.yaml": document, f"{room}/qualifications/{name}.jsonl": text}
