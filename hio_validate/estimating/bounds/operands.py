"""Bytes and operations by the weights that they are of: what passes over a model add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hio_validate.costs.interval import ZERO, Interval, either

ONE = Interval.exact(1.0)


class Operand(NamedTuple):
    """Weights of one number format as passes multiply them."""

    type: str
    vectors: Interval | None
    """By how many vectors at once: the mean of the passes, the fewest, the most; None: not known, or not each by as many."""
    batched: bool | None = False
    """Whether the passes evaluate several tokens, which an engine may do with other threads; None: some of them, or not known."""

    @property
    def by_one(self) -> bool:
        return self.vectors == ONE


ByOperand = Mapping[Operand, Interval]


@dataclass(frozen=True)
class Head:
    """The output layer of the last token of a pass over several, and the rest of the work without it."""

    read: ByOperand
    """Bytes of the output layer."""
    weights: ByOperand
    products: ByOperand

    def times(self, count: Interval) -> Head:
        return Head(*(scaled(each, count) for each in (self.read, self.weights, self.products)))


@dataclass(frozen=True)
class Work:
    """Bytes and operations of the whole model for one unit of a path, before devices share them."""

    passes: Interval
    weights: ByOperand
    """Bytes of weights."""
    products: ByOperand
    """Operations of products with weights."""
    attention: ByOperand = field(default_factory=dict)
    """Operations of attention."""
    kv_read: ByOperand = field(default_factory=dict)
    kv_write: ByOperand = field(default_factory=dict)
    state: ByOperand = field(default_factory=dict)
    """Bytes of states of fixed size, read and written."""
    drafted: Interval = ZERO
    """Tokens drafted one after the other; those of several requests are drafted together."""
    positions_known: bool = True
    """Whether K/V read and attention are counted: where the lengths are not known, they are not."""
    head: Head | None = None
    """The output layer, contained in `weights` and `products`, where it can be told apart."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.passes + other.passes,
            summed(self.weights, other.weights),
            summed(self.products, other.products),
            summed(self.attention, other.attention),
            summed(self.kv_read, other.kv_read),
            summed(self.kv_write, other.kv_write),
            summed(self.state, other.state),
            self.drafted + other.drafted,
            self.positions_known and other.positions_known,
        )

    def times(self, count: Interval) -> Work:
        """The work of so many such units."""
        return replace(
            self,
            passes=self.passes * count,
            weights=scaled(self.weights, count),
            products=scaled(self.products, count),
            attention=scaled(self.attention, count),
            kv_read=scaled(self.kv_read, count),
            kv_write=scaled(self.kv_write, count),
            state=scaled(self.state, count),
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
            weights=spanned(self.weights, other.weights),
            products=spanned(self.products, other.products),
            attention=spanned(self.attention, other.attention),
            kv_read=spanned(self.kv_read, other.kv_read),
            kv_write=spanned(self.kv_write, other.kv_write),
            state=spanned(self.state, other.state),
            head=None,
        )


def of_tokens(batched: bool | None, part: Interval) -> ByOperand:
    """Work of the tokens themselves, not of weights: what attention does, and K/V."""
    return {Operand("attention", None, batched): part} if part.high else {}


def scaled(parts: ByOperand, count: Interval) -> ByOperand:
    return {type: part * count for type, part in parts.items()}


def summed(one: ByOperand, other: ByOperand) -> ByOperand:
    return {type: one.get(type, ZERO) + other.get(type, ZERO) for type in {**one, **other}}


def spanned(one: ByOperand, other: ByOperand) -> ByOperand:
    return {type: either(one.get(type, ZERO), other.get(type, ZERO)) for type in {**one, **other}}
