"""What has to be read, multiplied and written for tokens, from a model's shape alone (contract 9.2).

Units: bytes, floating-point operations (a multiplication with its addition counts two) and tokens, always of the whole
model; whoever divides it over devices does so afterwards.

Invariant: `low` of what is returned is never more than what any correct engine has to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hio_validate.costs.formats import bytes_each
from hio_validate.costs.interval import ZERO, Interval, total
from hio_validate.models.shape import Attention, Shape, Weights

LookedBack = Callable[[Attention], Interval]
"""How many populated tokens a layer reads, over the positions in question."""


def is_tied(shape: Shape) -> bool:
    """Whether the embedding table is the output, too: as stated, else where no tensor has that role."""
    return shape.tied if shape.tied is not None else all(each.role != "output" for each in shape.weights)


def stored_bytes(shape: Shape) -> Interval:
    """Bytes of all tensors as a file holds them: a tied table once, drafting layers with them."""
    return Interval.exact(float(sum(each.bytes for each in shape.weights)))


def draft_bytes(shape: Shape) -> Interval:
    """Bytes that layers for multi-token prediction read for one drafted token: one pass of theirs, and the output head.

    Where the model is a mixture, so is the layer that drafts (DeepSeek-V3, README_WEIGHTS.md): a token passes its active
    experts, and which tensors of it are experts is not told. The head may be a smaller one: the least is without it.
    """
    layers = float(sum(each.bytes for each in shape.weights if each.role == "draft"))
    if not layers:
        return ZERO
    head = total(*output_by_type(shape).values()).value
    active = shape.experts.active / shape.experts.count if shape.experts else 1.0
    return Interval(layers * min(1.0, active) + head, layers * min(1.0, active), layers + head)


def weights_by_type(shape: Shape, tokens: Interval, *, output: bool = True) -> dict[str, Interval]:
    """Bytes of weights that one pass over `tokens` tokens reads, by number format.

    output: whether logits are wanted of any of its tokens; else the output head is not read. Drafting layers stand apart
    (draft_bytes). Tensors of the role `other` may all be read or none.
    """
    found: dict[str, Interval] = {}
    for each in shape.weights:
        part = _share_read(shape, each, tokens, output)
        found[each.type] = found.get(each.type, ZERO) + part * float(each.bytes)
    return {type: part for type, part in found.items() if part.high}


def weights_per_pass(shape: Shape, tokens: Interval, *, output: bool = True) -> Interval:
    """Bytes of weights that one pass over `tokens` tokens reads: the sum of weights_by_type."""
    return total(*weights_by_type(shape, tokens, output=output).values())


def output_by_type(shape: Shape) -> dict[str, Interval]:
    """Bytes of the output head, by number format: the table of the embedding where that is the output, too."""
    role = "embedding" if is_tied(shape) else "output"
    found: dict[str, Interval] = {}
    for each in shape.weights:
        if each.role == role:
            found[each.type] = found.get(each.type, ZERO) + Interval.exact(float(each.bytes))
    return found


def distinct_experts(count: int, active: int, tokens: Interval) -> Interval:
    """Experts of one layer that a pass over `tokens` tokens meets, shared ones aside.

    count * (1 - (1 - active / count)^T): the expected number when each token chooses `active` of `count` without regard
    to the others. At least: all choose the same; at most: no two choose the same, min(count, active * T).
    """
    active = min(active, count)
    expected = count * (1 - (1 - active / count) ** tokens.value)
    low = active * min(1.0, tokens.low)
    high = min(float(count), active * tokens.high)
    return Interval(min(max(expected, low), high), low, high)


def _share_read(shape: Shape, weights: Weights, tokens: Interval, output: bool) -> Interval:
    """The share of some tensors that one pass reads, 0..1."""
    once = tokens.no_more_than(1.0)
    match weights.role:
        case "draft":
            return ZERO
        case "output":
            return once if output else ZERO
        case "embedding":
            return once if output and is_tied(shape) else _rows(shape, weights, tokens)
        case "experts" if shape.experts:
            experts = shape.experts
            met = distinct_experts(experts.count, experts.active, tokens)
            return met * (1 / experts.count)
        case "other":
            return Interval(once.value, 0.0, once.high)
    return once


def _rows(shape: Shape, weights: Weights, tokens: Interval) -> Interval:
    """The share of an embedding table that looking up `tokens` tokens reads: at least the row of one."""
    rows = shape.vocabulary or (weights.elements / shape.embedding if shape.embedding else None)
    if rows is None:
        return Interval(0.0, 0.0, min(1.0, tokens.high))
    low, value, high = (min(1.0, each / rows) for each in (min(1.0, tokens.low), tokens.value, tokens.high))
    return Interval(value, low, high)


def kv_bytes_per_token(shape: Shape, key_type: str | None, value_type: str | None) -> Interval:
    """Bytes of K and V that one token keeps, in all layers."""
    return _kv(shape, key_type, value_type, lambda _: Interval.exact(1.0))


def kv_read_over(
    shape: Shape, positions: range, key_type: str | None, value_type: str | None, tokens: int = 1
) -> Interval:
    """Bytes of K and V that passes read, the mean over the populated lengths in `positions`; a window reads no further back.

    tokens: how many tokens of the sequence each pass evaluates; the first of them looks `window` back, the last as far from
    its own place. The mean of min(populated, window) is less than min(mean, window): this one is exact.
    """
    return _kv(shape, key_type, value_type, lambda layers: _mean_within(layers, positions, tokens - 1))


def products_by_type(shape: Shape, tokens: Interval, logits: Interval) -> dict[str, Interval]:
    """Operations of the products with weights, by their number format: two for each number that a token passes.

    logits: the tokens whose logits are wanted. Looking up an embedding is no product; norms are one operation a number and
    are left out; tensors of the role `other` may be products or not.
    """
    found: dict[str, Interval] = {}
    for each in shape.weights:
        part = _passed(shape, each, tokens, logits) * (2.0 * each.elements)
        if part.high:
            found[each.type] = found.get(each.type, ZERO) + part
    return found


def _passed(shape: Shape, weights: Weights, tokens: Interval, logits: Interval) -> Interval:
    """How many tokens pass through some tensors; of experts, the share of them that each token passes."""
    match weights.role:
        case "output":
            return logits
        case "embedding":
            return logits if is_tied(shape) else ZERO
        case "experts" if shape.experts:
            return tokens * min(1.0, shape.experts.active / shape.experts.count)
        case "attention" | "feed-forward" | "experts":
            return tokens
        case "other":
            return Interval(tokens.value, 0.0, tokens.high)
    return ZERO


def attention_flops_over(shape: Shape, positions: range) -> Interval:
    """Operations of Q with K and of the weights with V for one token, the exact mean over the populated lengths in `positions`."""
    return total(
        *(
            _query_heads(shape, layers)
            * _mean_within(layers, positions, 0)
            * _compared(layers)
            * (2.0 * layers.layers)
            for layers in _keeping(shape)
        )
    )


def _compared(layers: Attention) -> Interval:
    """Numbers of K and of V that a head of Q is multiplied with, for each token that it sees.

    A latent is read by all heads as it is, once as K and once, without its positions, as V: at most twice its size (llama.cpp
    and vLLM while decoding). Or it is expanded to K and V of each head, which is less for each token (vLLM, for a prompt):
    DeepSeek-V3, 192 + 128 instead of 576 + 512. Where a shape does not tell the expanded sizes, the least is not known.
    """
    if layers.value_size:
        return Interval.exact(float(layers.key_size + layers.value_size))
    most = 2.0 * layers.key_size
    expanded = (layers.expanded_key_size or 0) + (layers.expanded_value_size or 0)
    told = layers.expanded_key_size and layers.expanded_value_size
    return Interval(most, min(most, float(expanded)) if told else 0.0, most)


def _query_heads(shape: Shape, layers: Attention) -> Interval:
    """Heads of Q of these layers: as stated where all layers are alike, else between the heads of K/V and that number."""
    fewest = float(layers.kv_heads)
    if shape.heads is None:
        return Interval.exact(fewest)
    most = max(fewest, float(shape.heads))
    return Interval.exact(most) if len(_keeping(shape)) == 1 else Interval(most, fewest, most)


def _keeping(shape: Shape) -> list[Attention]:
    """The layers that keep K/V."""
    return [layers for layers in shape.attention if layers.kv_heads]


def _kv(shape: Shape, key_type: str | None, value_type: str | None, looked: LookedBack) -> Interval:
    """Bytes of K and V of the tokens that each kind of layer looks at."""

    def parts() -> Iterator[Interval]:
        for layers in _keeping(shape):
            size = bytes_each(key_type) * float(layers.key_size) + bytes_each(value_type) * float(
                layers.value_size
            )
            yield size * looked(layers) * float(layers.layers * layers.kv_heads)

    return total(*parts())


def _mean_in_chunk(chunk: int, positions: range, beside: int) -> Interval:
    """Tokens from where the chunk begins to a token's own place, the mean over an ascending range of places."""
    if positions.step == 1 and not beside:
        seen = _places(chunk, positions[-1]) - _places(chunk, positions[0] - 1)
        return Interval.exact(seen / len(positions))
    most = float(min(chunk + beside, positions[-1]))
    return Interval((1 + most) / 2, 1.0, most)


def _places(chunk: int, last: int) -> float:
    """The sum of the places within their chunks of the tokens 1 to `last`."""
    whole, rest = divmod(last, chunk)
    return whole * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2


def _mean_within(layers: Attention, positions: range, beside: int) -> Interval:
    """The exact mean of min(populated, window + beside) over an ascending range, without walking it.

    Within chunks the mean of a token's place in its chunk, exact where each place is passed; else anything up to the chunk.
    """
    if not positions:
        return ZERO
    if layers.window is not None and layers.chunked:
        return _mean_in_chunk(layers.window, positions, beside)
    if layers.window is None:
        return Interval.exact((positions[0] + positions[-1]) / 2)
    most = layers.window + beside
    below = max(0, min(len(positions), (most - positions.start) // positions.step + 1))
    inside = (positions[0] + positions[below - 1]) / 2 * below if below else 0.0
    return Interval.exact((inside + most * (len(positions) - below)) / len(positions))
