"""Family 2, bulk and fuse: the weights are read once a pass, whatever the tokens in it; requests that wait join a batch; several
passes are planned at once; attention is one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from hio_validate.costs.units import amount, base
from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen, without
from hio_validate.estimating.candidates.profiled import named_parts
from hio_validate.estimating.context.spelled import spelled

_ATTENTION = r"attn|attention|flash_|fmha|softmax|soft_max|paged_"
"""Names of kernels that attend."""


def find(seen: Seen, found: Found) -> None:
    """A larger microbatch, slots for the requests that come at once, several passes at once, one kernel for attention."""
    found.mechanisms += _microbatch(seen)
    found.mechanisms += _slots(seen)
    found.mechanisms += _several_passes(seen)
    found.mechanisms += _fused_attention(seen)


def _microbatch(seen: Seen) -> Iterator[Mechanism]:
    workload = seen.inputs.workload
    now, prompt = workload.microbatch, workload.prompt_tokens
    if now is None or prompt is None or seen.inputs.path not in ("prefill-token", "request"):
        return
    logical = seen.lever(*spelled("batch", seen.engine))
    most = logical.number if logical is not None and logical.number else prompt
    wanted = min(1 << (prompt - 1).bit_length() if prompt > 1 else 1, most)
    if ceil(prompt / wanted) >= ceil(prompt / now) or "weights" not in seen.times:
        return
    then = replace(seen.inputs, workload=workload.model_copy(update={"microbatch": wanted}))
    for lever, way in seen.ways("microbatch"):
        yield Mechanism(
            f"microbatch-{wanted}", 2,
            f"read the weights {ceil(prompt / wanted)} times for a prompt of {prompt} tokens, not {ceil(prompt / now)} times",
            term="weights", lever=lever, to=str(wanted), then=then, needs=way.needs,
            stop_if="prefill gains less than the noise of this host, or memory exceeds the plan's ceiling",
        )  # fmt: skip


def _slots(seen: Seen) -> Iterator[Mechanism]:
    at_once = seen.inputs.workload.concurrency
    served = without(seen.inputs, "queue-wait")
    served = replace(served, workload=served.workload.model_copy(update={"slots": at_once}))
    for lever, way in seen.ways("slots"):
        if lever.number is None or lever.number >= at_once or "queueing" not in seen.times:
            continue
        yield Mechanism(
            f"slots-{at_once}", 2, f"begin {at_once} requests at once, so that none waits for a slot",
            term="queueing", lever=lever, to=str(at_once), then=served,
            stop_if="each answer becomes slower than the plan's bounds allow",
            needs=(*way.needs, "a bound on the decode rate of each request: slots share the pass"),
        )  # fmt: skip


def _several_passes(seen: Seen) -> Iterator[Mechanism]:
    """The host plans several decode passes before it looks at requests again; a new one waits for all of them."""
    gap = seen.inputs.stated.get("host-gap")
    if gap is None or "host-gaps" not in seen.times or seen.inputs.path != "decode-token":
        return
    for lever, way, to in seen.switches("several-passes"):
        shorter = amount(base(gap) * (1 / int(to)), gap.unit)
        yield Mechanism(
            f"passes-{to}", 2, f"let the host plan {to} decode passes at once, not each one",
            term="host-gaps", lever=lever, to=to, needs=(*way.needs, "a bound on the time to the first token"),
            then=replace(seen.inputs, stated={**seen.inputs.stated, "host-gap": shorter}),
            stop_if="a timeline shows no gaps between passes, or the first token comes too late",
        )  # fmt: skip


def _fused_attention(seen: Seen) -> Iterator[Mechanism]:
    """Another kernel for attention: only where a profile says how much of the time attention has."""
    for lever, way, to in seen.switches("fused-attention"):
        for each in named_parts(seen, 2, _ATTENTION, f"attention-{to.lower()}", f"attend with {to}"):
            yield replace(
                each, lever=lever, to=to, change=None, rollback=None, route="tune-sweep", confidence="low",
                stop_if="attention takes the same share of a new profile, or the answers differ",
                needs=(*way.needs, "the same answers: another kernel adds in another order"),
            )  # fmt: skip
