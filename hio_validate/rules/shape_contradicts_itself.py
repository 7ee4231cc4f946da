"""A model's shape whose own numbers contradict each other.

What an estimate reads, multiplies and keeps follows from these numbers alone (contract 9.2); one that cannot be makes a
bound that no machine explains. The layers by how they attend are all layers of the model; fewer heads of K and V than
heads; no more experts for a token than there are, and tensors of experts where there are any; bytes that so many numbers
of a format take; a table that is read again as output, or an output of its own. Of a shape that was read from a config.json
every number is computed again from it, with the number format that a person stated, where one did.

How to fix: read the file again (`hio probe model FILE --write`), or correct what was written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.models.shape import Shape
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    shape: Shape = item.model
    yield from _source(item, shape)
    yield from _layers(item, shape)
    yield from _experts(item, shape)
    yield from _output(item, shape)
    yield from _bytes(item, shape)
    yield from _computed(item, shape, view)


def _source(item: Item, shape: Shape) -> Iterator[Problem]:
    source = shape.source
    if source.format == "stated" and not source.says:
        yield Problem(
            at(item, "source"), "it is stated, and nobody says so", "write says: who states it, and from what"
        )
    if source.file and source.sha256 and source.sha256 != source.file.sha256:
        yield Problem(
            at(item, "source", "sha256"),
            f"read from {source.sha256[:12]}, and the file that is kept is {source.file.sha256[:12]}",
            "keep the file that was read",
        )
    if source.dtype and source.format != "hf-config":
        yield Problem(
            at(item, "source", "dtype"),
            f"a number format is stated for all tensors, {source.dtype}, and {source.format} says that of each",
            "it belongs to a config.json; weights tell the others",
        )


def _layers(item: Item, shape: Shape) -> Iterator[Problem]:
    told = sum(each.layers for each in shape.attention)
    if shape.layers is not None and shape.attention and told != shape.layers:
        yield Problem(
            at(item, "attention"),
            f"these are {told} layers together, and the model has {shape.layers}",
            "layers that keep no K/V stand there too, with kv_heads 0; draft layers do not",
        )
    for number, each in enumerate(shape.attention):
        if shape.heads is not None and each.kv_heads > shape.heads:
            yield Problem(
                at(item, "attention", number, "kv_heads"),
                f"{each.kv_heads} heads of K and V: the model has {shape.heads} heads of Q, and a head of Q reads one of K",
            )
        if each.kv_heads and not each.key_size:
            yield Problem(
                at(item, "attention", number, "key_size"),
                f"{each.kv_heads} heads of K without numbers",
                "kv_heads 0 says that these layers keep none; where V is a part of K, value_size is 0",
            )


def _experts(item: Item, shape: Shape) -> Iterator[Problem]:
    rows = [number for number, each in enumerate(shape.weights) if each.role == "experts"]
    if shape.experts is None:
        for number in rows:
            yield Problem(
                at(item, "weights", number, "role"), "tensors of experts in a model without any", "write experts: {count, active}"
            )  # fmt: skip
        return
    if shape.experts.active > shape.experts.count:
        yield Problem(
            at(item, "experts", "active"),
            f"a token passes through {shape.experts.active} of {shape.experts.count} experts",
            "active counts no shared experts",
        )
    if not rows:
        yield Problem(
            at(item, "experts"),
            f"{shape.experts.count} experts a layer, and no tensor has the role experts",
            "their tensors would count as read by every token",
        )


def _output(item: Item, shape: Shape) -> Iterator[Problem]:
    rows = [number for number, each in enumerate(shape.weights) if each.role == "output"]
    if shape.tied and rows:
        yield Problem(
            at(item, "weights", rows[0], "role"),
            "the embedding table is read again as output (tied), and here is an output of its own",
            "a tied table counts once, as embedding",
        )
    if shape.tied is False and not rows:
        yield Problem(
            at(item, "tied"), "the model has an output of its own, and no tensor has the role output", "list it among weights"
        )  # fmt: skip
    if not shape.draft_layers:
        for number, each in enumerate(shape.weights):
            if each.role == "draft":
                yield Problem(
                    at(item, "weights", number, "role"), "tensors of draft layers in a model without any", "write draft_layers"
                )  # fmt: skip


def _bytes(item: Item, shape: Shape) -> Iterator[Problem]:
    # Imported here: documents of other kinds need no number formats.
    from hio_validate.costs.formats import UNKNOWN, bytes_each, bytes_of

    for number, each in enumerate(shape.weights):
        exact, about = bytes_of(each.type, each.elements), bytes_each(each.type)
        if exact is not None:
            wrong, expected = each.bytes != exact, str(exact)
        elif about != UNKNOWN:
            low, high = about.low * each.elements, about.high * each.elements
            wrong, expected = not low <= each.bytes <= high, f"{low:.0f} to {high:.0f}, scales included"
        else:
            continue
        if wrong:
            yield Problem(
                at(item, "weights", number, "bytes"),
                f"{each.elements} numbers of {each.type} take {each.bytes} bytes: expected {expected}",
                "one of elements, type and bytes is wrong",
            )


def _computed(item: Item, shape: Shape, view: View) -> Iterator[Problem]:
    """What differs from what the kept config.json gives; nothing where it has other bytes, or its kind is not known."""
    # Imported here: documents of other kinds need no configurations.
    from hio_validate.shaping.hf_shape import shape_of
    from hio_validate.shaping.refusal import CannotShape
    from hio_validate.source import digest_of
    from hio_validate.source.strict_json import strict_json

    kept = shape.source.file
    raw = view.repo.beside(item, kept.file) if kept and shape.source.format == "hf-config" else None
    if raw is None or kept is None or digest_of(raw) != f"sha256:{kept.sha256}":
        return
    try:
        config = strict_json(raw.decode("utf-8"))
        computed = shape_of(config, _dtype(shape)).as_document() if isinstance(config, dict) else {}
    except (CannotShape, ValueError, RecursionError):
        return
    said = shape.model_dump(exclude_none=True)
    for key in _COMPUTED:
        if key in computed and (rows := _differing(said.get(key), computed[key])) is not None:
            number, here, there = rows
            path = (key, number) if number is not None else (key,) if said.get(key) is not None else ()
            yield Problem(
                at(item, *path),
                f"{kept.file} gives {key} {there or 'no more'}, not {here or 'nothing'}",
                "read it again",
            )


_COMPUTED = (
    "layers",
    "embedding",
    "heads",
    "vocabulary",
    "tied",
    "attention",
    "experts",
    "weights",
    "draft_layers",
)
_DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


def _dtype(shape: Shape) -> str | None:
    """The number format of what is never quantised: as a person stated it, else as the embedding has it."""
    return shape.source.dtype or next(
        (_DTYPES.get(each.type) for each in shape.weights if each.role == "embedding"), None
    )


def _differing(said: Any, computed: Any) -> tuple[int | None, str, str] | None:
    """The first row, or the whole, that is not as computed: its number, what is said, what is computed."""
    if not isinstance(computed, list) or not isinstance(said, list):
        return None if _same(said, computed) else (None, _shown(said), _shown(computed))
    for number, row in enumerate(computed):
        if number >= len(said):
            return None, _shown(said[-1] if said else None), _shown(row)
        if not _same(said[number], row):
            return number, _shown(said[number]), _shown(row)
    return (len(computed), _shown(said[len(computed)]), "") if len(said) > len(computed) else None


def _same(said: Any, computed: Any) -> bool:
    """Equal, where a default that the computed one leaves out counts as stated."""
    if isinstance(said, dict) and isinstance(computed, dict):
        return {**computed, **{k: v for k, v in said.items() if k in computed or v}} == computed
    return bool(said == computed)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {each}" for key, each in value.items()) + "}"
    return "" if value is None else str(value)


RULE = Rule(
    "shape-contradicts-itself", Scope.DOCUMENT, Severity.ERROR, "a model's shape contradicts itself", check,
    kinds=("shape/v1",), contract=("9.2",), since=6,
)  # fmt: skip
