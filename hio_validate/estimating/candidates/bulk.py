"""Family 2, bulk and fuse: the weights are read once a pass, whatever the tokens in it; requests that wait join a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen, without

_MICROBATCH = ("ubatch-size", "max-num-batched-tokens")
_LOGICAL = ("batch-size",)
"""Of llama-server: a microbatch is never larger (include/llama.h, llama_context_params.n_ubatch)."""
_SLOTS = ("parallel", "max-num-seqs")


def find(seen: Seen, found: Found) -> None:
    """A larger microbatch, and enough slots for the requests that come at once."""
    found.mechanisms += _microbatch(seen)
    found.mechanisms += _slots(seen)


def _microbatch(seen: Seen) -> Iterator[Mechanism]:
    lever, workload = seen.lever(*_MICROBATCH), seen.inputs.workload
    now, prompt = workload.microbatch, workload.prompt_tokens
    if lever is None or now is None or prompt is None or seen.inputs.path not in ("prefill-token", "request"):
        return
    logical = seen.lever(*_LOGICAL)
    most = logical.number if logical is not None and logical.number else prompt
    wanted = min(1 << (prompt - 1).bit_length() if prompt > 1 else 1, most)
    if ceil(prompt / wanted) >= ceil(prompt / now) or "weights" not in seen.times:
        return
    then = replace(seen.inputs, workload=workload.model_copy(update={"microbatch": wanted}))
    yield Mechanism(
        f"microbatch-{wanted}", 2,
        f"read the weights {ceil(prompt / wanted)} times for a prompt of {prompt} tokens, not {ceil(prompt / now)} times",
        term="weights", lever=lever, to=str(wanted), then=then,
        stop_if="prefill gains less than the noise of this host, or memory exceeds the plan's ceiling",
    )  # fmt: skip


def _slots(seen: Seen) -> Iterator[Mechanism]:
    lever, at_once = seen.lever(*_SLOTS), seen.inputs.workload.concurrency
    if lever is None or lever.number is None or lever.number >= at_once or "queueing" not in seen.times:
        return
    yield Mechanism(
        f"slots-{at_once}", 2, f"begin {at_once} requests at once, so that none waits for a slot",
        term="queueing", lever=lever, to=str(at_once), then=without(seen.inputs, "queue-wait"),
        stop_if="each answer becomes slower than the plan's bounds allow",
        needs=("a bound on the decode rate of each request: slots share the pass",),
    )  # fmt: skip
