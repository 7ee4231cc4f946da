"""An estimate as Markdown, to be put into an issue: the ledger, the candidates, the one next experiment."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.amounts import common_unit, percent, with_interval
from hio_validate.models.estimate import Candidate, Estimate, Term
from hio_validate.report import estimate_sentences as say
from hio_validate.report.estimate_memory import held, tells_of_memory
from hio_validate.report.prose import bullets, cell, command, grid, paragraph, text

_LEDGER = ("Term", "Work", "Unit cost", "Estimated time", "Source", "Confidence")
_CANDIDATES = ("Rank", "Mechanism", "Profile share", "Max impact", "Confidence", "Experiment cost")


def markdown(estimate: Estimate) -> str:
    """The whole page; words of documents stay words."""
    fixture = estimate.workload.fixture
    name = estimate.service + (f", {fixture.partition('@')[0]}" if fixture else "")
    parts = [
        f"# Performance hint pass: {text(name)}",
        paragraph(f"**{text(say.headline(estimate))}.**"),
        paragraph(f"Status: {text(say.status(estimate).replace(': ', ', ', 1))}"),
        paragraph(f"Target: {text(say.target(estimate))}"),
        paragraph(f"Workload: {text(say.workload(estimate))}"),
        *_memory(estimate),
        "## Estimate ledger",
        *_ledger(estimate),
        "## Ranked candidates",
        *_candidates(estimate),
        *_assumptions(estimate),
        *_next(estimate),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _memory(estimate: Estimate) -> Iterator[str]:
    if estimate.memory is not None and tells_of_memory(estimate):
        yield paragraph(f"Memory: {text(held(estimate.memory, estimate.workload))}")


def _ledger(estimate: Estimate) -> Iterator[str]:
    if estimate.terms:
        unit = common_unit(each.time for each in estimate.terms)
        yield paragraph(f"Each for one {say.PER[estimate.path]}.")
        yield grid(_LEDGER, [_row(each, unit) for each in estimate.terms])
    bound = estimate.bound
    said = "missing, too little is known"
    if bound is not None:
        said = f"{say.bound_sentence(estimate, bound)} ({'; '.join(say.groups(estimate, bound))})"
    yield paragraph(f"Estimated lower bound: {text(said)}")
    yield paragraph(f"Measured baseline: {text(say.measured(estimate))}")
    yield from _list("Missing:", say.missing(estimate))
    yield from _list("Findings:", estimate.findings)
    causes = [
        f"{each.claim}: {f'profile {say.pinned(each.profile)}' if each.profile else 'no profile shows it'}"
        for each in estimate.causes
    ]
    yield from _list("Causes:", causes)


def _list(title: str, sentences: list[str]) -> Iterator[str]:
    if sentences:
        yield title
        yield bullets(map(text, sentences))


def _row(term: Term, unit: str) -> list[str]:
    fixed = f"; {with_interval(term.fixed)} of its time is fixed" if term.fixed else ""
    source = f"{term.about}; {term.source}; unit cost: {say.unit_cost(term.cost)}{fixed}; refuted by {term.refuted_by}"
    cells = [
        f"{term.name} ({term.resource})",
        with_interval(term.work),
        with_interval(term.cost.amount),
        with_interval(term.time, unit),
        source,
        term.confidence,
    ]
    return [cell(each) for each in cells]


def _candidates(estimate: Estimate) -> Iterator[str]:
    if not estimate.candidates:
        yield f"{say.no_candidate(estimate).capitalize()}."
    else:
        rows = [_candidate(rank, each) for rank, each in enumerate(estimate.candidates, 1)]
        yield grid(_CANDIDATES, rows)
        yield bullets(
            text(f"{rank}, {each.name}: " + "; ".join(f"{name}: {said}" for name, said in say.details(each)))
            for rank, each in enumerate(estimate.candidates, 1)
        )


def _candidate(rank: int, each: Candidate) -> list[str]:
    cells = [
        f"{each.name}: {each.mechanism} ({say.FAMILIES[each.family]})",
        f"{percent(each.share_percent)}; {say.share_of(each)}",
        f"at most {percent(each.gain_percent)}",
        each.confidence,
        say.minutes(each),
    ]
    return [str(rank), *map(cell, cells)]


def _assumptions(estimate: Estimate) -> Iterator[str]:
    yield from _list(
        "Assumptions that change the first candidate:",
        [
            f"{each.name} {with_interval(each.amount)}: {each.changes}; {each.source}"
            for each in estimate.assumptions
            if each.changes is not None
        ],
    )


def _next(estimate: Estimate) -> Iterator[str]:
    next_ = estimate.next
    if next_ is None:
        yield f"NEXT EXPERIMENT: {say.no_experiment(estimate)}"
        return
    yield paragraph(f"NEXT EXPERIMENT: {text(next_.experiment)}")
    yield paragraph(f"PROVES: {text(next_.proves)}")
    yield paragraph(f"STOP IF: {text(next_.stop_if)}")
    yield paragraph(f"ROUTE: {text(say.route(next_.route))}")
    if next_.command:
        yield command(*next_.command.splitlines())
