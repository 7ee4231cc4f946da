"""Which format a result file has, by what stands in it and never by its name."""

from __future__ import annotations

from hio_validate.importing.results.aiperf import AIPERF
from hio_validate.importing.results.aiperf_rows import AIPERF_ROWS
from hio_validate.importing.results.backend_ops import TEST_BACKEND_OPS
from hio_validate.importing.results.beside import refuse_beside
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
from hio_validate.importing.results.lm_eval import LM_EVAL
from hio_validate.importing.results.lm_eval_samples import LM_EVAL_SAMPLES
from hio_validate.importing.results.matched_table import MATCHED_TABLE
from hio_validate.importing.results.mlperf import MLPERF_DETAIL, MLPERF_SUMMARY
from hio_validate.importing.results.mlperf_system import MLPERF_SYSTEM
from hio_validate.importing.results.ncu import NCU
from hio_validate.importing.results.no_text import refuse_no_text
from hio_validate.importing.results.nsys import NSYS
from hio_validate.importing.results.perf_analyzer import PERF_ANALYZER
from hio_validate.importing.results.rate_table import RATE_TABLE
from hio_validate.importing.results.sglang_bench import SGLANG_BENCH
from hio_validate.importing.results.sglang_offline import SGLANG_OFFLINE
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.vllm_bench import VLLM_BENCH
from hio_validate.importing.results.vllm_offline import VLLM_OFFLINE

IMPORTERS: tuple[Importer, ...] = (
    TEST_BACKEND_OPS,
    LLAMA_BENCH,
    LM_EVAL,
    LM_EVAL_SAMPLES,
    RATE_TABLE,
    MATCHED_TABLE,
    LLAMA_SERVER,
    LLAMA_SERVER_FACTS,
    LLAMA_SERVER_METRICS,
    INFERENCE_PERF,
    INFERENCEX,
    MLPERF_DETAIL,
    MLPERF_SUMMARY,
    MLPERF_SYSTEM,
    SGLANG_BENCH,
    SGLANG_OFFLINE,
    VLLM_BENCH,
    GUIDELLM,
    AIPERF_ROWS,
    AIPERF,
    PERF_ANALYZER,
    GENAI_PERF,
    LLAMA_SERVER_LOG,
    VLLM_OFFLINE,
    NSYS,
    NCU,
)
"""Every format, the more particular before the more general."""


def importer_of(source: Source) -> Importer | None:
    """The format of a file; None where it is none that hio knows. Raises CannotImport where it cannot be read, or lies
    beside results."""
    refuse_no_text(source)
    found = next((importer for importer in IMPORTERS if importer.recognises(source)), None)
    if found is None:
        refuse_beside(source)
    return found
