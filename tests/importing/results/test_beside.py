"""What lies beside results is told as what it is, in one sentence, with the file to import; results themselves never are."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.beside import refuse_beside
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES

BESIDE = {
    "mlperf answers": (
        '[\n{ "seq_id" : 0, "qsl_idx" : 27, "data" : "00", "token_count" : 4 }\n]\n', "answers .* accuracy.txt"),
    "mlperf trace": (
        '{"traceEvents":[\n{"name":"LoadSamples","ph":"X","args":{"count":32}},\n', "a trace .* mlperf_log_summary"),
    "mlperf detail of v0.5": (
        '"pid": 966, "tid": 966, "ts": 17890ns : LoadgenVersionInfo:\n', "v0.5, .* mlperf_log_summary"),
    "mlperf accuracy run": (
        "\nNo warnings encountered during test.\n\nNo errors encountered during test.\n", "measured nothing here"),
    "aiperf inputs": (
        '{"data": [{"session_id": "a", "payloads": [{"model": "m"}]}]}', "requests that .* profile_export_aiperf.json"),
    "genai-perf inputs": (
        '{"data": [{"payload": [{"model": "m"}]}]}', "requests that .* profile_export_genai_perf.json"),
    "aiperf phases": (
        '{"phases": [{"end_ns": 1, "phase_kind": "warmup"}], "schema_version": 1}', "phases .* kind profiling"),
    "aiperf printed": (
        "\n   NVIDIA AIPerf | LLM Metrics\n\u250f\u2501\u2501\u2513\n", "prints, .* profile_export.jsonl"),
    "lm-eval printed": (
        "|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|\n|-----|------:|------|-----:|------|---|-----:|\n"
        "|gsm8k|      3|strict|     5|exact |   |0.5000|\u00b1  |0.0137|\n", "four digits; .*--output_path"),
    "lm-eval printed, v0.3": (
        "|  Task  |Version|Metric|Value |   |Stderr|\n|--------|------:|------|-----:|---|-----:|\n", "--output_path"),
    "ncu printed": (
        "  k(int) (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n    Section: GPU Speed Of Light\n"
        "    ----------------- ----------- ------------\n    Metric Name   Metric Unit Metric Value\n    ----------------- ----------- ------------\n", "ncu --import .*--csv"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BESIDE)
def test_what_lies_beside_results_is_named_with_what_to_import(tmp_path: Path, kind: str) -> None:
    text, said = BESIDE[kind]
    file = tmp_path / "given"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CannotImport, match=r"^given: (it|the load)") as error:
        importer_of(Source(file))
    assert error.match(said) and error.value.code == 3


def test_no_result_is_taken_for_what_lies_beside_it() -> None:
    for file in sorted(SAMPLES.rglob("*.*")):
        if importer_of(Source(file)) is not None:
            refuse_beside(Source(file))


@pytest.mark.parametrize(
    "text", [" ", "\n", "| ", "    Section: x\n", '"phase_kind"', "No warnings encountered\n "], ids=repr
)
def test_a_text_that_repeats_itself_is_soon_known_as_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "given"
    file.write_text(text * (65536 // len(text)))
    begun = process_time()
    refuse_beside(Source(file))
    assert process_time() - begun < 1
