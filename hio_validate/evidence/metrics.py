"""What hio measures: unit, direction and definition of every metric and of every column beside them.

The same name is never two definitions (contract 6.5): what another tool calls ITL or TPOT gets a name of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """A column of raw rows that can decide something."""

    unit: str
    better: str
    definition: str
    """How it is counted (evidence/definitions.py): what it may be compared with."""
    about: str


METRICS = {
    "decode_tps": Metric("token/s", "higher", "decode-rate-n", "timings of the server: predicted_n over predicted_ms, all n tokens over the decode time, whichever way its build counts the rate"),
    "prefill_tps": Metric("token/s", "higher", "prefill-rate-evaluated", "timings of the server: prompt_n over prompt_ms, evaluated prompt tokens over the prefill time"),
    "ttft_ms": Metric("ms", "lower", "ttft-client", "client: from the request's last byte sent to the first piece of content"),
    "itl_ms": Metric("ms", "lower", "itl-request-median", "client: median of the gaps between two pieces of content of one answer"),
    "tpot_ms": Metric("ms", "lower", "itl-request-mean", "client: (last piece - first piece) / (generated tokens - 1)"),
    "wall_s": Metric("s", "lower", "latency-request", "client: the whole request, from connecting to its end"),
    "bench_prefill_tps": Metric("token/s", "higher", "prefill-rate-bench", "llama-bench: n_prompt over the sample's time"),
    "bench_decode_tps": Metric("token/s", "higher", "decode-rate-bench", "llama-bench: n_gen over the sample's time"),
}  # fmt: skip
"""Name of the column -> what it is."""

TIMED_BY_SERVER = frozenset({"decode_tps", "prefill_tps"})
"""Those that only the server's own times give."""

FACTS = {
    "leg": ("1", "number of the leg"),
    "arm": ("text", "the arm"),
    "phase": ("text", "check, warm-up or measured"),
    "fixture": ("text", "the fixture that was asked"),
    "request": ("1", "number of the request within its leg"),
    "started": ("text", "when the request was sent, UTC"),
    "status": ("text", "ok, or what went wrong"),
    "expected": ("text", "pass or fail against the fixture's expected result; - where it has none"),
    "evaluated": (
        "1",
        "prompt tokens evaluated (timings.prompt_n; else usage: prompt_tokens without the cached ones)",
    ),
    "cached": (
        "1",
        "prompt tokens taken from a cache (timings.cache_n; else usage: prompt_tokens_details.cached_tokens)",
    ),
    "generated": ("1", "tokens generated (timings.predicted_n; else usage: completion_tokens)"),
    "drafted": ("1", "tokens drafted (timings.draft_n); none where the server reports no drafting"),
    "accepted": ("1", "drafted tokens accepted (timings.draft_n_accepted); none where it reports none"),
    "prompt_sha256": ("text", "SHA-256 of the prompt as sent, without its nonce"),
    "content_sha256": ("text", "SHA-256 of the answer's text"),
}
"""Name of a column that measures nothing -> (unit, what it is)."""
