"""What the rows of each probe of a qualification show: its numbers, its verdict, its reason (contract 1.3, 11.2, 11.3).

Pure: hio qualify judges by it, and the rule that computes a qualification again does, too. Invariant: a probe
passes only by numbers in its rows; what a row does not say is not observable, never passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any, Literal, NamedTuple

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.qualification import Claim
from hio_validate.models.reported import facts

Row = Mapping[str, Any]
Found = dict[str, str | bool | int | float]
Verdict = Literal["passed", "failed", "not-observable"]

OK = "ok"
CONTEXT = "default_generation_settings.n_ctx"
"""/props: tokens that one slot holds."""
LEAST_PIECES = 8
"""Fewer pieces of an answer say nothing about how they arrive."""
LEAST_SPREAD_PERCENT = 50.0
"""Share of a request's time over which its pieces must arrive; one burst at the end has none."""
SAME_READ_MS = 0.2
"""Pieces that arrive within this came in one read."""
FOREIGN_TOKENS = 8
"""A new conversation shares no more than this with any other: a start mark and bits of a random word."""
BOUNDARY_TOKENS = 2
"""What a server's own counting of a prompt may differ by: start marks, the last token."""
REREAD_TOKENS = 16
"""What of a prefix may be read again: an engine with sliding-window attention goes back to a checkpoint a few tokens
before the end of the last prompt (llama.cpp, server context checkpoints)."""
LONGEST_FREEING_MS = 3000.0
"""A slot is free within seconds."""
LEAST_REMAINING_MS = 1000.0
"""Of an answer that would have ended sooner nobody can say why its slot is free."""
LEAST_FILLED_PERCENT = 95.0
"""Share of the claimed context that must have been populated."""


class Judged(NamedTuple):
    """A probe's outcome."""

    verdict: Verdict
    because: str | None
    found: Found


def claim_of(process: CapturedProcess) -> Claim:
    """The capacity that a process has in force (contract 1.3): tokens of its smallest slot, number of its slots."""
    return Claim(context_per_slot=context_per_slot(process), slots=slot_count(process))


def slot_count(process: CapturedProcess) -> int | None:
    """How many requests are served at once: by /slots, else by /props."""
    named = {name.partition(".")[0] for name in facts(process.slots)}
    total = facts(process.props).get("total_slots")
    return len(named) or (total if isinstance(total, int) and total > 0 else None)


def context_per_slot(process: CapturedProcess) -> int | None:
    """Tokens that a slot holds: the smallest that /slots names, else what /props says."""
    named = [value for name, value in facts(process.slots).items() if name.endswith(".n_ctx")]
    said = [*named] or [facts(process.props).get(CONTEXT)]
    held = [value for value in said if isinstance(value, int) and value > 0]
    return min(held, default=None)


def judged(probe: str, rows: Sequence[Row], claim: Claim) -> Judged:
    """The outcome that the rows of a probe show. Raises KeyError for a probe that hio does not know."""
    own = [row for row in rows if row.get("probe") == probe]
    judge = _JUDGES[probe]
    if not own:
        return Judged("not-observable", "nothing was asked", {})
    why = next((str(row["unasked"]) for row in own if row.get("unasked")), None)
    return Judged("not-observable", why, {}) if why else judge(own, claim)


def _identity(rows: Sequence[Row], _: Claim) -> Judged:
    """Every point of the verification; a system library of which nothing is on record is on record from now on."""
    points = [row for row in rows if "check" in row]
    differing = [str(row["check"]) for row in points if row.get("verdict") == "differs"]
    unseen = [
        str(row["check"])
        for row in points
        if row.get("verdict") not in ("equal", "differs") and row.get("unrecorded") is not True
    ]
    found: Found = {
        "points": len(points),
        "differing": len(differing),
        "not-observable": len(unseen),
        "unrecorded-libraries": sum(row.get("unrecorded") is True for row in points),
        "healthy": any(row.get("check") == "/health" and row.get("verdict") == "equal" for row in points),
    }
    if differing:
        return Judged("failed", f"not the stack: {', '.join(differing[:4])}", found)
    if unseen:
        return Judged("not-observable", f"could not be seen: {', '.join(unseen[:4])}", found)
    return Judged("passed", None, found) if points else Judged("not-observable", "nothing was checked", found)


