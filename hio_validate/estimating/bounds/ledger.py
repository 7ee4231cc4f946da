"""The cost ledger of one path: terms, how they overlap, what was assumed for them, and what is missing (contract 9.2).

Invariant: a term whose work or unit cost is not known is left out and said in `missing`; what is left out makes the bound
lower, never higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hio_validate.costs.composition import (
    METRIC_UNIT,
    Groups,
    as_metric,
    grouped,
    longest_of_groups,
    time_of,
    tokens_counted,
)
from hio_validate.costs.interval import Interval
from hio_validate.costs.loaded import as_loaded, quantises
from hio_validate.costs.units import Dimension, amount, fitting
from hio_validate.costs.work import stored_bytes
from hio_validate.estimating.bounds import terms
from hio_validate.estimating.bounds.asked import PATH_OF, Asked
from hio_validate.estimating.bounds.book import Book
from hio_validate.estimating.bounds.lengths import LENGTHS, corners, spanning, with_lengths
from hio_validate.estimating.bounds.operands import ONE, Work
from hio_validate.estimating.bounds.passes import Drafting, at_once, decode, drafting_of, prefill
from hio_validate.estimating.bounds.rates import stated
from hio_validate.models.estimate import Assumption, BoundTime, Term
from hio_validate.models.shape import Shape


@dataclass(frozen=True)
class Ledger:
    """The terms in the order in which they are shown."""

    terms: tuple[Term, ...] = ()
    groups: Groups = ()
    """What overlaps stands in one group; groups are added."""
    assumptions: tuple[Assumption, ...] = ()
    missing: tuple[str, ...] = ()
    """What is not known, one sentence each, with what to type."""

    @property
    def times(self) -> dict[str, Interval]:
        """Seconds of each term."""
        return {term.name: time_of(term) for term in self.terms}


def terms_of(inputs: Asked) -> Ledger:
    """The ledger of the path of `inputs`; where lengths are stated as intervals, as wide as those make it."""
    book = _book(with_lengths(inputs))
    for name in LENGTHS:
        for each in stated(inputs, name):
            if each.amount.low < each.amount.high:
                book.assume(each.name, each.amount, each.source)
    ends = [_book(with_lengths(each)).terms for each in corners(inputs)]
    found = spanning(book.terms, ends) if ends else tuple(book.terms)
    times: dict[str, Interval] = {term.name: time_of(term) for term in found}
    resources: dict[str, str] = {term.name: term.resource for term in found}
    return Ledger(found, grouped(times, resources), tuple(book.assumptions.values()), tuple(book.missing))


def _book(inputs: Asked) -> Book:
    """The ledger's terms for lengths that are one number each."""
    book = Book(inputs)
    match inputs.path:
        case "load":
            _load(book)
        case "setup":
            book.time("dispatch", "host", "start of one process", ONE, "process-start", "one process")
        case _:
            _passes(book)
    return book


def bound_of(ledger: Ledger, inputs: Asked) -> BoundTime | None:
    """The lower bound; None where no term is known, or the workload's shape is missing (contract 7.1)."""
    if not ledger.terms or (_shape(inputs) is None and inputs.path != "setup"):
        return None
    time = longest_of_groups(ledger.groups, ledger.times)
    return BoundTime.model_validate(
        {
            "groups": [list(group) for group in ledger.groups],
            "time": fitting(time, Dimension.TIME),
            "metric": _metric(time, with_lengths(inputs)),
        }
    )


def _metric(time: Interval, inputs: Asked) -> Any:
    """The bound as the target counts it; None for a metric of another path, and where its time is no pass's.

    Tokens that are drafted come several at once, so that a median gap is none; the only token of an answer follows from the
    prompt, in no time of decode.
    """
    metric = inputs.target.metric
    if PATH_OF[metric] != inputs.path or not time.low:
        return None
    if metric == "itl_ms" and inputs.workload.drafting:
        return None
    if inputs.path == "decode-token" and inputs.workload.generated_tokens == 1:
        return None
    counted = as_metric(time, metric, tokens_counted(inputs.workload, metric))
    unit = METRIC_UNIT[metric]
    return amount(counted * {"ms": 1e-3}.get(unit, 1.0), unit)


