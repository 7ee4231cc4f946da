"""The tensors of layers that mix tokens by a state of fixed size instead of K and V.

Source: transformers 5.23.0, models/qwen3_next/modeling_qwen3_next.py (Qwen3NextGatedDeltaNet) and
models/{granitemoehybrid,nemotron_h}/modeling_*.py (their Mamba2 mixers); tests/shaping holds them against published counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.shaping.hf_config import Config, Stored
from hio_validate.shaping.read_shape import Part
from hio_validate.shaping.refusal import CannotShape


def delta(read: Config, stored: Stored) -> Iterator[Part]:
    """A gated delta net: Q, K, V and a gate from one product, two numbers a head of V from another, one convolution."""
    width = read.number("hidden_size")
    heads, of_value = read.number("linear_num_value_heads"), read.number("linear_value_head_dim")
    keys = read.number("linear_num_key_heads") * read.number("linear_key_head_dim")
    values = heads * of_value
    yield stored.linear("attention", "linear_attn.in_proj_qkvz", 2 * keys + 2 * values, width)
    yield stored.linear("attention", "linear_attn.in_proj_ba", 2 * heads, width)
    yield stored.plain("attention", (2 * keys + values) * read.number("linear_conv_kernel_dim"))
    yield stored.plain("attention", 2 * heads, 2)
    yield stored.plain("norm", of_value)
    yield stored.linear("attention", "linear_attn.out_proj", width, values)


def mamba(read: Config, stored: Stored) -> Iterator[Part]:
    """A Mamba2 mixer: x, gate, B, C and the time steps from one product, one convolution, three numbers a head."""
    width, sizes = read.number("hidden_size"), _sizes(read)
    convolved = sizes.inner + 2 * sizes.groups * sizes.state
    yield stored.linear("attention", "mamba.in_proj", sizes.inner + convolved + sizes.heads, width)
    yield stored.plain("attention", convolved * sizes.kernel)
    if read.flag(read.family.mamba.conv_bias, True):
        yield stored.plain("attention", convolved)
    yield stored.plain("attention", 3 * sizes.heads, 3)
    yield stored.plain("norm", sizes.inner)
    yield stored.linear("attention", "mamba.out_proj", width, sizes.inner)
    if read.flag(read.family.mamba.proj_bias):
        yield stored.plain("attention", sizes.inner + convolved + sizes.heads + width, 2)


def state_of(read: Config) -> int:
    """Numbers of the state that one such layer carries for a sequence, those of its convolution included."""
    if read.family.mixer == "delta":
        keys = read.number("linear_num_key_heads") * read.number("linear_key_head_dim")
        heads, of_value = read.number("linear_num_value_heads"), read.number("linear_value_head_dim")
        kernel = read.number("linear_conv_kernel_dim")
        return heads * read.number("linear_key_head_dim") * of_value + (2 * keys + heads * of_value) * (
            kernel - 1
        )
    sizes = _sizes(read)
    return sizes.inner * sizes.state + (sizes.inner + 2 * sizes.groups * sizes.state) * (sizes.kernel - 1)


class _Mamba(NamedTuple):
    inner: int
    heads: int
    state: int
    groups: int
    kernel: int


def _sizes(read: Config) -> _Mamba:
    keys = read.family.mamba
    heads, size = read.number(keys.heads), read.said.get(keys.head_size)
    if size == "auto":
        inner = read.number("mamba_expand") * read.number("hidden_size")
        if inner % heads:
            raise CannotShape(
                f"config.json states {heads} heads of a mixer of {inner} numbers: expected a divisor"
            )
    else:
        inner = heads * read.number(keys.head_size)
    return _Mamba(inner, heads, read.number(keys.state), read.number(keys.groups), read.number(keys.kernel))
