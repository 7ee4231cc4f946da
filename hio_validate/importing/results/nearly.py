"""Files of a benchmark that hio does not import: what they are by what stands in them, and what to import in their place.

Sources: the prints of vllm/benchmarks/serve.py and sglang/bench_serving.py; convert_to_pytorch_benchmark_format of
vllm/benchmarks/lib/utils.py; llama_perf_context_print, ggml_cuda_init and their like of llama.cpp; its
tools/batched-bench and ik_llama.cpp's examples/sweep-bench; vllm/v1/metrics/loggers.py, sglang's scheduler; api/types.go
of ollama.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.source import Source

_END = 16 << 10
"""Bytes of the end that are looked at, too: a benchmark prints its table after its log."""


class _Kind(NamedTuple):
    shows: re.Pattern[str]
    """Found in the head or the end of such a file and of no configuration."""
    what: str
    """May name groups of `shows`, as {0}."""
    help: str
    measured: bool = True
    """Whether it holds measurements at all; exit 3 where not."""


_KINDS = (
    _Kind(
        re.compile(r"^=+ Serving Benchmark Result[^=\n]*=+\s*$", re.MULTILINE),
        "it is what a serving benchmark printed: rounded, without the client's arguments",
        "import the file that it wrote: vllm bench serve --save-result, or bench_serving --output-file",
    ),
    _Kind(
        re.compile(r'\{\s*"benchmark"\s*:\s*\{[^\x00]{0,8000}?"benchmark_values"\s*:'),
        "it is vLLM's copy of its results for PyTorch's dashboard, with neither counts nor statistics by their names",
        "import the file beside it whose name has no .pytorch",
    ),
    _Kind(
        re.compile(r'"(\w{1,60})"\s*:\s*\[?\s*\{\s*"build_commit"\s*:'),
        'rows of llama-bench lie within its objects, under "{0}"',
        "take them out: jq -c '.. | objects | select(has(\"build_commit\"))' FILE > rows.jsonl",
    ),
    _Kind(
        re.compile(r"^[ >\t|]*PP[ \t]*\|[ \t]*TG[ \t]*\|(?:[ \t]*B[ \t]*\|)?[ \t]*N_KV[ \t]*\|", re.MULTILINE),
        "it is a table of llama-batched-bench or llama-sweep-bench: one time for each row, of no repetition",
        "measure the same with llama-bench: -d sets the depth",
    ),
    _Kind(
        re.compile(r"^(?:llama_print_timings|llama_perf_context_print|common_perf_print):", re.MULTILINE),
        "it is what a program of llama.cpp printed of its one process, no log of a server",
        "measure with llama-bench, or import the log of llama-server",
    ),
    _Kind(
        re.compile(
            r"\A\s*(?:ggml_(?:cuda|metal|vulkan|sycl)\w*: |ggml_backend_\w+: |load_backend: |warning: asserts enabled)"
        ),
        "a program of llama.cpp named its devices, and no result follows",
        "its last lines say why it ended: mend that and run it again",
        measured=False,
    ),
    _Kind(
        re.compile(r"^(?:# (?:HELP|TYPE) )?(vllm|sglang):\w+", re.MULTILINE),
        "it is a snapshot of {0}'s /metrics, whose sums and buckets mix all requests since its start",
        "measure with a client that keeps its results: vllm bench serve --save-result",
    ),
    _Kind(
        re.compile(r"Avg generation throughput: [\d.]+ tokens/s|Decode batch.{0,200}gen throughput \(token/s\): "),
        "it is the log of a vLLM or SGLang server: averages over some seconds of whatever ran in them",
        "measure with a client that keeps its results: vllm bench serve --save-result",
    ),
    _Kind(
        re.compile(r'"eval_duration"\s*:'),
        "it is an answer of Ollama",
        "measure llama-server, whose answers have timings, or with llama-bench",
    ),
    _Kind(
        re.compile(r'"timings"\s*:\s*\{[^{}]*"predicted_(?:ms|per_second)"'),
        "its timings do not say how many tokens were evaluated and generated",
        "keep the answer as it came: prompt_n and predicted_n are among llama-server's timings",
    ),
    _Kind(
        re.compile(r'"object"\s*:\s*"(?:chat\.completion|text_completion)(?:\.chunk)?"'),
        "it is an answer without timings: how long it took is unknown",
        "llama-server adds timings to its answers; others are measured by a client, such as vllm bench serve",
        measured=False,
    ),
    _Kind(
        re.compile(r'"(?:mean|median)_ttft_ms"\s*:'),
        "it has times of a serving benchmark, but not how many requests were completed, in which time",
        "import the file as the benchmark wrote it: it says completed, duration and total_input_tokens",
    ),
    _Kind(
        re.compile(r'"(?:inter_token_latency_ms|time_per_output_token_ms|time_to_first_token_ms)"\s*:'),
        "it has GuideLLM's names, but neither its version nor its type: who counted these numbers, and how, is unknown",
        "import the report as guidellm wrote it, with metadata or type_",
    ),
)  # fmt: skip


def refusal(source: Source) -> CannotImport | None:
    """How to refuse a file that is none of hio's formats and yet of a benchmark; None where it is of none."""
    end = source.tail(_END).replace("\r\n", "\n") if source.size > len(source.head) else ""
    for kind in _KINDS:
        for text, from_head in ((source.head.replace("\r\n", "\n"), True), (end, False)):
            if found := kind.shows.search(text):
                start = found.start() + len(found[0]) - len(found[0].lstrip())
                line = 1 + text.count("\n", 0, start) if from_head else 0
                what = kind.what.format(*found.groups())
                return source.refuse(what, kind.help, line, 1 if kind.measured else 3)
    return None
