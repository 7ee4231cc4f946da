"""The report of inference-perf that lists each request: one record, computed from its times; texts are read past.

Source: inference_perf/reportgen/base.py (per_request_lifecycle_metrics); `info` had `output_token_times` itself, later they
stand in `info.response_metrics`, beside `info.request_metrics.text.input_tokens`. Since 0.7 an entry has the fields that were
asked for: `info` or not, `computed_metrics` or not. Times are seconds of one clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hio_validate.evidence.averages import mean
from hio_validate.evidence.observed import Fact, Finding, Measured, Observation, Requests
from hio_validate.importing.results.record_numbers import is_measurable
from hio_validate.importing.results.source import Source
from hio_validate.quantity import counted

_MOST = 100_000
"""Samples that a record keeps of one metric."""


class _Column:
    """One metric, request by request."""

    def __init__(self, name: str, definition: str) -> None:
        self.name, self.definition, self.samples = name, definition, list[float]()

    def measured(self) -> Measured | None:
        if not self.samples:
            return None
        kept = tuple(self.samples) if len(self.samples) <= _MOST else ()
        return Measured(
            self.name,
            self.definition,
            "mean",
            mean(self.samples),
            "s",
            len(self.samples),
            kept,
            True,
            bool(kept),
        )


class _Requests:
    """What the requests have said so far."""

    def __init__(self) -> None:
        self.whole = _Column("end_time - start_time", "latency-request")
        self.first = _Column("output_token_times[0] - start_time", "ttft-client")
        self.gap = _Column("(last - first) / (times - 1)", "gap-request-mean")
        self.token = _Column("computed_metrics.time_per_output_token", "itl-request-mean")
        self.asked = self.failed = self.wrong = 0
        self.starts, self.ends = list[float](), list[float]()
        self.prompts, self.answers = list[float](), list[float]()

    def add(self, row: Mapping[str, Any]) -> None:
        self.asked += 1
        start, end = row.get("start_time"), row.get("end_time")
        if not is_measurable(start) or not is_measurable(end) or end < start:
            self.wrong += 1
            return
        self.starts.append(start)
        self.ends.append(end)
        if row.get("error") is not None:
            self.failed += 1
            return
        self.whole.samples.append(end - start)
        times, prompt, answer = _told(row.get("info"))
        computed = row.get("computed_metrics")
        if isinstance(computed, dict) and not isinstance(row.get("info"), dict):
            prompt, answer = _of_computed(self.first, self.token, computed, end - start)
        self.prompts += [prompt] if prompt is not None else []
        self.answers += [answer] if answer is not None else []
        if len(times) > 1 and start <= times[0] <= times[-1] <= end:
            self.first.samples.append(times[0] - start)
            self.gap.samples.append((times[-1] - times[0]) / (len(times) - 1))

    @property
    def completed(self) -> int:
        return len(self.whole.samples)

    def findings(self) -> Iterator[Finding]:
        if self.wrong:
            yield Finding(
                "impossible-value",
                f"{counted(self.wrong, 'request')} with an end before the start, or without times",
            )
        if not self.completed:
            yield Finding(
                "zero-completed", "no request was completed, so that none of its numbers is a measurement"
            )

    def metrics(self) -> Iterator[Measured]:
        if self.completed and max(self.ends) > min(self.starts):
            elapsed = max(self.ends) - min(self.starts)
            yield Measured("duration", "duration", "value", elapsed, "s", derived=True)
        for column in (self.whole, self.first, self.gap, self.token):
            if measured := column.measured():
                yield measured


def of_requests(source: Source, rows: Iterable[Mapping[str, Any]]) -> Observation:
    """One record of all requests. Raises CannotImport where there is none."""
    found = _Requests()
    for row in rows:
        found.add(row)
    if not found.asked:
        raise source.refuse("it lists no request", "import another report of the run", code=3)
    workload: dict[str, Fact] = {"prompts": found.asked}
    for name, lengths in (("prompt_tokens", found.prompts), ("generated_tokens", found.answers)):
        if lengths and any(lengths):
            workload[name] = mean(lengths)
    requests = Requests(found.asked, found.completed, found.failed)
    return Observation(
        "requests", 1, None, {}, workload, requests, list(found.metrics()), {}, list(found.findings())
    )


def _of_computed(
    first: _Column, token: _Column, computed: Mapping[str, Any], whole: float
) -> tuple[float | None, float | None]:
    """Keeps what inference-perf computed of a request; its prompt tokens and generated tokens."""
    for column, key in ((first, "time_to_first_token"), (token, "time_per_output_token")):
        value = computed.get(key)
        if is_measurable(value) and value <= whole:
            column.samples.append(value)
    prompt, answer = computed.get("input_tokens"), computed.get("output_tokens")
    return prompt if is_measurable(prompt) else None, answer if is_measurable(answer) else None


def _told(info: Any) -> tuple[list[float], float | None, float | None]:
    """Times of the pieces, prompt tokens and generated tokens of a request, in the words of either generation."""
    if not isinstance(info, dict):
        return [], None, None
    answer = info.get("response_metrics")
    answer = answer if isinstance(answer, dict) else info
    asked = info.get("request_metrics")
    text = asked.get("text") if isinstance(asked, dict) else info
    times = answer.get("output_token_times")
    prompt = text.get("input_tokens") if isinstance(text, dict) else None
    made = answer.get("output_tokens")
    listed = times if isinstance(times, list) and all(map(is_measurable, times)) else []
    return listed, prompt if is_measurable(prompt) else None, made if is_measurable(made) else None
