"""Which format a result file has, by what stands in it and never by its name."""

from __future__ import annotations

from hio_validate.importing.results.aiperf import AIPERF
from hio_validate.importing.results.aiperf_rows import AIPERF_ROWS
from hio_validate.importing.results.genai_perf import GENAI_PERF
from hio_validate.importing.results.guidellm import GUIDELLM
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.inference_perf import INFERENCE_PERF
from hio_validate.importing.results.inferencex import INFERENCEX
from hio_validate.importing.results.llama_bench import LLAMA_BENCH
from hio_validate.importing.results.llama_server_facts import LLAMA_SERVER_FACTS
from hio_validate.importing.results.llama_server_log import LLAMA_SERVER_LOG
from hio_validate.importing.results.llama_server_metrics import LLAMA_SERVER_METRICS
from hio_validate.importing.results.llama_server_responses import LLAMA_SERVER
from hio_validate.importing.results.matched_table import MATCHED_TABLE
from hio_validate.importing.results.perf_analyzer import PERF_ANALYZER
from hio_validate.importing.results.rate_table import RATE_TABLE
from hio_validate.importing.results.sglang_bench import SGLANG_BENCH
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.vllm_bench import VLLM_BENCH

IMPORTERS: tuple[Importer, ...] = (
    LLAMA_BENCH,
    RATE_TABLE,
    MATCHED_TABLE,
    LLAMA_SERVER,
    LLAMA_SERVER_FACTS,
    LLAMA_SERVER_METRICS,
    INFERENCE_PERF,
    INFERENCEX,
    SGLANG_BENCH,
    VLLM_BENCH,
    LLAMA_SERVER_LOG,
    GUIDELLM,
    AIPERF_ROWS,
    AIPERF,
    PERF_ANALYZER,
    GENAI_PERF,
)
"""Every format, the more particular before the more general."""


def importer_of(source: Source) -> Importer | None:
    """The format of a file; None where it is none that hio knows. Raises CannotImport where it cannot be read."""
    return next((importer for importer in IMPORTERS if importer.recognises(source)), None)
