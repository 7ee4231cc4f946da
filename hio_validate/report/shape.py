"""A model's shape on one page: what it stores, by role and number format, and how its layers attend."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.amounts import best_guess, digits, with_interval
from hio_validate.costs.interval import Interval, total
from hio_validate.costs.units import amount
from hio_validate.costs.work import draft_bytes, kv_bytes_per_token, products_by_type, weights_per_pass
from hio_validate.models.estimate import Amount
from hio_validate.models.shape import Attention, Experts, Shape, Weights
from hio_validate.quantity import counted
from hio_validate.report.columns_of_numbers import aligned
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

_NAME_ROOM = 24
_MANY = 256
"""Tokens of a pass that meets most experts."""
_KEPT_IN = ("f16", "q8_0")
"""Number formats of K and V that most stacks choose from."""


def text(shape: Shape, width: int = 80) -> str:
    """The whole page."""
    stored = sum(each.bytes for each in shape.weights)
    elements = sum(each.elements for each in shape.weights)
    first = (
        f"{shape.name}: {_count(elements)} weights in {_size(stored)}, {_bits(stored, elements)} bits each"
    )
    parts = [
        paragraph(first, width) + (paragraph(shape.about, width) if shape.about else ""),
        table(list(_facts(shape)), width),
        _weights(shape, stored, width),
        _section("one pass", _pass(shape), width),
        _section("attention", map(_attention, shape.attention), width),
        _section("unknown", shape.unknown, width),
    ]
    return "\n".join(part for part in parts if part)


def _facts(shape: Shape) -> Iterator[tuple[str, str]]:
    yield "service", shape.service
    yield "read from", _source(shape)
    yield "architecture", shape.architecture or "unknown"
    drafting = f", and {counted(shape.draft_layers, 'layer')} for drafting" if shape.draft_layers else ""
    yield "layers", f"{_known(shape.layers)}{drafting}"
    yield "width", f"{_known(shape.embedding)}, {_known(shape.heads)} heads of Q at most"
    yield "vocabulary", _known(shape.vocabulary)
    yield "trained for", f"{_known(shape.context)} tokens of context"
    tied = {True: "tied: the embedding table is read again as output", False: "not tied", None: "unknown"}
    yield "output", tied[shape.tied]
    yield "experts", _experts(shape.experts) if shape.experts else "none"


def _source(shape: Shape) -> str:
    source = shape.source
    said = {
        "gguf": "the header of a model file",
        "hf-config": "config.json",
        "stated": "no file: stated",
    }
    by = (
        f" by {source.says}"
        if source.says
        else " by nobody who is named"
        if source.format == "stated"
        else ""
    )
    digest = source.sha256 or (source.file.sha256 if source.file else None)
    return f"{said[source.format]}{by}" + (f" ({digest[:12]})" if digest else "")


def _experts(experts: Experts) -> str:
    shared = f", {experts.shared} shared by all" if experts.shared else ""
    return f"{experts.active} of {experts.count} for one token{shared}"


def _known(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _weights(shape: Shape, stored: int, width: int) -> str:
    """A row a role and number format, the largest first."""
    head = ("role", "format", "weights", "bytes", "bits each", "share", "tensors")
    rows = [
        (
            each.role,
            each.type,
            _count(each.elements),
            _size(each.bytes),
            _bits(each.bytes, each.elements),
            f"{100 * each.bytes / stored:.1f} %",
            str(each.tensors),
        )
        for each in sorted(shape.weights, key=_largest_first)
    ]
    lines = aligned([head, *rows], 2, _NAME_ROOM)
    if max(map(len, lines.splitlines())) > width:
        said = (", ".join(f"{name} {cell}" for name, cell in zip(head, row, strict=True)) for row in rows)
        lines = "".join(paragraph(f"  {each}", width) for each in said)
    return f"weights\n{lines}"


def _pass(shape: Shape) -> Iterator[str]:
    """What one pass reads and multiplies, and what a token leaves in the cache; draft layers stand apart."""
    for tokens in (1, _MANY) if shape.experts else (1,):
        said = Interval.exact(float(tokens))
        read = with_interval(amount(weights_per_pass(shape, said), "B"))
        products = with_interval(amount(total(*products_by_type(shape, said, said).values()), "FLOP"))
        yield f"over {counted(tokens, 'token')}: {read} of weights, {products} without attention"
    drafting = draft_bytes(shape)
    if drafting.high:
        yield f"of the layers that draft, one drafted token: {with_interval(amount(drafting, 'B'))}"
    if shape.attention:
        kept = ", ".join(
            f"{with_interval(amount(kv_bytes_per_token(shape, name, name), 'B'))} in {name}"
            for name in _KEPT_IN
        )
        yield f"a token in the cache: {kept}; a window forgets"
    else:
        yield "a token in the cache: unknown, no layer says how it attends"


def _largest_first(each: Weights) -> tuple[int, str, str]:
    return -each.bytes, each.role, each.type


def _attention(each: Attention) -> str:
    if not each.kv_heads:
        return f"{counted(each.layers, 'layer')} without K and V"
    window = f"the last {each.window} tokens" if each.window else "all tokens"
    if each.chunked:
        window = f"chunks of {each.window} tokens"
    if not each.value_size:
        return f"{counted(each.layers, 'layer')} over {window}: a latent of {each.key_size} numbers, of which V is a part"
    return (
        f"{counted(each.layers, 'layer')} over {window}: {counted(each.kv_heads, 'head')} of K and V, "
        f"{each.key_size} numbers of K and {each.value_size} of V a head"
    )


def _section(title: str, sentences: Iterator[str] | list[str], width: int) -> str:
    lines = "".join(paragraph(f"  {each}", width) for each in sentences)
    return f"{title}\n{lines}" if lines else ""


def _size(number: float) -> str:
    return best_guess(Amount.model_validate({"value": number, "low": number, "high": number, "unit": "B"}))


def _count(number: float) -> str:
    """A count of weights: `4.02 G`."""
    for letter, power in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= power:
            return f"{digits(number / power, number / power, number / power)} {letter}"
    return f"{number:g}"


def _bits(size: int, elements: int) -> str:
    return f"{8 * size / elements:.2f}"
