"""Lists of single requests that vLLM's and SGLang's clients save beside their statistics, held against them.

Lists are seconds and cover failed requests, too; statistics are milliseconds of the completed ones (`calculate_metrics` of
vllm/benchmarks/serve.py). Samples are given in the unit of the statistic that they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.record_numbers import Readings, is_measurable
from hio_validate.quantity import counted


def _list_of(values: Mapping[str, Any], key: str) -> list[Any] | None:
    found = values.get(key)
    return found if isinstance(found, list) and found else None


def hold_against_lists(readings: Readings, completed: int, first_token: str, gap: str | None) -> None:
    """Recomputes the statistics from the lists, failed requests left out as the writer does.

    `gap` is the definition that the list of gaps belongs to; None: the statistics were made from another one.
    """
    values = readings.values
    errors, outputs = _list_of(values, "errors"), _list_of(values, "output_lens")
    done = [at for at, error in enumerate(errors or ()) if not error]
    if len(done) != completed and outputs is not None:
        done = [at for at, length in enumerate(outputs) if is_measurable(length) and length]
    if errors is None and outputs is None:
        whole = _list_of(values, "latencies") or []
        done = list(range(len(whole)))
        if len(done) != completed or readings.values.get("failed"):
            return
    if len(done) != completed:
        text = f"{completed} requests are said to be completed, the lists hold {len(done)}"
        readings.finding("lists-contradict-counts", text)
        return
    _hold_totals(readings, done)
    ttfts, whole = _seconds(values, "ttfts", done), _seconds(values, "latencies", done)
    if ttfts:
        readings.hold_against(first_token, ttfts, keep=True)
    gaps = _list_of(values, "itls")
    if gaps is not None and len(gaps) > max(done, default=-1):
        _hold_gaps(readings, [gaps[at] for at in done if isinstance(gaps[at], list)], done, gap)
    if whole:
        readings.hold_against("latency-request", whole, keep=True)
        late = sum(first > end * (1 + 1e-9) for first, end in zip(ttfts, whole, strict=False))
        if late:
            names = [
                each.name for each in readings.metrics if each.definition in (first_token, "latency-request")
            ]
            readings.drop(
                names,
                "first-token-after-end",
                f"{counted(late, 'request')} had the first token after the end",
            )
        lengths = [outputs[at] for at in done] if outputs and len(outputs) > max(done) else []
        if ttfts and len(lengths) == len(whole) == len(ttfts) and all(map(is_measurable, lengths)):
            each = [
                (end - first) / (n - 1) for end, first, n in zip(whole, ttfts, lengths, strict=True) if n > 1
            ]
            readings.hold_against("itl-request-mean", each, keep=True)


def _seconds(values: Mapping[str, Any], key: str, done: list[int]) -> list[float]:
    """A list of seconds, of the completed requests, as milliseconds; empty where it does not cover them."""
    found = _list_of(values, key)
    if found is None or len(found) <= max(done, default=-1):
        return []
    return [found[at] * 1000 for at in done] if all(is_measurable(found[at]) for at in done) else []


def _hold_totals(readings: Readings, done: list[int]) -> None:
    for key, total, definition in (
        ("input_lens", "total_input_tokens", "throughput-input"),
        ("output_lens", "total_output_tokens", "throughput-output"),
    ):
        lengths, said = _list_of(readings.values, key), readings.values.get(total)
        if lengths is None or not is_number(said) or said == 0 or len(lengths) <= max(done, default=-1):
            continue
        summed = sum(lengths[at] for at in done if is_measurable(lengths[at]))
        if summed != said:
            names = [
                each.name for each in readings.metrics if each.definition in (definition, "throughput-total")
            ]
            readings.drop(
                names, "lists-contradict-counts", f"{total} is {said}, but {key} sum up to {summed}"
            )


def _hold_gaps(readings: Readings, gaps: list[list[Any]], done: list[int], gap: str | None) -> None:
    flat = [one * 1000 for each in gaps for one in each if is_measurable(one)]
    if not flat:
        return
    if gap is not None:
        readings.hold_against(gap, flat)
    outputs = _list_of(readings.values, "output_lens")
    tokens = (
        sum(outputs[at] for at in done if is_measurable(outputs[at]))
        if outputs and len(outputs) > max(done)
        else 0
    )
    pieces = len(flat) + len(gaps)
    if tokens > pieces * 1.02:
        readings.unknown.append(
            f"tokens in a piece: {tokens} tokens came in {pieces} pieces, so that a gap is not a token"
        )
