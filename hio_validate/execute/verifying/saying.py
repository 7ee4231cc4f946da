"""What a server says of itself against its settings: /health, /props, /slots (contract 1.7, 1.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hio_validate.evidence.probes import context_per_slot, slot_count
from hio_validate.execute.verified import Check, judged, unseen
from hio_validate.models.capture import CapturedProcess, Reported
from hio_validate.settings.observed import Contradiction
from hio_validate.settings.revision import revision_of

_PADDING = 256
"""llama.cpp rounds a slot's share up to a multiple of this (llama-context.cpp, n_ctx_seq)."""


def of(
    process: CapturedProcess,
    settings: Mapping[str, str],
    contradicted: Sequence[Contradiction],
    revision: str | None,
) -> Iterator[Check]:
    """`settings`: factor -> value in force; `revision`: what the source of its build is on record as."""
    yield _health(process.health)
    yield _props(process.props, contradicted, revision)
    yield _slot_count(process, settings.get("parallel", ""))
    yield _context(process, settings)


def _health(said: Reported | None) -> Check:
    if said is None or said.how == "unknown":
        return unseen("/health", "ok", _why(said))
    status = said.facts.get("status", said.facts.get("http_status"))
    return judged("/health", "ok", str(status), status in ("ok", 200))


def _props(said: Reported | None, contradicted: Sequence[Contradiction], revision: str | None) -> Check:
    """A build that does not know what it was made from says nothing against its bytes."""
    declared = "what arguments, defaults and build give"
    if said is None or said.how == "unknown":
        return unseen("/props", declared, _why(said))
    wrong = [
        f"{each.factor} is {each.reported} by {each.shown_where}, but {each.expected} by {each.origin}"
        for each in contradicted
    ]
    reported = str(said.facts.get("build_info", ""))
    if revision and revision_of(reported).contradicts(revision_of(revision)):
        wrong.append(f"it reports the build {reported}, but {revision} is on record")
    return judged(
        "/props", declared, "; ".join(wrong) or f"{len(said.facts)} facts, none contradicts", not wrong
    )


def _slot_count(process: CapturedProcess, parallel: str) -> Check:
    found = slot_count(process)
    declared = f"{parallel} slots" if parallel else "unknown"
    if found is None:
        return unseen("/slots", declared, _why(process.slots))
    if not parallel.isdecimal():
        return unseen("/slots", declared, f"{found} slots; how many the stack asks for is not known")
    return judged("/slots", declared, f"{found} slots", found == int(parallel))


def _context(process: CapturedProcess, settings: Mapping[str, str]) -> Check:
    """A slot's share of the context: all of it where the cache is unified, else the part of one."""
    found = context_per_slot(process)
    whole, parallel = settings.get("ctx-size", ""), settings.get("parallel", "")
    unified = settings.get("kv-unified")
    if not (whole.isdecimal() and parallel.isdecimal() and unified in ("on", "off")) or int(whole) == 0:
        why = f"{found} tokens; what the stack asks for is not known" if found else _why(process.props)
        return unseen("context of a slot", "unknown", why)
    share = int(whole) if unified == "on" else int(whole) // max(1, int(parallel))
    declared = f"{share} tokens"
    if found is None:
        return unseen("context of a slot", declared, _why(process.props))
    return judged("context of a slot", declared, f"{found} tokens", share <= found < share + _PADDING)


def _why(said: Reported | None) -> str:
    return (said.note if said else None) or "it was not asked: the process listens nowhere"
