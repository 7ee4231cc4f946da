"""What a number measures, whoever measured it: one definition per way of counting, with its unit and direction.

Invariant: two numbers are compared only under one definition. The same name is not the same metric (contract 6.5): what
vLLM calls TPOT and GuideLLM calls ITL is one definition, what vLLM and GuideLLM both call ITL is two.
"""

from __future__ import annotations

from typing import NamedTuple


class Definition(NamedTuple):
    """A way of counting."""

    quantity: str
    """What it is about; definitions of one quantity are easily taken for each other."""
    dimension: str
    """Of UNITS; "any" where the source chooses the unit, and no two are converted."""
    better: str | None
    """higher or lower; None where neither is a gain."""
    about: str


UNKNOWN = "unknown"
"""The definition of a number whose source does not say how it was counted: it is compared with nothing."""

UNITS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "token rate": {"token/s": 1.0},
    "token rate per device": {"token/s/device": 1.0},
    "request rate": {"request/s": 1.0, "request/min": 1 / 60},
    "sample rate": {"sample/s": 1.0},
    "share": {"1": 1.0, "%": 0.01},
    "count": {"1": 1.0},
}
"""Dimension -> its units, and how many of the first one each is."""

DEFINITIONS: dict[str, Definition] = {
    UNKNOWN: Definition("unknown", "any", None, "the source does not say how it was counted"),
    # When the first pieces arrive.
    "ttft-client": Definition("time to first token", "time", "lower", "client: from sending the request to the first piece of content of any kind"),
    "ttft-answer": Definition("time to first token", "time", "lower", "client: from sending the request to the first piece that is no reasoning"),
    "ttft-event": Definition("time to first token", "time", "lower", "client: from sending the request to the first event that holds a choice, be it only the role"),
    "ttft-server": Definition("time to first token", "time", "lower", "server: from the request's arrival, its queue included, to the first token"),
    "ttft-harness": Definition("time to first token", "time", "lower", "harness: from issuing a sample to its first token, as the load generator counts it"),
    "prefill-time": Definition("time to first token", "time", "lower", "server: evaluating the prompt tokens that no cache held, its queue excluded"),
    "second-piece-gap": Definition("time to second token", "time", "lower", "client: from the first piece of content to the second"),
    # What lies between two tokens.
    "itl-per-gap": Definition("time per token", "time", "lower", "client: each gap between two pieces of an answer is one observation"),
    "itl-per-gap-shared": Definition("time per token", "time", "lower", "client: each gap between two pieces, divided among the tokens of the later one, one observation a token"),
    "itl-gap-per-token": Definition("time per token", "time", "lower", "client: each gap between two pieces, divided by the tokens of the later one, one observation a gap"),
    "itl-per-token": Definition("time per token", "time", "lower", "client: gaps between tokens that arrive with their piece, so that gaps within a piece are 0"),
    "itl-request-mean": Definition("time per token", "time", "lower", "client: (last piece - first piece) / (generated tokens - 1), one observation a request"),
    "itl-request-weighted": Definition("time per token", "time", "lower", "client: (last piece - first piece) / (generated tokens - 1) of a request, which counts once for each of these tokens"),
    "itl-request-median": Definition("time per token", "time", "lower", "client: median gap between two pieces, one observation a request"),
    "gap-request-mean": Definition("time per token", "time", "lower", "client: (last piece - first piece) / (pieces - 1), one observation a request"),
    "itl-request-harness": Definition("time per token", "time", "lower", "harness: (end - first token) / (generated tokens - 1), one observation a sample"),
    "tpot-whole": Definition("time per token", "time", "lower", "client: whole request / generated tokens, so that waiting for the first one counts"),
    "tpot-whole-weighted": Definition("time per token", "time", "lower", "client: whole request / generated tokens of a request, which counts once for each of these tokens"),
    "tpot-decode-n": Definition("time per token", "time", "lower", "client: (last piece - first piece) / generated tokens, one observation a request"),
    "tpot-decode-n-weighted": Definition("time per token", "time", "lower", "client: (last piece - first piece) / generated tokens of a request, which counts once for each of these tokens"),
    "decode-time-n": Definition("time per token", "time", "lower", "server: decode time / generated tokens"),
    "decode-time-n-1": Definition("time per token", "time", "lower", "server: decode time / (generated tokens - 1), the first came with the prompt"),
    "decode-time-batch": Definition("time per token", "time", "lower", "engine, no server: one step that generates a token for each prompt of a batch"),
    # How fast one request, test or batch goes.
    "decode-rate-n": Definition("decode rate", "token rate", "higher", "server: all n generated tokens over the decode time of the request"),
    "decode-rate-n-1": Definition("decode rate", "token rate", "higher", "server: n - 1 generated tokens over the decode time, the first came with the prompt"),
    "decode-rate-request": Definition("decode rate", "token rate", "higher", "client: one over (last piece - first piece) / (generated tokens - 1) of a request"),
    "rate-whole": Definition("decode rate", "token rate", "higher", "client: generated tokens over the whole request, so that waiting for the first one counts"),
    "decode-rate-bench": Definition("decode rate", "token rate", "higher", "llama-bench: n_gen tokens over the sample's time, no sampling and no server"),
    "decode-rate-batch": Definition("decode rate", "token rate", "higher", "generated tokens of one batch over the time after the last of its first tokens"),
    "decode-rate-step": Definition("decode rate", "token rate", "higher", "engine, no server: prompts of a batch over one step that generates a token for each"),
    "prefill-rate-evaluated": Definition("prefill rate", "token rate", "higher", "server: evaluated prompt tokens, those of a cache excluded, over the prefill time"),
    "prefill-rate-prompt": Definition("prefill rate", "token rate", "higher", "client: all prompt tokens, those of a cache included, over the time to first token"),
    "prefill-rate-bench": Definition("prefill rate", "token rate", "higher", "llama-bench: n_prompt tokens over the sample's time"),
    "prefill-rate-batch": Definition("prefill rate", "token rate", "higher", "prompt tokens of one batch over the time until the last of its first tokens"),
    "combined-rate-bench": Definition("combined rate", "token rate", "higher", "llama-bench -pg: n_prompt + n_gen tokens over the sample's time"),
    # How long it takes.
    "latency-request": Definition("latency", "time", "lower", "client: the whole request, from sending it to its end"),
    "latency-queued": Definition("latency", "time", "lower", "client: the whole request, from when it was due: its wait within the client included"),
    "latency-server": Definition("latency", "time", "lower", "server: the whole request, from its arrival to its end"),
    "latency-sample": Definition("latency", "time", "lower", "harness: one sample, as the load generator counts it"),
    "latency-query": Definition("latency", "time", "lower", "harness: one query of several samples, as the load generator counts it"),
    "latency-batch": Definition("latency", "time", "lower", "one batch of prompts asked as one, from the call to its return"),
    "prefill-time-batch": Definition("latency", "time", "lower", "engine, no server: the prompts of one batch"),
    "sample-time-bench": Definition("latency", "time", "lower", "llama-bench: one repetition of the test"),
    "client-queue": Definition("client queue", "time", "lower", "client: from when a request was due until it was sent"),
    # How much the whole server does.
    "throughput-output": Definition("throughput", "token rate", "higher", "generated tokens of all requests over the duration; no prompt tokens"),
    "throughput-input": Definition("throughput", "token rate", "higher", "prompt tokens of all requests over the duration"),
    "throughput-total": Definition("throughput", "token rate", "higher", "prompt and generated tokens of all requests over the duration"),
    "throughput-pieces-second": Definition("throughput", "token rate", "higher", "pieces of answers that arrived within one second of the run, each counted as a token"),
    "throughput-output-per-device": Definition("throughput", "token rate per device", "higher", "generated tokens over the duration, divided by the devices"),
    "throughput-input-per-device": Definition("throughput", "token rate per device", "higher", "prompt tokens over the duration, divided by the devices"),
    "throughput-total-per-device": Definition("throughput", "token rate per device", "higher", "prompt and generated tokens over the duration, divided by the devices"),
    "throughput-output-per-decode-device": Definition("throughput", "token rate per device", "higher", "generated tokens over the duration, divided by the devices that decode alone"),
    "throughput-input-per-prefill-device": Definition("throughput", "token rate per device", "higher", "prompt tokens over the duration, divided by the devices that prefill alone"),
    "throughput-requests": Definition("request throughput", "request rate", "higher", "completed requests over the duration"),
    "goodput-requests": Definition("request throughput", "request rate", "higher", "completed requests that met their targets, over the duration"),
    "throughput-samples": Definition("request throughput", "sample rate", "higher", "samples over the duration, as the load generator counts them"),
    "duration": Definition("duration", "time", "lower", "the whole benchmark, from the first request to the last end"),
    # What was drafted.
    "draft-acceptance": Definition("acceptance", "share", "higher", "accepted drafted tokens over drafted tokens"),
    "draft-length": Definition("acceptance", "count", "higher", "tokens that one step of the target accepted, its own token included"),
    # Whether it was right.
    "accuracy": Definition("quality", "share", "higher", "right answers over all items of a task, as the harness takes and scores them"),
    "accuracy-normalised": Definition("quality", "share", "higher", "right answers over all items of a task, where the answer is the choice of the highest likelihood over its length in bytes"),
    "standard-error": Definition("standard error", "any", None, "standard error of a mean over items, as the harness gives it"),
    "operator-cases-ok": Definition("operator cases", "count", "higher", "cases of an operator whose error against the reference backend is within the tolerance"),
    "operator-cases-failed": Definition("failed operator cases", "count", "lower", "cases of an operator whose error is beyond the tolerance, or that could not be computed"),
    "operator-cases-not-supported": Definition("operator cases that are not supported", "count", None, "cases of an operator that the backend does not do: neither passed nor failed"),
    "operator-nmse": Definition("numerical error", "any", "lower", "test-backend-ops: error of a case against the reference backend, mse(a, b) / mse(a, 0) unless the operator has another one"),
    "operator-time": Definition("operator time", "time", "lower", "test-backend-ops perf: a graph of copies of one operator over their number"),
    # What work it was: neither more nor less is a gain.
    "prompt-length": Definition("prompt length", "count", None, "prompt tokens of a request, as the source counts them"),
    "generated-length": Definition("generated length", "count", None, "generated tokens of a request, as the source counts them"),
    "answer-length": Definition("generated length", "count", None, "generated tokens of a request without its reasoning, as the source counts them"),
    "reasoning-length": Definition("generated length", "count", None, "generated tokens of a request that are reasoning, as the source counts them"),
    "cached-length": Definition("cached length", "count", None, "prompt tokens of a request that a cache held"),
    "drafted-tokens": Definition("drafted tokens", "count", None, "tokens that were drafted, as the source counts them"),
    "accepted-tokens": Definition("accepted tokens", "count", None, "drafted tokens that the target accepted, as the source counts them"),
    "target-batches": Definition("target batches", "count", None, "batches that the target evaluated while it decoded, as the source counts them"),
    "concurrency": Definition("concurrency", "count", None, "requests at once, as achieved and not as asked for"),
    # What a profiler saw.
    "kernel-time": Definition("kernel time", "time", "lower", "one launch of a kernel, as the profiler timed it"),
    "kernel-time-sum": Definition("kernel time", "time", "lower", "all launches of a kernel together, overlapping ones counted twice"),
    "kernel-share": Definition("kernel share", "share", None, "the time of one kernel over the time of all kernels, not over the wall clock"),
    "kernel-launches": Definition("kernel launches", "count", None, "launches of a kernel"),
}  # fmt: skip
"""Name of a definition -> what it is. Names are promises: a changed way of counting is a new name."""