def _shape(inputs: Asked) -> Shape | None:
    return inputs.shape.model if inputs.shape else None


def _load(book: Book) -> None:
    shape = _shape(book.inputs)
    if shape is None:
        book.lacks_shape()
        return
    book.rate(
        "loading", "storage", "read the model file once, none of it in memory yet", stored_bytes(shape), "disk-read",
        "bytes of all its tensors",
    )  # fmt: skip


def _passes(book: Book) -> None:
    """The terms of passes over the model, and of a request around them."""
    shape, inputs = _shape(book.inputs), book.inputs
    if shape is None:
        book.lacks_shape()
    elif work := _loaded_work(book, shape):
        prices = terms.output_prices(book, work)
        rest = work.without_head() if prices else work
        terms.of_memory(book, shape, rest)
        terms.of_products(book, shape, rest)
        if work.head is not None and prices:
            terms.of_output(book, shape, work.head, prices)
        terms.of_passes(book, work)
        terms.of_drafting(book, shape, work)
    if inputs.path == "request":
        terms.of_request(book)


def _loaded_work(book: Book, shape: Shape) -> Work | None:
    """The work with the weights as the engine loads them: where it quantises them, between the fewest and the most bytes."""
    scheme = book.inputs.workload.loaded_as
    if scheme is None or not quantises(shape, scheme):
        return _work(book, shape)
    best, *ends = as_loaded(shape, scheme)
    work = _work(book, best)
    for each in ends:
        other = _work(Book(book.inputs), each)
        work = work.or_else(other) if work and other else None
    return work


def _work(book: Book, shape: Shape) -> Work | None:
    """What one unit of the path does; None where too little of the workload is known, which the book then says."""
    inputs, workload = book.inputs, book.inputs.workload
    if inputs.path == "decode-token":
        return _decode(book, shape)
    before = prefill(shape, workload)
    if before is None or workload.prompt_tokens is None:
        book.missing.append(
            "the number of prompt tokens is not known: name a fixture that ran, or state it with --assume prompt-tokens=N"
        )
        return None
    if workload.microbatch is None:
        most = Interval(1.0, 1.0, float(workload.prompt_tokens))
        book.assume(
            "passes", amount(most, "1"), "the microbatch is not known: one pass at least, one a token at most"
        )
        book.missing.append(
            "how many tokens of a prompt one pass evaluates is not known, so that the bound is wide: a setting of the stack says "
            "it, or --assume microbatch=N"
        )
    if inputs.path == "prefill-token":
        return before.times(ONE / Interval.exact(float(workload.prompt_tokens)))
    if inputs.target.metric != "wall_s":
        return before
    after = _decode(book, shape)
    if after is None or workload.generated_tokens is None:
        book.missing.append(
            "the number of generated tokens is not known: only the prompt counts; state it with --assume generated-tokens=N"
        )
        return before
    return before + after.times(Interval.exact(float(max(0, workload.generated_tokens - 1))))


def _decode(book: Book, shape: Shape) -> Work | None:
    inputs, workload = book.inputs, book.inputs.workload
    drafting = drafting_of(inputs)
    if drafting is None:
        book.missing.append(
            f"tokens are drafted ({workload.drafting}), and nobody says how many a pass: state it with --assume draft-tokens=N"
        )
        return None
    _assume_drafting(book, drafting)
    if (most := at_once(workload)) > 1:
        together = Interval(float(most), 1.0, float(most))
        book.assume("concurrency", amount(together, "1"), "not all requests decode at the same time")
    return decode(shape, workload, drafting)


def _assume_drafting(book: Book, drafting: Drafting) -> None:
    if book.inputs.workload.drafting is None:
        return
    for name in ("draft-tokens", "acceptance"):
        for each in stated(book.inputs, name):
            book.assume(each.name, each.amount, each.source)
        if name in book.inputs.counted:
            book.assume(name, book.inputs.counted[name], book.inputs.counted_by)
    if not {"acceptance"} & {*book.inputs.stated, *book.inputs.counted}:
        book.assume(
            "acceptance", amount(drafting.accepted, "1"), "nobody says it: none to all of the drafted tokens"
        )
