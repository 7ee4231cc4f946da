"""What tools write beside their results, or print of them: told as what it is, and which file of theirs to import.

Sources: loadgen/logging.cc of mlcommons/inference (accuracy log, trace; the detail log of v0.5 had no keys); AIPerf's
exporter_manager.py, console_metrics_exporter.py and dataset/ (inputs.json, phase_manifest.json); make_table of lm_eval/utils.py
of lm-evaluation-harness; Nsight Compute's pages without --csv.
"""

from __future__ import annotations

import re

from hio_validate.importing.results.source import Source

_SUMMARY = "import mlperf_log_summary.txt beside it"
_AIPERF = "import profile_export_aiperf.json or profile_export.jsonl beside it"
_KINDS = (
    (
        r'\A\s*(?:\[\s*)?\{\s*"seq_id"\s*:\s*\d+\s*,\s*"qsl_idx"\s*:',
        "it holds the answers of MLPerf's load generator as bytes, which nobody has judged here",
        "what the accuracy script of the benchmark says of them is in the accuracy.txt beside it",
    ),
    (
        r'\A\s*\{\s*"traceEvents"\s*:(?s:.*)"(?:IssueQuery|QuerySamplesComplete|LoadSamples)"',
        "it is a trace of MLPerf's load generator, for a viewer of traces",
        _SUMMARY,
    ),
    (
        r'\A\s*"pid": \d+, "tid": \d+, "ts": \d+ns : ',
        "it is a detail log of MLPerf's load generator v0.5, whose lines have no keys",
        _SUMMARY,
    ),
    (
        r"\A\s*(?:No|\d+) warnings? encountered[^\n]*\n\s*(?:No|\d+) errors? encountered[^\n]*\s*\Z",
        "the load generator measured nothing here: so it ends an accuracy run",
        "import mlperf_log_summary.txt of a performance run",
    ),
    (
        r'\A\s*\{\s*"data"\s*:\s*\[\s*\{\s*(?:"session_id"\s*:\s*"[^"]*"\s*,\s*)?"payloads?"\s*:',
        "it holds the requests that AIPerf or genai-perf sent, and nothing of what came back",
        "import profile_export_aiperf.json or profile_export_genai_perf.json beside it",
    ),
    (
        r'\A\s*\{\s*"phases"\s*:\s*\[(?s:.*)"phase_kind"\s*:',
        "it lists the phases of a run of AIPerf, and where their results are",
        "import the metrics_json of the phase of kind profiling",
    ),
    (
        r"\bNVIDIA AIPerf \| ",
        "it is the table that AIPerf prints, in which long names and numbers are cut and rounded",
        _AIPERF,
    ),
    (
        r"\|\s*Tasks?\s*\|\s*Version\s*\|(?:\s*Filter\s*\|\s*n-shot\s*\|)?\s*(?:Filter\s*\|\s*)?Metric\s*\|",
        "it is the table that lm-evaluation-harness prints, in which numbers are rounded to four digits",
        "import the results*.json that --output_path writes",
    ),
    (
        r"(?m)^[ \t]{0,20}Section: [^\n]{1,200}\n[ \t]{0,20}-{10}",
        "it is a page of ncu as it is printed, in which names and numbers are cut",
        "ncu --import FILE.ncu-rep --csv --page details > details.csv writes it as CSV",
    ),
)  # fmt: skip
"""What stands in such a file, what it is, and what to do. No pattern may take more than one pass over a head of blanks."""


def refuse_beside(source: Source) -> None:
    """Raises CannotImport for a file that lies beside results, and holds none."""
    for says, what, help in _KINDS:
        if re.search(says, source.head):
            raise source.refuse(what, help, code=3)
