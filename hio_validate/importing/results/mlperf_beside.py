"""What MLPerf's load generator writes beside its summary, which holds no measurement: told as what it is, and what to import.

Sources: loadgen/logging.cc of mlcommons/inference (accuracy log, trace) and the detail log of v0.5, which had no key.
"""

from __future__ import annotations

import re

from hio_validate.importing.results.source import Source

_SUMMARY = "import mlperf_log_summary.txt beside it"
_KINDS = (
    (
        re.compile(r'\A\s*\[?\s*\{\s*"seq_id"\s*:\s*\d+\s*,\s*"qsl_idx"\s*:'),
        "it holds the answers of MLPerf's load generator as bytes, which nobody has judged here",
        "what the accuracy script of the benchmark says of them is in the accuracy.txt beside it",
    ),
    (
        re.compile(r'\A\s*\{\s*"traceEvents"\s*:.*"(?:IssueQuery|QuerySamplesComplete|LoadSamples)"', re.DOTALL),
        "it is a trace of MLPerf's load generator, for a viewer of traces",
        _SUMMARY,
    ),
    (
        re.compile(r'\A\s*"pid": \d+, "tid": \d+, "ts": \d+ns : '),
        "it is a detail log of MLPerf's load generator v0.5, whose lines have no keys",
        _SUMMARY,
    ),
    (
        re.compile(r"\A\s*(?:No|\d+) warnings? encountered[^\n]*\n\s*(?:No|\d+) errors? encountered[^\n]*\s*\Z"),
        "the load generator measured nothing here: so it ends an accuracy run",
        "import mlperf_log_summary.txt of a performance run",
    ),
)  # fmt: skip
"""How such a file begins, what it is, and what to do."""


def beside(source: Source) -> tuple[str, str] | None:
    """What the file is and what to do, where it is one of those; None: it is not."""
    return next(((what, help) for begins, what, help in _KINDS if begins.match(source.head)), None)
