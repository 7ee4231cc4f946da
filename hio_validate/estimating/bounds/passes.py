"""What one unit of a path has to do: the passes over the model that it takes, and their bytes and operations.

One unit is one token (prefill-token, decode-token) or one request. What several requests share of a pass is counted whole, as
each of them waits for all of it; prompts are taken as evaluated alone, which is the least they take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from hio_validate.costs.interval import ZERO, Interval
from hio_validate.costs.states import state_bytes
from hio_validate.costs.units import base
from hio_validate.costs.work import (
    attention_flops_over,
    kv_bytes_per_token,
    kv_read_over,
    output_by_type,
    products_by_type,
    weights_by_type,
)
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.operands import (
    ONE,
    ByOperand,
    Head,
    Operand,
    Work,
    of_tokens,
    scaled,
    summed,
)
from hio_validate.models.estimate import Workload
from hio_validate.models.shape import Shape

ACCEPTANCE = Interval(0.5, 0.0, 1.0)
"""The accepted share of drafted tokens where nobody states it: between nothing and everything."""


@dataclass(frozen=True)
class Drafting:
    """How many tokens each pass of decode verifies, and how many of them it yields."""

    tokens: Interval = field(default=ZERO)
    accepted: Interval = field(default=ZERO)

    @property
    def yields(self) -> Interval:
        """Tokens of one pass: its own, and the accepted share of the drafted ones."""
        return ONE + self.accepted * self.tokens


def drafting_of(inputs: Asked) -> Drafting | None:
    """None where tokens are drafted and nobody says how many: then no bound of a pass is one of a token."""
    if inputs.workload.drafting is None:
        return Drafting()
    known = {**inputs.counted, **inputs.stated}
    drafted, accepted = known.get("draft-tokens"), known.get("acceptance")
    if drafted is None:
        return None
    share = base(accepted) if accepted else ACCEPTANCE
    return Drafting(base(drafted), share.no_more_than(1.0))


def vectors_of(inputs: Asked) -> float | None:
    """Tokens that a pass evaluates at once: of decode those of all requests, of a prompt those of its largest pass; None unknown."""
    workload = inputs.workload
    if inputs.path != "decode-token":
        tokens = workload.prompt_tokens
        return float(min(tokens, workload.microbatch or tokens)) if tokens else None
    drafting = drafting_of(inputs)
    return at_once(workload) * (1 + drafting.tokens.value) if drafting else None


def at_once(workload: Workload) -> int:
    """Requests that a pass decodes at most: those that are there, and no more than the engine has slots for."""
    return min(workload.concurrency, workload.slots or workload.concurrency)


def decode(shape: Shape, workload: Workload, drafting: Drafting) -> Work:
    """One token of one answer, in passes that each decode all concurrent requests.

    Not all of them need decode at once: between one and all that have a slot. The first token of the answer follows from the prompt, so that
    passes see P+1 .. P+G-1 tokens: P + G/2 in the mean.
    """
    together = Interval(float(at_once(workload)), 1.0, float(at_once(workload)))
    tokens = together * (ONE + drafting.tokens)
    fullest = _of_fullest_group(workload)
    vectors, batched = _vectors(shape, tokens), _are_batched(tokens)
    kinds = workload.key_type, workload.value_type
    work = Work(
        ONE,
        _by(vectors, batched, weights_by_type(shape, tokens)),
        _by(vectors, batched, products_by_type(shape, tokens, tokens)),
        kv_write=of_tokens(batched, kv_bytes_per_token(shape, *kinds) * fullest * (ONE + drafting.tokens)),
        state=of_tokens(batched, _state(shape, workload) * fullest),
        drafted=drafting.tokens,
        positions_known=False,
    )
    prompt, answer = workload.prompt_tokens, workload.generated_tokens
    if prompt is not None and answer is not None:
        seen = range(prompt + 1, prompt + max(answer, 2))
        work = replace(
            work,
            attention=of_tokens(batched, attention_flops_over(shape, seen) * tokens),
            kv_read=of_tokens(batched, kv_read_over(shape, seen, *kinds) * fullest),
            positions_known=True,
        )
    return work.times(ONE / drafting.yields)


def _of_fullest_group(workload: Workload) -> Interval:
    """Requests whose K/V the fullest group of devices reads: an even part of them, one at least, all at most."""
    most = at_once(workload)
    groups = workload.sharding.groups if workload.sharding else 1
    return Interval(float(ceil(most / groups)), 1.0, float(most))


def _state(shape: Shape, workload: Workload) -> Interval:
    """Bytes of the states of one sequence that a pass reads and writes; a convolution need write one column of its own only."""
    return state_bytes(shape, workload.state_type) * Interval(2.0, 1.0, 2.0)


def prefill(shape: Shape, workload: Workload) -> Work | None:
    """All tokens of one prompt, in passes of the microbatch; None where their number is not known.

    Where the microbatch is not known, the least is one pass, and the most one for each token.
    """
    tokens = workload.prompt_tokens
    if not tokens:
        return None
    if workload.microbatch is None:
        one_pass, many = (_prefill(shape, workload, tokens, size, known=False) for size in (tokens, 1))
        return one_pass.or_else(many)
    return _prefill(shape, workload, tokens, min(tokens, workload.microbatch))


def _prefill(shape: Shape, workload: Workload, tokens: int, microbatch: int, *, known: bool = True) -> Work:
    """Whole passes of the microbatch, and a last one with the rest, of whose last token alone logits are wanted.

    known: whether each pass is known to have so many tokens.
    """
    passes = -(-tokens // microbatch)
    last = tokens - (passes - 1) * microbatch
    kinds = workload.key_type, workload.value_type

    def by(count: int, parts: Mapping[str, Interval]) -> ByOperand:
        vectors = _vectors(shape, Interval.exact(float(count))) if known else None
        return _by(vectors, batched(count), parts)

    def batched(count: int) -> bool | None:
        return count > 1 if known or tokens == 1 else None

    def work(count: int, times: int) -> tuple[ByOperand, ByOperand]:
        each, many = Interval.exact(float(count)), Interval.exact(float(times))
        read, multiplied = weights_by_type(shape, each, output=False), products_by_type(shape, each, ZERO)
        return scaled(by(count, read), many), scaled(by(count, multiplied), many)

    def by_token(before: Interval, at_last: Interval) -> ByOperand:
        """Of the whole passes, and of the last one."""
        return summed(of_tokens(batched(microbatch), before), of_tokens(batched(last), at_last))

    (whole, products), (rest, of_rest) = work(microbatch, passes - 1), work(last, 1)
    one, of_last, earlier = ONE if known else None, batched(last), tokens - last
    table = output_by_type(shape)
    read_last = weights_by_type(shape, Interval.exact(float(last)))  # rows of a tied table are in the table
    rest_read = {
        type: _less(part, table[type]) if type in table else part for type, part in read_last.items()
    }
    ends = range(microbatch, (passes - 1) * microbatch + 1, microbatch)
    return Work(
        Interval.exact(float(passes)),
        summed(summed(whole, by(last, rest_read)), _by(one, of_last, table)),
        summed(summed(products, of_rest), _by(one, of_last, products_by_type(shape, ZERO, ONE))),
        by_token(
            attention_flops_over(shape, range(1, earlier + 1)) * float(earlier),
            attention_flops_over(shape, range(earlier + 1, tokens + 1)) * float(last),
        ),
        by_token(
            _read_by(shape, workload, ends, microbatch) * float(passes - 1),
            _read_by(shape, workload, range(tokens, tokens + 1), last),
        ),
        by_token(*(kv_bytes_per_token(shape, *kinds) * float(count) for count in (earlier, last))),
        by_token(*(_state(shape, workload) * float(count) for count in (passes - 1, 1))),
        head=Head(_by(one, of_last, table), summed(whole, rest), summed(products, of_rest))
        if last > 1
        else None,
    )


def _read_by(shape: Shape, workload: Workload, ends: range, count: int) -> Interval:
    """K/V read by a pass over `count` tokens, the mean over where such passes end.

    What a pass made itself need not leave the chip before it is read: at least what earlier passes left is. The first token
    of a pass sees one token less of that than its window, as it is in the window itself.
    """
    kinds = workload.key_type, workload.value_type
    read = kv_read_over(shape, ends, *kinds, count)
    left = kv_read_over(shape, range(ends.start - count, ends.stop - count, ends.step), *kinds)
    low = max(0.0, left.low - kv_bytes_per_token(shape, *kinds).low)
    return Interval(read.value, min(low, read.low), read.high)


def _less(whole: Interval, part: Interval) -> Interval:
    """A sum without one of the numbers that are known of it."""
    return Interval(*(max(0.0, each - part.value) for each in (whole.value, whole.low, whole.high)))


def _vectors(shape: Shape, tokens: Interval) -> Interval | None:
    """By how many vectors a pass over `tokens` tokens multiplies each matrix; an expert is met by a part of them alone."""
    return None if shape.experts and tokens != ONE else tokens


def _are_batched(tokens: Interval) -> bool | None:
    """Whether passes over `tokens` tokens are of several; None where only some of them are."""
    return True if tokens.low > 1 else None if tokens.high > 1 else False


def _by(vectors: Interval | None, batched: bool | None, parts: Mapping[str, Interval]) -> ByOperand:
    return {Operand(type, vectors, batched): part for type, part in parts.items()}
