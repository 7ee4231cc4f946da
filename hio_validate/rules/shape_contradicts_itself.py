"""A model's shape whose own numbers contradict each other.

What an estimate reads, multiplies and keeps follows from these numbers alone (contract 9.2); one that cannot be makes a
bound that no machine explains. The layers by how they attend are all layers of the model; fewer heads of K and V than
heads; no more experts for a token than there are, and tensors of experts where there are any; bytes that so many numbers
of a format take; a table that is read again as output, or an output of its own.

How to fix: read the file again (`hio probe model FILE --write`), or correct what was written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

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


RULE = Rule(
    "shape-contradicts-itself", Scope.DOCUMENT, Severity.ERROR, "a model's shape contradicts itself", check,
    kinds=("shape/v1",), contract=("9.2",), since=6,
)  # fmt: skip
