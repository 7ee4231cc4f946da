"""The report of inference-perf that lists each request: one record, computed from its times; texts are read past.

Source: inference_perf/reportgen/base.py (per_request_lifecycle_metrics); `info` had `output_token_times` itself, later they
stand in `info.response_metrics`, beside `info.request_metrics.text.input_tokens`. Times are seconds of one clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hio_validate.evidence.averages import mean
from hio_validate.evidence.observed import Fact, Finding, Measured, Observation, Requests
from hio_validate.importing.results.readings import is_measurable
from hio_validate.importing.results.source import Source

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


def of_requests(source: Source, rows: Iterable[Mapping[str, Any]]) -> Observation:
    """One record of all requests. Raises CannotImport where there is none."""
    whole = _Column("end_time - start_time", "latency-request")
    first = _Column("output_token_times[0] - start_time", "ttft-client")
    gap = _Column("(last - first) / (times - 1)", "gap-request-mean")
    asked, failed, wrong = 0, 0, 0
    starts, ends, prompts, answers = list[float](), list[float](), list[float](), list[float]()
    for row in rows:
        asked += 1
        start, end = row.get("start_time"), row.get("end_time")
        if not is_measurable(start) or not is_measurable(end) or end < start:
            wrong += 1
            continue
        starts.append(start)
        ends.append(end)
        if row.get("error") is not None:
            failed += 1
            continue
        whole.samples.append(end - start)
        times, prompt, answer = _told(row.get("info"))
        prompts += [prompt] if prompt is not None else []
        answers += [answer] if answer is not None else []
        if len(times) > 1 and start <= times[0] <= times[-1] <= end:
            first.samples.append(times[0] - start)
            gap.samples.append((times[-1] - times[0]) / (len(times) - 1))
    if not asked:
        raise source.refuse("it lists no request", "import another report of the run", code=3)
    completed = len(whole.samples)
    findings = (
        [Finding("impossible-value", f"{wrong} requests end before they start, or tell no time")]
        if wrong
        else []
    )
    if not completed:
        findings.append(
            Finding(
                "zero-completed", "no request was completed, so that none of its numbers is a measurement"
            )
        )
    workload: dict[str, Fact] = {"prompts": asked}
    for name, lengths in (("prompt_tokens", prompts), ("generated_tokens", answers)):
        if lengths and any(lengths):
            workload[name] = mean(lengths)
    metrics = [each for column in (whole, first, gap) if (each := column.measured())]
    if completed and max(ends) > min(starts):
        metrics.insert(
            0, Measured("duration", "duration", "value", max(ends) - min(starts), "s", derived=True)
        )
    return Observation(
        "requests", 1, None, {}, workload, Requests(asked, completed, failed), metrics, {}, findings
    )


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
