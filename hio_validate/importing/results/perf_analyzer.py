"""perf_analyzer's profile_export.json: every request with the moments of its answers, a record for each experiment.

Source: src/profile_data_exporter.cc of perf_analyzer: `experiments`, each with `experiment` {mode, value}, `requests` and
`window_boundaries`; moments are nanoseconds. What an answer means is computed as genai-perf does: an answer without content
and the closing one of a stream count nowhere (llm_profile_data_parser.py). Texts are looked at, never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.columns import Columns
from hio_validate.importing.results.importer import Importer, is_number
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.span import Span, add_rates
from hio_validate.importing.results.summarised import find, judge_counts, without_secrets
from hio_validate.source.strict_json import strict_json

_LOAD = {"concurrency": "concurrency", "request_rate": "request_rate"}
_MOMENTS = re.compile(r'"response_timestamps"\s*:')


def recognises(source: Source) -> bool:
    head = source.head.lstrip()
    return (
        head.startswith("{")
        and '"experiments"' in head
        and bool(_MOMENTS.search(head) or '"window_boundaries"' in head)
    )


def generation(source: Source) -> str | None:
    """The version stands at the end of the file."""
    version = re.search(r'"version"\s*:\s*"([\w.+-]+)"', source.tail(4096))
    return version[1] if version else None


def read(source: Source) -> Iterator[Observation]:
    """Its experiments. Raises CannotImport."""
    export = source.json()
    experiments = export.get("experiments") if isinstance(export, dict) else None
    if not isinstance(experiments, list):
        raise source.refuse("expected a list of experiments", "import the file as perf_analyzer wrote it")
    if not experiments:
        raise source.refuse("it holds no experiment", "run perf_analyzer until one has ended", code=3)
    taken = Names()
    for number, experiment in enumerate(experiments, 1):
        if not isinstance(experiment, dict) or not isinstance(experiment.get("requests"), list):
            raise source.refuse(
                f"experiment {number} has no list of requests", "import the file as perf_analyzer wrote it"
            )
        yield _record(experiment, export, taken)


def _record(experiment: dict[str, Any], export: dict[str, Any], taken: Names) -> Observation:
    level = experiment.get("experiment")
    level = level if isinstance(level, dict) else {}
    mode, value = str(level.get("mode") or "experiment"), level.get("value")
    found = Observation(taken.distinct(f"{mode}-{value:g}" if is_number(value) else mode))
    found.subject = {"tool": "perf_analyzer"}
    for key, name in (
        ("version", "tool_version"),
        ("service_kind", "service_kind"),
        ("endpoint", "endpoint"),
    ):
        if isinstance(said := export.get(key), str) and said:
            found.subject[name] = without_secrets(said) if key == "endpoint" else said
    found.workload = {"load": mode}
    if mode in _LOAD and is_number(value):
        found.workload[_LOAD[mode]] = value
    with Columns(derived=True) as columns:
        run = _Run()
        for number, request in enumerate(experiment["requests"], 1):
            run.add(request if isinstance(request, dict) else {}, columns, number)
        columns.tell(found)
    found.requests = Requests(run.failed + run.completed, run.completed, run.failed)
    if run.completed and not run.streamed:
        found.metrics[:] = [each for each in found.metrics if each.name != "time_to_first_token"]
        found.unknown = ("time to first token: no answer came in more than one piece",)
    if (elapsed := run.span.elapsed) is not None:
        add_rates(found, elapsed, run.completed)
    elif run.completed:
        find(found, "no-duration", "the requests take no time: no rate can be computed")
    judge_counts(found)
    return found


class _Run:
    def __init__(self) -> None:
        self.completed = self.failed = 0
        self.streamed = False
        self.span = Span()

    def add(self, request: dict[str, Any], columns: Columns, number: int) -> None:
        start = request.get("timestamp")
        moments = _with_content(request.get("response_timestamps"), request.get("response_outputs"))
        if request.get("success") is False or type(start) is not int or not moments:
            self.failed += 1
            return
        if any(type(moment) is not int for moment in moments) or any(
            b < a for a, b in pairwise([start, *moments])
        ):
            self.failed += 1
            columns.fault(
                "impossible-value",
                "moments",
                f"request {number}: its moments are in no order, or no integers",
                0,
            )
            return
        self.completed += 1
        self.streamed = self.streamed or len(moments) > 1
        self.span.add(start, moments[-1])
        columns.add("request_latency", "latency-request", "ns", moments[-1] - start, 0)
        columns.add("time_to_first_token", "ttft-client", "ns", moments[0] - start, 0)
        for a, b in pairwise(moments):
            columns.add("inter_chunk_latency", "itl-per-gap", "ns", b - a, 0)


def _with_content(moments: Any, outputs: Any) -> list[Any]:
    """The moments of answers that bring content; all of them where the answers are not kept."""
    if not isinstance(moments, list):
        return []
    if not isinstance(outputs, list) or len(outputs) != len(moments):
        return moments
    return [moment for moment, output in zip(moments, outputs, strict=True) if _brings(output)]


def _brings(output: Any) -> bool:
    if not isinstance(output, dict):
        return True
    if isinstance(text := output.get("text_output"), str):
        return text != ""
    response = output.get("response")
    if not isinstance(response, str):
        return True
    parts = [part.strip().removeprefix("data:").strip() for part in response.strip().split("\n\n")]
    return any(_has_text(part) for part in parts)


def _has_text(event: str) -> bool:
    if event in ("", "[DONE]") or event.startswith(":"):
        return False
    try:
        said = strict_json(event)
    except (ValueError, RecursionError):
        return True  # half an event; what it holds is unknown
    choices = said.get("choices") if isinstance(said, dict) else None
    if not isinstance(choices, list):
        return isinstance(said, dict) and said.get("text_output", "x") != ""
    for choice in choices:
        held = choice.get("delta") or choice.get("message") or choice if isinstance(choice, dict) else {}
        if isinstance(held, dict) and any(held.get(key) for key in ("content", "reasoning_content", "reasoning", "text", "tool_calls")):  # fmt: skip
            return True
    return False


PERF_ANALYZER = Importer(
    "perf-analyzer",
    "perf_analyzer or genai-perf, every request (profile_export.json)",
    recognises,
    read,
    generation,
    (
        "tokens: it keeps texts, and no tokenizer is run, so that no time per token and no token rate is computed",
        "the model and the device, which engine and build served, and with which settings",
        "whether one piece of a stream held several tokens",
        "whether the server's cache answered",
    ),
    content=True,
)
