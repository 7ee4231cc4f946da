"""llama-bench of llama.cpp and its forks, in all five forms, every generation since 2023.

Invariant: all forms of one run give one and the same records, as far as the form tells them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Finding, Observation
from hio_validate.importing.results import llama_bench_tables as tables
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.llama_bench_fields import RESULTS, WORK, Row
from hio_validate.importing.results.llama_bench_forms import form_of
from hio_validate.importing.results.llama_bench_forms import rows as rows_of
from hio_validate.importing.results.llama_bench_record import record_of, test_of
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_BUILD = (
    re.compile(r'"build_commit"\s*:\s*"([^"]+)",\s*"build_number"\s*:\s*(\d{1,9})\b'),
    re.compile(r"^\"?'?([0-9a-f]{6,})[\"']?, ?[\"']?(\d{1,9})[\"']?,", re.MULTILINE),
    re.compile(r"VALUES ?\('([0-9a-f]+)', ?'?(\d{1,9})'?,"),
    re.compile(r"^build: ([0-9a-f]+) \((\d{1,9})\)", re.MULTILINE),
)
_NOT_DISTINGUISHING = RESULTS | WORK | {
    "build_commit", "build_number", "cpu_info", "gpu_info", "test_time", "model_size", "model_n_params",
    "model_size_shown", "model_n_params_shown", "test", "t/s",
}  # fmt: skip


def _recognises(source: Source) -> bool:
    if "test_backend_ops" in source.head:  # its SQL is of the same printer
        return False
    return form_of(source.head) is not None or tables.is_table(source.head)


def _generation(source: Source) -> str | None:
    form = form_of(source.head) or "table"
    found = next((found for pattern in _BUILD if (found := pattern.search(source.head))), None)
    return f"{form} of b{found[2]}-{found[1]}" if found and int(found[2]) and found[1] != "unknown" else form


def _read(source: Source) -> Iterator[Observation]:
    """The records; one is held back, so that what was skipped on the way is told by the last of them."""
    skipped = Skipped(source)
    form = form_of(source.head)
    held: Observation | None = None
    for each in _named(rows_of(source, form, skipped) if form else tables.rows(source)):
        if held:
            yield held
        held = each
    if held is None:
        raise source.refuse("it has no test: llama-bench measured nothing", "run it again", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    yield held


def _named(tests: Iterator[Row]) -> Iterator[Observation]:
    """Records with names that no two of them share: the test, and the settings in which it differs from the first row."""
    first: Mapping[str, Any] | None = None
    names = Names()
    for row in tests:
        # A setting that hio does not know makes another configuration, too.
        told = {key: value for key, value in row.values.items() if key not in _NOT_DISTINGUISHING}
        if row.foreign:
            told |= {key: value for key, value in row.foreign.items() if key not in _NOT_DISTINGUISHING}
        first = told if first is None else first
        name = " ".join([test_of(row), *_differing(first, told)])
        times = names.times(name)
        made = record_of(row, name if times == 1 else f"{name} #{times}")
        if times > 1:
            made.findings.append(
                Finding("repeated-row", f"{name} stands {times} times with the same settings", row.line)
            )
        yield made


def _differing(first: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[str]:
    """`n_threads=4` for each setting that is not as in the first row; the model by its type, where that tells it."""
    differing = {key for key, _ in first.items() ^ told.items()}
    for key in sorted(differing):
        if key == "model_filename" and "model_type" in differing:
            continue
        value = told.get(key, "untold")
        yield str(value) if key in ("model_type", "model_filename") else f"{key}={_shown(value)}"


def _shown(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


LLAMA_BENCH = Importer(
    format="llama-bench",
    about="results of llama-bench",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "a server: no template, tokenising, queue, slots or prompt cache took part",
        "sampling: the next token is drawn at random, not from the logits",
        "the prompt: its tokens are random",
        "whether the answers are right",
        "speculative decoding: it has none",
        "time to first token and gaps between tokens",
        "which bytes the model and the program have",
        "what else ran on the host, its clocks and its temperature",
        "whether the warm-up was left out, and the pause between tests",
        "where tensors really lay: the settings say what was asked for",
    ),
)
"""The importer."""
