"""An estimate on a terminal: what bounds it first, what to do next last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hio_validate.costs.amounts import best_guess, common_unit, percent, with_interval
from hio_validate.models.estimate import Candidate, Estimate, Term
from hio_validate.report import estimate_sentences as say
from hio_validate.report.columns_of_numbers import aligned
from hio_validate.report.estimate_memory import held, tells_of_memory
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.report.visible import columns as wide
from hio_validate.report.visible import visible


def text(estimate: Estimate, width: int = 80) -> str:
    """The whole page."""
    parts = [
        paragraph(say.headline(estimate), width) + paragraph(say.status(estimate), width),
        _facts(estimate, width),
        _ledger(estimate, width),
        _bound(estimate, width),
        _section("measured baseline", [say.measured(estimate)], width),
        _section("missing", say.missing(estimate), width),
        _section("findings", estimate.findings, width),
        _section("causes", _causes(estimate), width),
        _candidates(estimate, width),
        _assumptions(estimate, width),
        _next(estimate, width),
    ]
    return "\n".join(part for part in parts if part)


def _facts(estimate: Estimate, width: int) -> str:
    rows = [
        ("target", say.target(estimate)),
        ("path", f"paid once a {say.PER[estimate.path]}"),
        ("workload", say.workload(estimate)),
    ]
    if estimate.memory is not None and tells_of_memory(estimate):
        rows.append(("memory", held(estimate.memory, estimate.workload)))
    rows += [
        (
            "profile",
            say.pinned(estimate.profile) if estimate.profile else "none: where the time went is not known",
        )
    ]
    return table(rows, width)


def _section(title: str, sentences: Iterable[str], width: int) -> str:
    lines = "".join(paragraph(f"  {each}", width) for each in sentences)
    return f"{title}\n{lines}" if lines else ""


def _ledger(estimate: Estimate, width: int) -> str:
    """A row of numbers a term, and below it where they are from."""
    if not estimate.terms:
        return "ledger\n" + paragraph("  empty: no cost is known by its work and by its rate", width)
    unit = common_unit(each.time for each in estimate.terms)
    rows = [
        ("term", "work", "unit cost", "time", "confidence"),
        *(_row(each, unit) for each in estimate.terms),
    ]
    head, *blocks = _numbers(rows, width)
    told = "".join(
        block + "".join(paragraph(f"    {each}", width, 0) for each in _sources(term))
        for block, term in zip(blocks, estimate.terms, strict=True)
    )
    return f"ledger, each for one {say.PER[estimate.path]}\n{head}{told}"


def _numbers(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """One block a row, the head first; where a terminal is too narrow for columns, a sentence a row and no head."""
    lines = aligned(rows, 1, width).splitlines()
    if max(map(wide, lines)) <= width:
        return [f"{line}\n" for line in lines]
    (_, *names), *rest = rows
    told = [[row[0], *map(" ".join, zip(names, row[1:], strict=True))] for row in rest]
    return ["", *(paragraph(f"  {', '.join(cells)}", width) for cells in told)]


def _row(term: Term, unit: str) -> tuple[str, ...]:
    return (
        term.name,
        best_guess(term.work),
        best_guess(term.cost.amount),
        with_interval(term.time, unit),
        term.confidence,
    )


def _sources(term: Term) -> Iterator[str]:
    yield f"{term.about}; {term.source}"
    if term.work.low != term.work.high:
        yield f"work {with_interval(term.work)}"
    cost = term.cost.amount
    interval = f" {with_interval(cost)}" if cost.low != cost.high else ""
    yield f"unit cost{interval}: {say.unit_cost(term.cost)}"
    fixed = f", {with_interval(term.fixed)} of its time whatever the work" if term.fixed else ""
    yield f"uses {term.resource}{fixed}; refuted by {term.refuted_by}"


def _bound(estimate: Estimate, width: int) -> str:
    if estimate.bound is None:
        return _section("lower bound", ["missing: too little is known to bound it"], width)
    said = [*say.groups(estimate, estimate.bound), say.bound_sentence(estimate, estimate.bound)]
    return _section("lower bound", said, width)


def _causes(estimate: Estimate) -> Iterator[str]:
    for each in estimate.causes:
        shown = (
            f"profile {say.pinned(each.profile)}" if each.profile else "no profile shows it, so it is a guess"
        )
        yield f"{each.claim}: {shown}"


def _candidates(estimate: Estimate, width: int) -> str:
    if not estimate.candidates:
        return _section("candidates", [say.no_candidate(estimate)], width)
    head = ("rank", "at most", "share", "confidence", "cost")
    rows = [_of_candidate(rank, each) for rank, each in enumerate(estimate.candidates, 1)]
    title, *blocks = _numbers([head, *rows], width)
    told = (block + _told(each, width) for block, each in zip(blocks, estimate.candidates, strict=True))
    return f"candidates, the one to try first\n{title}{''.join(told)}"


def _of_candidate(rank: int, each: Candidate) -> tuple[str, ...]:
    return (
        str(rank),
        percent(each.gain_percent),
        percent(each.share_percent),
        each.confidence,
        say.minutes(each),
    )


def _told(each: Candidate, width: int) -> str:
    """Its mechanism, and what else is to be known before it is tried."""
    mechanism = f"    {each.name}: {each.mechanism} ({say.FAMILIES[each.family]}); {say.share_of(each)}"
    details = [(f"    {name}", said) for name, said in say.details(each)]
    return paragraph(mechanism, width, 0) + table(details, width)


def _assumptions(estimate: Estimate, width: int) -> str:
    """Those that change the first candidate; of the others only how many there are (contract 9.7)."""
    deciding = [each for each in estimate.assumptions if each.changes is not None]
    if not deciding:
        return ""
    said = [f"{each.name} {with_interval(each.amount)}: {each.changes}; {each.source}" for each in deciding]
    return _section("assumptions that change the first candidate: settle these", said, width)


def _next(estimate: Estimate, width: int) -> str:
    next_ = estimate.next
    if next_ is None:
        return f"NEXT EXPERIMENT: {say.no_experiment(estimate)}\n"
    rows = [
        ("NEXT EXPERIMENT", next_.experiment),
        ("PROVES", next_.proves),
        ("STOP IF", next_.stop_if),
        ("ROUTE", say.route(next_.route)),
    ]
    said = "".join(paragraph(f"{name}: {sentence}", width) for name, sentence in rows)
    return said + "".join(f"  {visible(line)}\n" for line in (next_.command or "").splitlines())