def _streaming(rows: Sequence[Row], _: Claim) -> Judged:
    """Pieces that arrive over the whole answer and not in one burst; of several answers the middle one is judged."""
    failed = _unanswered(rows)
    if failed:
        return failed
    found = sorted((_arrived(row) for row in rows), key=lambda each: float(each["spread-percent"]))[
        len(rows) // 2
    ]
    pieces, reads = int(found["pieces"]), int(found["reads"])
    if pieces < LEAST_PIECES:
        return Judged("not-observable", f"an answer of {pieces} pieces says nothing about streaming", found)
    if float(found["spread-percent"]) < LEAST_SPREAD_PERCENT or 2 * reads < pieces:
        over = f"over {found['spread-ms']} of {found['answer-ms']} ms"
        return Judged("failed", f"{pieces} pieces arrived in {reads} reads {over}: something buffers", found)
    return Judged("passed", None, found)


def _arrived(row: Row) -> Found:
    """How the pieces of one answer came."""
    arrivals, took = _numbers(row.get("arrivals_ms")), _span(row)
    spread = arrivals[-1] - arrivals[0] if arrivals else 0.0
    later = sum(second - first > SAME_READ_MS for first, second in pairwise(arrivals))
    return {
        "pieces": len(arrivals),
        "reads": later + bool(arrivals),
        "spread-ms": round(spread, 1),
        "answer-ms": round(took, 1),
        "spread-percent": round(100 * spread / took, 1) if took > 0 else 0.0,
    }


def _append_reuse(rows: Sequence[Row], _: Claim) -> Judged:
    """A request that goes on where the last one ended evaluates only what is new."""
    failed = _unanswered(rows) or _uncounted(rows)
    if failed:
        return failed
    if len(rows) < 2:
        return Judged("not-observable", "the second request is missing", {})
    first, second = rows[:2]
    prefix = first["evaluated"] + first["cached"]
    found: Found = {
        "prefix-tokens": prefix,
        "generated-tokens": first.get("generated", 0),
        "cached-tokens": second["cached"],
        "evaluated-tokens": second["evaluated"],
    }
    if second["cached"] < prefix - REREAD_TOKENS:
        why = f"{second['cached']} of {prefix} tokens of the prefix came from the cache"
        return Judged("failed", why, found)
    return Judged("passed", None, found)


def _disconnect(rows: Sequence[Row], _: Claim) -> Judged:
    """A client that goes away frees its slot long before the answer would have ended."""
    row = rows[0]
    arrivals = _numbers(row.get("arrivals_ms"))
    asked, freed = _number(row.get("asked_tokens")), _number(row.get("freed_ms"))
    if len(arrivals) < 2 or asked is None:
        return Judged("not-observable", str(row.get("status", "no piece of the answer came")), {})
    each = (arrivals[-1] - arrivals[0]) / (len(arrivals) - 1)
    remaining = max(0.0, asked - len(arrivals)) * each
    found: Found = {
        "pieces-before": len(arrivals),
        "remaining-answer-ms": round(remaining, 1),
        "seen-by": str(row.get("seen_by")),
    }
    if remaining < LEAST_REMAINING_MS:
        why = f"the answer would have ended in {remaining:.0f} ms anyway"
        return Judged("not-observable", why, found)
    if freed is None:
        waited = _number(row.get("waited_ms")) or 0.0
        return Judged("failed", f"its slot was still busy after {waited:.0f} ms", found)
    found["freed-ms"] = round(freed, 1)
    if freed > min(LONGEST_FREEING_MS, remaining / 2):
        why = f"its slot was busy for {freed:.0f} ms; the answer would have taken {remaining:.0f} ms more"
        return Judged("failed", why, found)
    return Judged("passed", None, found)