STATISTICS = (
    "value", "mean", "median", "min", "max", "std", "spread", "total",
    "p0.1", "p1", "p5", "p10", "p25", "p75", "p80", "p90", "p95", "p97", "p99", "p99.9",
)  # fmt: skip
"""What a number is of its observations; `value`: it is the only one. The 50th percentile is `median`.

`std` is divided by n, by llama-bench and nsys by n - 1, whose definitions are nobody else's; `spread` is one of both, and
nobody knows which. Invariant: no definition has `std` from sources that divide in two ways.
"""


NO_GAIN = ("std", "spread")
"""Statistics of which neither direction is a gain."""


def in_first_unit(value: float, unit: str, definition: str) -> float | None:
    """A value in the first unit of its dimension; None where the unit is none of it."""
    factor = UNITS.get(DEFINITIONS[definition].dimension, {}).get(unit)
    return None if factor is None else value * factor


def why_not_comparable(one: str, other: str) -> str | None:
    """Why numbers of two definitions are not compared, in a sentence; None where they may be."""
    if UNKNOWN in (one, other):
        return "how one of them was counted is unknown, and unknown is never equal"
    if one == other:
        return None
    first, second = DEFINITIONS[one], DEFINITIONS[other]
    if first.quantity != second.quantity:
        return f"one is {first.quantity}, the other {second.quantity}"
    return f"both are called {first.quantity} and counted in two ways: {one} is {first.about}; {other} is {second.about}"
