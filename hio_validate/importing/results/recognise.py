"""Which format a result file has, by what stands in it and never by its name."""

from __future__ import annotations

from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.inference_perf import INFERENCE_PERF
from hio_validate.importing.results.inferencex import INFERENCEX
from hio_validate.importing.results.llama_bench import LLAMA_BENCH
from hio_validate.importing.results.mlperf import MLPERF_DETAIL, MLPERF_SUMMARY
from hio_validate.importing.results.mlperf_system import MLPERF_SYSTEM
from hio_validate.importing.results.sglang_bench import SGLANG_BENCH
from hio_validate.importing.results.sglang_offline import SGLANG_OFFLINE
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.vllm_bench import VLLM_BENCH
from hio_validate.importing.results.vllm_offline import VLLM_OFFLINE

IMPORTERS: tuple[Importer, ...] = (
    LLAMA_BENCH,
    INFERENCE_PERF,
    INFERENCEX,
    MLPERF_DETAIL,
    MLPERF_SUMMARY,
    MLPERF_SYSTEM,
    SGLANG_BENCH,
    SGLANG_OFFLINE,
    VLLM_BENCH,
    VLLM_OFFLINE,
)
"""Every format, the more particular before the more general."""


def importer_of(source: Source) -> Importer | None:
    """The format of a file; None where it is none that hio knows. Raises CannotImport where it cannot be read."""
    return next((importer for importer in IMPORTERS if importer.recognises(source)), None)
