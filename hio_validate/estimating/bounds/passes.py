"""What one unit of a path has to do: the passes over the model that it takes, and their bytes and operations.

One unit is one token (prefill-token, decode-token) or one request. What several requests share of a pass is counted whole, as
each of them waits for all of it; prompts are taken as evaluated alone, which is the least they take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hio_validate.costs.interval import ZERO, Interval, either
from hio_validate.costs.units import base
from hio_validate.costs.work import (
    attention_flops_over,
    kv_bytes_per_token,
    kv_read_over,
    output_by_type,
    products_by_type,
    weights_by_type,
)
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import Workload
from hio_validate.models.shape import Shape

ByType = Mapping[str, Interval]
ONE = Interval.exact(1.0)


@dataclass(frozen=True)
class Head:
    """The output layer of the last token of a pass over several, and the rest of the work without it."""

    read: ByType
    """Bytes of the output layer, by number format."""
    weights: ByType
    products: ByType

    def times(self, count: Interval) -> Head:
        return Head(*(_times(each, count) for each in (self.read, self.weights, self.products)))


@dataclass(frozen=True)
class Work:
    """Bytes and operations of the whole model for one unit of a path, before devices share them."""

    passes: Interval
    weights: ByType
    """Bytes of weights, by number format."""
    products: ByType
    """Operations of products with weights, by number format."""
    attention: Interval = ZERO
    """Operations of attention."""
    kv_read: Interval = ZERO
    kv_write: Interval = ZERO
    drafted: Interval = ZERO
    """Tokens drafted one after the other; those of several requests are drafted together."""
    one_token: bool = False
    """Whether each pass evaluates one token, so that reading and multiplying weights are one measured thing."""
    positions_known: bool = True
    """Whether K/V read and attention are counted: where the lengths are not known, they are not."""
    head: Head | None = None
    """The output layer, contained in `weights` and `products`, where it can be told apart."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.passes + other.passes,
            _sum(self.weights, other.weights),
            _sum(self.products, other.products),
            self.attention + other.attention,
            self.kv_read + other.kv_read,
            self.kv_write + other.kv_write,
            self.drafted + other.drafted,
            self.one_token and other.one_token,
            self.positions_known and other.positions_known,
        )

    def times(self, count: Interval) -> Work:
        """The work of so many such units."""
        return replace(
            self,
            passes=self.passes * count,
            weights=_times(self.weights, count),
            products=_times(self.products, count),
            attention=self.attention * count,
            kv_read=self.kv_read * count,
            kv_write=self.kv_write * count,
            drafted=self.drafted * count,
            head=self.head.times(count) if self.head else None,
        )

    def without_head(self) -> Work:
        """The work before the output layer, which is not told apart any more."""
        if self.head is None:
            return self
        return replace(self, weights=self.head.weights, products=self.head.products, head=None)

    def or_else(self, other: Work) -> Work:
        """This one as the best guess, within the ends of both."""
        return replace(
            self,
            passes=either(self.passes, other.passes),
            weights=_either(self.weights, other.weights),
            products=_either(self.products, other.products),
            attention=either(self.attention, other.attention),
            kv_read=either(self.kv_read, other.kv_read),
            kv_write=either(self.kv_write, other.kv_write),
            head=None,
        )


@dataclass(frozen=True)
class Drafting:
    """How many tokens each pass of decode verifies, and how many of them it yields."""

    tokens: Interval = field(default=ZERO)
    accepted: Interval = field(default=ZERO)

    @property
    def yields(self) -> Interval:
        """Tokens of one pass: its own, and the accepted share of the drafted ones."""
        return ONE + self.accepted * self.tokens


