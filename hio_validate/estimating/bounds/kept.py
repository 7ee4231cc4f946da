"""The terms of what is kept of each sequence: K and V, states of fixed size; of one device."""

from __future__ import annotations

from hio_validate.costs.formats import UNKNOWN
from hio_validate.costs.held import divided, kv_share
from hio_validate.costs.interval import total
from hio_validate.costs.states import UNTOLD
from hio_validate.costs.units import Dimension, amount, fitting
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.book import Book
from hio_validate.estimating.bounds.operands import Work
from hio_validate.estimating.bounds.price import Price
from hio_validate.estimating.bounds.rates import price_of, together
from hio_validate.estimating.bounds.threads import by_passes
from hio_validate.models.estimate import Sharding
from hio_validate.models.shape import Shape


def of_kept(book: Book, shape: Shape, work: Work) -> None:
    """K/V read, K/V written, states."""
    _of_keys_and_values(book, shape, work)
    _of_states(book, shape, work)


def _say_what_is_left_out(book: Book, shape: Shape) -> None:
    without = sum(layers.layers for layers in shape.attention if not layers.kv_heads and not layers.state)
    if without:
        book.missing.append(
            f"{without} layers of {shape.name} keep no K/V of their own: what they read instead (the K/V of other layers, or "
            "a state whose size the shape does not tell) is left out"
        )


def _of_keys_and_values(book: Book, shape: Shape, work: Work) -> None:
    """K/V is divided over devices by heads; fewer heads than devices are held by several."""
    workload = book.inputs.workload
    _say_what_is_left_out(book, shape)
    if not any(layers.kv_heads for layers in shape.attention):
        if not shape.attention:
            book.missing.append(
                f"the shape {shape.name} tells no layers that attend: K/V and attention are left out"
            )
        return
    of_value = any(layers.kv_heads and layers.value_size for layers in shape.attention)
    for name, type in (("key-type", workload.key_type), ("value-type", workload.value_type)):
        if type is None and (name == "key-type" or of_value):
            book.assume(name, amount(UNKNOWN, "B"), "bytes of one number: its format is not known")
    if not work.positions_known:
        book.missing.append(
            "the lengths of prompt and answer are not known: reading K/V and attention are left out; state them with "
            "--assume prompt-tokens=N --assume generated-tokens=N"
        )
    share = kv_share(shape, _at_work(book.inputs))
    source = f"shape {shape.name}: heads of K and V as {workload.key_type or 'unknown'} and {workload.value_type or 'unknown'}"
    for name, parts, about in (
        ("kv-read", work.kv_read, "read the K/V of the populated tokens"),
        ("kv-write", work.kv_write, "write the K/V of the evaluated tokens"),
    ):
        found = {each: by_passes(book.inputs, each.batched, _memory_price) for each in parts}
        prices = {each: price for each, price in found.items() if price}
        if len(prices) < len(parts):
            book.lacks("memory-read", f"the term {name}")
        elif parts:
            mine = {each: part * share for each, part in parts.items()}
            bytes_ = fitting(total(*mine.values()), Dimension.DATA)
            book.add(name, "memory", about, bytes_, together(mine, prices), source)


def _memory_price(inputs: Asked) -> Price | None:
    return price_of(inputs, "memory-read")


def _of_states(book: Book, shape: Shape, work: Work) -> None:
    """States of fixed size, read and written once a pass; of one device, which holds its heads of them."""
    if not work.state:
        return
    workload = book.inputs.workload
    if workload.state_type is None:
        book.assume(
            "state-type", amount(UNTOLD, "B"), "bytes of one number of a state: its format is not known"
        )
    prices = {each: by_passes(book.inputs, each.batched, _memory_price) for each in work.state}
    known = {each: price for each, price in prices.items() if price}
    if len(known) < len(prices):
        book.lacks("memory-read", "the term state")
        return
    by = _at_work(book.inputs)
    mine = {each: part * (1 / (by.attention * by.stages)) for each, part in work.state.items()}
    book.add(
        "state", "memory", "read and write the states of fixed size", fitting(total(*mine.values()), Dimension.DATA),
        together(mine, known), f"shape {shape.name}: numbers a layer as {workload.state_type or 'unknown'}",
    )  # fmt: skip


def _at_work(inputs: Asked) -> Sharding:
    """Devices that work at once: stages of a pipeline do on parts of a prompt, not on one token."""
    by = divided(inputs.workload)
    return by.model_copy(update={"stages": 1}) if inputs.path == "decode-token" else by
