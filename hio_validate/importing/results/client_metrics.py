"""How AIPerf and genai-perf count, by the tag of a metric; AIPerf grew out of genai-perf and kept its names.

Sources: src/aiperf/metrics/types/*.py of AIPerf (0.1 ... 0.12); genai-perf/genai_perf/profile_data_parser/
llm_profile_data_parser.py and metrics/statistics.py of perf_analyzer (r24.05 ... r25.05). The inter-token latency is
(request latency - time to first token) / (output tokens - 1), one observation a request; only the first genai-perf, which
called the lengths num_output_token, divided each gap by the tokens of its piece. Percentiles are interpolated
(numpy.percentile), std is divided by n.
"""

from __future__ import annotations

from typing import NamedTuple

from hio_validate.evidence.definitions import DEFINITIONS, UNITS
from hio_validate.evidence.observed import Observation


class Counted(NamedTuple):
    definition: str
    whole_run: bool = False
    """Whether there is one of it for the whole benchmark."""


METRICS = {
    "time_to_first_token": Counted("ttft-client"),
    "time_to_first_output_token": Counted("ttft-answer"),
    "time_to_second_token": Counted("second-piece-gap"),
    "inter_token_latency": Counted("itl-request-mean"),
    "inter_chunk_latency": Counted("itl-per-gap"),
    "request_latency": Counted("latency-request"),
    "output_token_throughput_per_user": Counted("decode-rate-request"),
    "output_token_throughput_per_request": Counted("rate-whole"),
    "e2e_output_token_throughput": Counted("rate-whole"),
    "prefill_throughput_per_user": Counted("prefill-rate-prompt"),
    "prefill_throughput": Counted("prefill-rate-prompt"),
    "input_sequence_length": Counted("prompt-length"),
    "output_sequence_length": Counted("generated-length"),
    "output_token_count": Counted("answer-length"),
    "reasoning_token_count": Counted("reasoning-length"),
    "request_throughput": Counted("throughput-requests", True),
    "output_token_throughput": Counted("throughput-output", True),
    "total_token_throughput": Counted("throughput-total", True),
    "goodput": Counted("goodput-requests", True),
    "request_goodput": Counted("goodput-requests", True),
    "benchmark_duration": Counted("duration", True),
}
"""Tag -> how it is counted."""
OTHER_TAGS = {"ttft": "time_to_first_token", "ttst": "time_to_second_token", "ttfo": "time_to_first_output_token",
              "num_input_token": "input_sequence_length", "num_output_token": "output_sequence_length"}  # fmt: skip
"""What early versions called them -> tag."""

_SAID = {"sec": "s", "s": "s", "seconds": "s", "ms": "ms", "us": "us", "µs": "us", "ns": "ns", "tokens/sec": "token/s",
         "tokens/sec/user": "token/s", "requests/sec": "request/s", "tokens": "1", "token": "1", "requests": "1",
         "count": "1", "%": "%"}  # fmt: skip


def unit_of(said: object, definition: str) -> str | None:
    """The unit that a metric of that definition has where the source says it this way; None: none that fits."""
    dimension = DEFINITIONS[definition].dimension
    if said == "per sec":  # genai-perf's CSV, of what is a rate by its name
        return next((unit for unit in UNITS[dimension] if unit.endswith("/s")), None)
    unit = _SAID.get(said) if isinstance(said, str) else None
    return unit if unit in UNITS[dimension] else None


def tag_of(name: str) -> str:
    """The tag of a metric by its tag in any version, or by its printed name."""
    tag = name.strip().lower().replace(" ", "_").replace("-", "_")
    return OTHER_TAGS.get(tag, tag)


LENGTHS = {"input_sequence_length": "prompt_tokens", "output_sequence_length": "generated_tokens"}
"""Tag of a length -> the fact of the workload that it is."""


def add_lengths(found: Observation) -> None:
    """Tell the lengths that were measured as workload, where the configuration asks for none."""
    for measured in found.metrics:
        if measured.name in LENGTHS and measured.statistic == "mean":
            found.workload.setdefault(LENGTHS[measured.name], measured.value)
