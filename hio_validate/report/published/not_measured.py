"""What a run did not measure, so that nobody reads it into the result (contract 6.1, 6.4).

Invariant: a stage that the method cannot see is named, never 0; prefill and decode are judged apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.evidence.case import Case
from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.raw import Row, number
from hio_validate.evidence.trials import has_tokens

_DECODE = {"decode rate", "time per token"}
_PREFILL = {"prefill rate", "time to first token"}


def not_measured(case: Case) -> list[str]:
    """One sentence each: parts of a request, cache regimes, lengths and loads, then what the plan itself leaves untested."""
    return [*_parts(case), *_regimes(case), *_lengths(case), *_stages(case), *_unknown_metrics(case)]


def _parts(case: Case) -> Iterator[str]:
    names = [each.name for each in case.metrics if each.name in METRICS]
    quantities = {DEFINITIONS[METRICS[name].definition].quantity for name in names}
    others = sorted({each.name for each in case.metrics} - set(names))
    if others:
        yield f"whether {', '.join(others)} is prefill, decode or both: its definition is not one of hio's"
    if not quantities & _DECODE and not others:
        yield "decode"
    if not quantities & _PREFILL and not others:
        yield "prefill"


def _regimes(case: Case) -> Iterator[str]:
    regime = (case.regime or "").lower()
    if case.plan is not None and case.plan.method == "llama-bench":
        yield "a server with its queue, cache and sampling: llama-bench has none"
    elif regime.startswith("cold"):
        yield "a warm prefix cache and its tails: a gain on a cold prompt is none there"
    elif regime.startswith("warm"):
        yield "a fresh prompt of the whole length: a gain on a cached tail is no gain of a full prefill"
    else:
        yield "the cache regime is unknown, so neither a cold nor a warm request is known to be measured"


def _lengths(case: Case) -> Iterator[str]:
    rows = [row for trial in case.trials if trial.counted for row in trial.rows]
    said = [
        f"{what} of {span} tokens"
        for what, column in (("evaluated prompts", "evaluated"), ("answers", "generated"))
        if (span := _span(rows, column))
    ]
    if said:
        yield f"other lengths than {' and '.join(said)}"
    elif case.plan is not None and case.plan.bench is not None:
        bench = case.plan.bench
        yield f"other lengths than {bench.prompt_tokens} prompt and {bench.generated_tokens} generated tokens"
    else:
        yield "the lengths of prompts and answers are unknown"
    scope = case.model.scope
    if scope is not None and scope.regime and "," in scope.regime:
        yield f"another load than: {scope.regime.partition(',')[2].strip()}"


def _span(rows: Sequence[Row], column: str) -> str:
    known = [number(row, column) for row in rows if has_tokens(row.cells.get(column, ""))]
    if not known:
        return ""
    low, high = min(known), max(known)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _stages(case: Case) -> Iterator[str]:
    unseen = [stage for stage, column in case.model.stages.items() if column == "unknown"]
    if unseen:
        yield f"apart from the rest: {', '.join(unseen)}"


def _unknown_metrics(case: Case) -> Iterator[str]:
    for metric in case.metrics:
        legs = [str(each.number) for each in case.trials if each.counted and each.value(metric.name) is None]
        if legs:
            yield f"{metric.name} in leg {', '.join(legs)}"
