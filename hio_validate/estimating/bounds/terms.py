"""The terms of a ledger: each one's work, what one unit of it costs, and what can show that it is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hio_validate.costs.composition import SERIAL, grouped, longest_of_groups, time_of
from hio_validate.costs.interval import ZERO, Interval, end_by_end, total
from hio_validate.costs.loaded import SCHEMES, quantises
from hio_validate.costs.units import Dimension, amount, base, fitting
from hio_validate.costs.work import draft_bytes
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.book import Book
from hio_validate.estimating.bounds.kept import of_kept
from hio_validate.estimating.bounds.kernels import Kernel
from hio_validate.estimating.bounds.limit import Limit, what_bounds
from hio_validate.estimating.bounds.operands import Head, Operand, Work
from hio_validate.estimating.bounds.price import Price
from hio_validate.estimating.bounds.rates import (
    price_of,
    product_price,
    reading_price,
    stated,
    together,
)
from hio_validate.estimating.bounds.threads import with_threads_of
from hio_validate.models.estimate import UnitCost
from hio_validate.models.shape import Shape


def output_prices(book: Book, work: Work) -> dict[Operand, Price]:
    """What the output layer costs, where the engine's own kernel was measured for all of its formats; else nothing.

    Where only a rate of memory is known, its weights might be read while the rest is multiplied: then it is no term of its own.
    """
    operands = work.head.read if work.head is not None else {}
    found = {each: reading_price(book.inputs, each) for each in operands}
    prices = {each: kernel.price for each, kernel in found.items() if kernel is not None and kernel.reads}
    return prices if len(prices) == len(operands) else {}


def of_output(book: Book, shape: Shape, head: Head, prices: Mapping[Operand, Price]) -> None:
    """The output layer of the last token: its products begin when the rest of the pass has ended."""
    share = 1 / book.inputs.workload.devices
    read = {each: part * share for each, part in head.read.items()}
    price = together(read, prices)
    limit = what_bounds(with_threads_of(book.inputs, next(iter(read)).batched is not False), price)
    book.add(
        "output", limit.resource,
        f"read and multiply the output layer for the last token, after the rest of the pass{limit.said}",
        fitting(total(*read.values()), Dimension.DATA), price, f"shape {shape.name}: tensors of the output",
    )  # fmt: skip


def of_memory(book: Book, shape: Shape, work: Work) -> None:
    """Weights, and what is kept of each sequence, of one device."""
    devices = book.inputs.workload.devices
    share = 1 / devices
    read = {each: part * share for each, part in work.weights.items()}
    kernels = _reading(book, read)
    if kernels:
        kept = {each: read[each] for each in kernels}
        every = together(kept, {each: kernel.price for each, kernel in kernels.items()})
        whole = [each for each, kernel in kernels.items() if kernel.reads]
        limit = _limit(book.inputs, work, kept, kernels)
        about = "read the weights that a pass uses" + (", of one device" if devices > 1 else "")
        about += f", arithmetic with {_by_how_many(whole)} included" if whole else ""
        if whole and limit.unknown:
            book.missing.append(limit.unknown)
        book.add(
            "weights", limit.resource, about + limit.said, fitting(total(*kept.values()), Dimension.DATA), every,
            f"shape {shape.name}: tensors by role and number format{_as_loaded(book, shape)}",
        )  # fmt: skip
    of_kept(book, shape, work)


def _as_loaded(book: Book, shape: Shape) -> str:
    scheme = book.inputs.workload.loaded_as
    if scheme is None or not quantises(shape, scheme):
        return ""
    found = SCHEMES[scheme]
    return (
        f"; {', '.join(sorted(found.roles))} quantised to {found.type} while they are loaded ({found.source})"
    )


def _limit(
    inputs: Asked, work: Work, read: Mapping[Operand, Interval], kernels: Mapping[Operand, Kernel]
) -> Limit:
    """What bounds the kernels that have most of the time of reading; the arithmetic of the others is a term of its own."""
    times = {each: part.value / kernels[each].price.interval.value for each, part in read.items()}
    for batched in (False, None, True):
        parts = [each for each in read if each.batched is batched]
        spent = sum(times[each] for each in parts)
        multiplied = [each for each in parts if work.products.get(each, ZERO).high]
        if 2 * spent > sum(times.values()) and multiplied and all(kernels[each].reads for each in multiplied):
            prices = {each: kernels[each].price for each in parts}
            price = together({each: read[each] for each in parts}, prices)
            return what_bounds(with_threads_of(inputs, batched is not False), price)
    return Limit("memory")


def _by_how_many(operands: Iterable[Operand]) -> str:
    counts = sorted({each.vectors.value for each in operands if each.vectors})
    if counts == [1.0]:
        return "one vector"
    return f"{', '.join(f'{count:.3g}' for count in counts)} vectors"


def _reading(book: Book, read: Mapping[Operand, Interval]) -> dict[Operand, Kernel]:
    found = {each: reading_price(book.inputs, each) for each in read}
    lacking = sorted({each.type for each, kernel in found.items() if kernel is None})
    if lacking:
        book.lacks("memory-read", f"reading {', '.join(lacking)}")
    return {each: kernel for each, kernel in found.items() if kernel is not None}


def of_products(book: Book, shape: Shape, work: Work) -> None:
    """Arithmetic of one device, without the products that are measured together with reading their weights."""
    inputs = book.inputs
    measured = [each for each in work.weights if (kernel := reading_price(inputs, each)) and kernel.reads]
    share = 1 / inputs.workload.devices
    parts = {each: part * share for each, part in work.products.items() if each not in measured}
    prices = {each: price for each in parts if (price := product_price(inputs, each))}
    if len(prices) < len(parts):
        lacking = sorted({each.type for each in parts if each not in prices})
        book.lacks("matmul", f"products with {', '.join(lacking)}")
    fastest = max(prices.values(), key=lambda each: each.interval.high, default=None)
    for each, part in work.attention.items():
        of_keys = Operand(inputs.workload.key_type or "f16", None, each.batched)
        if price := product_price(inputs, of_keys) or fastest:
            parts[each], prices[each] = part * share, price
    kept = {each: parts[each] for each in prices}
    if not kept:
        return
    about = "products with the weights" if set(kept) - set(work.attention) else "attention"
    if set(work.attention) & set(kept) and about != "attention":
        about += " and attention"
    if measured:
        types = dict.fromkeys(each.type for each in measured)
        about += f"; products with {', '.join(types)} are in the rate of reading them"
    book.add(
        "compute", "compute", about, fitting(total(*kept.values()), Dimension.WORK), together(kept, prices),
        f"shape {shape.name}: two operations a number that a token passes",
    )  # fmt: skip


def of_passes(book: Book, work: Work) -> None:
    """Collectives, launches and what the host does between passes."""
    _collectives(book, work)
    launches, launch = book.inputs.stated.get("launches"), price_of(book.inputs, "launch")
    if launches and launch:
        _state(book, "launches")
        count = base(launches) * work.passes
        book.add(
            "launches",
            "launch",
            "launch the kernels of a pass",
            amount(count, "1"),
            launch,
            "stated: launches",
        )
    elif launches:
        book.lacks("launch", "the launches")
    elif launch:
        book.missing.append(
            "the number of kernel launches of a pass is not known: state it with --assume launches=N"
        )
    gap = price_of(book.inputs, "host-gap")
    if gap:
        gaps = work.passes
        if book.inputs.path == "request":  # between passes: one less than there are
            gaps = Interval(gaps.value, max(0.0, gaps.low - 1), gaps.high)
        book.add(
            "host-gaps",
            "host",
            "the host between two passes",
            amount(gaps, "1"),
            gap,
            "passes over the model",
        )


def _collectives(book: Book, work: Work) -> None:
    inputs = book.inputs
    moved, link = inputs.stated.get("collective-bytes"), price_of(inputs, "link")
    if moved is None:
        if inputs.workload.devices > 1:
            book.missing.append(
                "bytes that a pass moves between devices are not known: state them with --assume collective-bytes=N"
            )
        return
    if link is None:
        book.lacks("link", "the collectives")
        return
    _state(book, "collective-bytes")
    latency, count = price_of(inputs, "link-latency"), inputs.stated.get("collectives")
    fixed = None
    if latency:
        each_pass = latency.interval * base(count) if count else latency.interval
        fixed = fitting(each_pass * work.passes, Dimension.TIME)
        if count:
            _state(book, "collectives")
        else:
            book.missing.append(
                "the number of collectives of a pass is not known: link-latency counts once; state it with --assume collectives=N"
            )
    for each in latency.assumptions if latency else ():
        book.assume(each.name, each.amount, each.source)
    book.add(
        "collectives", "interconnect", "move results between the devices",
        fitting(base(moved) * work.passes, Dimension.DATA), link, "stated: collective-bytes", fixed=fixed,
        confidence=latency.confidence if latency else "medium",
    )  # fmt: skip


def of_drafting(book: Book, shape: Shape, work: Work) -> None:
    """Drafting goes before the pass that verifies: by what a person states, else by the layers that draft."""
    if not work.drafted.high:
        return
    inputs, said = book.inputs, book.inputs.stated.get("draft-cost")
    looks_up = "ngram" in (inputs.workload.drafting or "").lower()
    own = draft_bytes(shape)
    if said and inputs.path == "decode-token":
        _state(book, "draft-cost")
        times: dict[str, Interval] = {
            term.name: time_of(term) for term in book.terms if term.name not in SERIAL
        }
        if not times:
            return
        within = longest_of_groups(grouped(times, {term.name: term.resource for term in book.terms}), times)
        one_pass = end_by_end(lambda whole, count: whole / count, within, work.passes)
        cost = base(said) * one_pass
        price = Price(
            cost,
            UnitCost(amount=fitting(cost, Dimension.TIME), assumed="stated: draft-cost of one pass"),
            "low",
        )
        book.add("draft", "memory", "draft tokens", amount(work.drafted, "1"), price, "stated: draft-tokens")
    elif own.high and not looks_up:
        share = own * (1 / inputs.workload.devices)
        book.rate(
            "draft",
            "memory",
            "read the layers that draft",
            share * work.drafted,
            "memory-read",
            f"shape {shape.name}: role draft",
        )
    elif not looks_up:
        book.missing.append(
            "what drafting a token costs is not known: state it with --assume draft-cost=SHARE of a pass"
        )


def of_request(book: Book) -> None:
    """What stands around the passes of a request: waiting for its turn, and the way there and back."""
    inputs = book.inputs
    one = amount(Interval.exact(1.0), "1")
    if wait := price_of(inputs, "queue-wait"):
        book.add("queueing", "queue", "wait before the request is begun", one, wait, "stated: queue-wait")
    elif inputs.workload.concurrency > 1:
        book.missing.append("how long a request waits is not known: state it with --assume queue-wait=TIME")
    trip = price_of(inputs, "http-round-trip")
    if trip is None:
        book.lacks("http-round-trip", "the term dispatch")
        return
    # Measured between a client and a server of its own: another pair may be faster, so that nothing is certain of it.
    open_end = Interval(trip.interval.value, 0.0, trip.interval.high)
    cost = trip.cost.model_copy(update={"amount": amount(open_end, trip.cost.amount.unit)})
    book.add(
        "dispatch", "host", "one request and its answer over HTTP; another client or server may be faster", one,
        replace(trip, interval=open_end, cost=cost), "one request",
    )  # fmt: skip


def _state(book: Book, name: str) -> None:
    for each in stated(book.inputs, name):
        book.assume(each.name, each.amount, each.source)