def drafting_of(inputs: Inputs) -> Drafting | None:
    """None where tokens are drafted and nobody says how many: then no bound of a pass is one of a token."""
    if inputs.workload.drafting is None:
        return Drafting()
    known = {**inputs.counted, **inputs.stated}
    drafted, accepted = known.get("draft-tokens"), known.get("acceptance")
    if drafted is None:
        return None
    share = base(accepted) if accepted else Interval(0.5, 0.0, 1.0)
    return Drafting(base(drafted), Interval(min(1.0, share.value), min(1.0, share.low), min(1.0, share.high)))


def decode(shape: Shape, workload: Workload, drafting: Drafting) -> Work:
    """One token of one answer, in passes that each decode all concurrent requests.

    Not all of them need decode at once: between one and all. The first token of the answer follows from the prompt, so that
    passes see P+1 .. P+G-1 tokens: P + G/2 in the mean.
    """
    together = Interval(float(workload.concurrency), 1.0, float(workload.concurrency))
    tokens = together * (ONE + drafting.tokens)
    kinds = workload.key_type, workload.value_type
    work = Work(
        ONE,
        weights_by_type(shape, tokens),
        products_by_type(shape, tokens, tokens),
        kv_write=kv_bytes_per_token(shape, *kinds) * tokens,
        drafted=drafting.tokens,
        one_token=tokens == ONE,
        positions_known=False,
    )
    prompt, answer = workload.prompt_tokens, workload.generated_tokens
    if prompt is not None and answer is not None:
        seen = range(prompt + 1, prompt + max(answer, 2))
        work = replace(
            work,
            attention=attention_flops_over(shape, seen) * tokens,
            kv_read=kv_read_over(shape, seen, *kinds) * together,
            positions_known=True,
        )
    return work.times(ONE / drafting.yields)


def prefill(shape: Shape, workload: Workload) -> Work | None:
    """All tokens of one prompt, in passes of the microbatch; None where their number is not known.

    Where the microbatch is not known, the least is one pass, and the most one for each token.
    """
    tokens = workload.prompt_tokens
    if not tokens:
        return None
    if workload.microbatch is None:
        return _prefill(shape, workload, tokens, tokens).or_else(_prefill(shape, workload, tokens, 1))
    return _prefill(shape, workload, tokens, min(tokens, workload.microbatch))


def _prefill(shape: Shape, workload: Workload, tokens: int, microbatch: int) -> Work:
    """Whole passes of the microbatch, and a last one with the rest, of whose last token alone logits are wanted."""
    passes = -(-tokens // microbatch)
    last = tokens - (passes - 1) * microbatch
    kinds = workload.key_type, workload.value_type

    def weights(count: int, output: bool) -> dict[str, Interval]:
        return weights_by_type(shape, Interval.exact(float(count)), output=output)

    whole = {type: part * float(passes - 1) for type, part in weights(microbatch, False).items()}
    every = Interval.exact(float(tokens))
    head = Head(
        output_by_type(shape), _sum(whole, weights(last, False)), products_by_type(shape, every, ZERO)
    )
    ends = range(microbatch, (passes - 1) * microbatch + 1, microbatch)
    return Work(
        Interval.exact(float(passes)),
        _sum(whole, weights(last, True)) if passes > 1 else weights(last, True),
        products_by_type(shape, every, ONE),
        attention_flops_over(shape, range(1, tokens + 1)) * float(tokens),
        kv_read_over(shape, ends, *kinds, microbatch) * float(passes - 1)
        + kv_read_over(shape, range(tokens, tokens + 1), *kinds, last),
        kv_bytes_per_token(shape, *kinds) * float(tokens),
        one_token=tokens == 1,
        head=head if last > 1 else None,
    )


def _times(parts: ByType, count: Interval) -> ByType:
    return {type: part * count for type, part in parts.items()}


def _sum(one: ByType, other: ByType) -> ByType:
    return {type: one.get(type, ZERO) + other.get(type, ZERO) for type in {**one, **other}}


def _either(one: ByType, other: ByType) -> ByType:
    return {type: either(one.get(type, ZERO), other.get(type, ZERO)) for type in {**one, **other}}