def _slots(rows: Sequence[Row], claim: Claim) -> Judged:
    """Two conversations see nothing of each other, at once where there are two slots, in turn where there is one."""
    failed = _unanswered(rows) or _uncounted(rows)
    if failed:
        return failed
    first = {str(row.get("request")): row for row in rows}
    if not {"a", "b", "a-again"} <= first.keys():
        return Judged("not-observable", "a request of the two conversations is missing", {})
    one, other, again = first["a"], first["b"], first["a-again"]
    at_once = _overlap(one, other)
    foreign = sum(int(_number(row.get("foreign_words")) or 0) for row in rows)
    shared = max(one["cached"], other["cached"])
    prefix = one["evaluated"] + one["cached"]
    found: Found = {
        "at-once": at_once,
        "foreign-words": foreign,
        "foreign-tokens": shared,
        "prefix-tokens": prefix,
        "kept-tokens": again["cached"],
    }
    if foreign or shared > FOREIGN_TOKENS:
        why = f"{shared} cached tokens and {foreign} words of another conversation"
        return Judged("failed", f"a conversation got {why}", found)
    if claim.slots is not None and claim.slots > 1:
        if not at_once:
            return Judged("failed", f"{claim.slots} slots served two requests one after the other", found)
        if again["cached"] < prefix - REREAD_TOKENS:
            why = f"the other conversation took its cache: {again['cached']} of {prefix} tokens were kept"
            return Judged("failed", why, found)
    return Judged("passed", None, found)


def _populated_context(rows: Sequence[Row], claim: Claim) -> Judged:
    """A prompt that fills a slot is evaluated whole and answered (contract 1.3)."""
    if claim.context_per_slot is None:
        return Judged("not-observable", "how much one slot holds is not known", {})
    row = rows[-1]
    if row.get("silent") is True:
        return Judged("not-observable", str(row.get("status")), {})
    failed = _unanswered([row]) or _uncounted([row])
    if failed:
        return failed
    held = row["evaluated"] + row["cached"] + int(_number(row.get("generated")) or 0)
    asked = _number(row.get("prompt_tokens"))
    found: Found = {
        "claimed-tokens": claim.context_per_slot,
        "evaluated-tokens": row["evaluated"],
        "cached-tokens": row["cached"],
        "generated-tokens": int(_number(row.get("generated")) or 0),
        "filled-percent": round(100 * held / claim.context_per_slot, 2),
        "answer-ms": round(_span(row), 1),
    }
    if asked is not None:
        found["prompt-tokens"] = int(asked)
    seen = row["evaluated"] + row["cached"]
    if asked is not None and abs(seen - asked) > BOUNDARY_TOKENS:
        return Judged("failed", f"{seen} of {asked:.0f} tokens of the prompt were looked at", found)
    if float(found["filled-percent"]) < LEAST_FILLED_PERCENT:
        why = f"{held} of {claim.context_per_slot} tokens were populated: the claim stays untested"
        return Judged("not-observable", why, found)
    return Judged("passed", None, found)


_JUDGES: dict[str, Callable[[Sequence[Row], Claim], Judged]] = {
    "identity": _identity,
    "streaming": _streaming,
    "append-reuse": _append_reuse,
    "disconnect": _disconnect,
    "slots": _slots,
    "populated-context": _populated_context,
}
PROBES = tuple(_JUDGES)
"""The first set, in the order in which they are asked; a later set may be larger."""


def _unanswered(rows: Sequence[Row]) -> Judged | None:
    wrong = next((row for row in rows if row.get("status") != OK), None)
    if wrong is None:
        return None
    return Judged(
        "failed", f"the request {wrong.get('request')} came to no answer: {wrong.get('status')}", {}
    )


def _uncounted(rows: Sequence[Row]) -> Judged | None:
    """A server that does not count its tokens says nothing of its cache."""
    counted = all(_is_count(row.get("evaluated")) and _is_count(row.get("cached")) for row in rows)
    return (
        None
        if counted
        else Judged("not-observable", "the server does not count evaluated and cached tokens", {})
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: object) -> float | None:
    """A count or a time; nothing else, and nothing below zero, is one."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf
    return float(value) if is_one else None  # type: ignore[arg-type]


def _numbers(value: object) -> list[float]:
    found = [_number(each) for each in value] if isinstance(value, list) else []
    return [each for each in found if each is not None]


def _span(row: Row) -> float:
    """Milliseconds from the request to its end."""
    begin, end = _number(row.get("sent_ms")), _number(row.get("end_ms"))
    return end - begin if begin is not None and end is not None else 0.0


def _overlap(one: Row, other: Row) -> bool:
    """Whether each was still answered when the other had begun to be."""
    first = [_number(row.get("first_ms")) for row in (one, other)]
    last = [_number(row.get("end_ms")) for row in (one, other)]
    if None in (*first, *last):
        return False
    return float(first[0] or 0) < float(last[1] or 0) and float(first[1] or 0) < float(last[0] or 0)
