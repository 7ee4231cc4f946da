"""What a server itself says of one answer: tokens, and how long its prompt and its tokens took.

Invariant: what it does not say is unknown and has no key here, never 0. llama-server says it in `timings` (tools/server,
result_timings::to_json), the OpenAI dialect in `usage` (vLLM entrypoints/openai/engine/protocol.py UsageInfo; SGLang
entrypoints/openai/usage_processor.py); where an answer has both, `timings` count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


class Uncounted(Exception):
    """An answer that does not say how many tokens were generated; says why."""


class Miscounted(ValueError):
    """A count that is no number of tokens."""


def counts(
    timings: Mapping[str, Any], usage: Mapping[str, Any], none_is_left_out: bool = False
) -> dict[str, int | float]:
    """evaluated, cached, generated, drafted, accepted (tokens); prompt_ms, predicted_ms; decode_tps, prefill_tps.

    `none_is_left_out`: the server counts cached tokens and leaves a count of none out. Raises Uncounted, Miscounted.
    """
    if _is_count(timings, "predicted_n") and _is_count(timings, "prompt_n"):
        found = _of_timings(timings)
    elif _is_count(usage, "completion_tokens"):
        found = _of_usage(usage, none_is_left_out)
    else:
        raise Uncounted(
            "no counts: no event says how many tokens were generated (timings of llama-server, or usage, which "
            "stream_options ask for)"
        )
    return {name: value for name, value in found.items() if value is not None}


def _of_timings(timings: Mapping[str, Any]) -> dict[str, int | float | None]:
    generated, evaluated = _count(timings, "predicted_n"), _count(timings, "prompt_n")
    return {
        "decode_tps": _rate(generated, timings.get("predicted_ms")),
        "prefill_tps": _rate(evaluated, timings.get("prompt_ms")),
        "evaluated": evaluated,
        "cached": _count(timings, "cache_n"),
        "generated": generated,
        "drafted": _count(timings, "draft_n"),
        "accepted": _count(timings, "draft_n_accepted"),
        "prompt_ms": _finite(timings.get("prompt_ms")),
        "predicted_ms": _finite(timings.get("predicted_ms")),
    }


def _of_usage(usage: Mapping[str, Any], none_is_left_out: bool) -> dict[str, int | float | None]:
    """Evaluated tokens are known only where the cached ones are: `prompt_tokens` has both."""
    prompt, details = _count(usage, "prompt_tokens"), _part(usage, "prompt_tokens_details")
    cached = _count(details, "cached_tokens")
    if cached is None and none_is_left_out:
        cached = 0
    if prompt is not None and cached is not None and cached > prompt:
        raise Miscounted(f"{cached} tokens of a prompt of {prompt} came from a cache")
    drafts = _part(usage, "completion_tokens_details")
    accepted, rejected = (_count(drafts, f"{which}_prediction_tokens") for which in ("accepted", "rejected"))
    return {
        "evaluated": prompt - cached if prompt is not None and cached is not None else None,
        "cached": cached,
        "generated": _count(usage, "completion_tokens"),
        "drafted": accepted + rejected if accepted is not None and rejected is not None else None,
        "accepted": accepted,
    }


def _part(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = said.get(name)
    return found if isinstance(found, Mapping) else {}


def _is_count(said: Mapping[str, Any], name: str) -> bool:
    return said.get(name) is not None


def _count(said: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None where it is not said. Raises Miscounted."""
    value = said.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Miscounted(f"{name} is {value!r}: expected a number of tokens")
    return value


def _rate(tokens: int | None, took_ms: Any) -> float | None:
    """Tokens a second; None where nothing was counted or timed.

    The server's own predicted_per_second is not used: older builds of llama.cpp count n tokens in it, newer ones n - 1.
    """
    took = _finite(took_ms)
    return 1e3 * tokens / took if tokens and took and took > 0 else None


def _finite(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None
