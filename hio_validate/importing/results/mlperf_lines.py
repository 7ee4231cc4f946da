"""What the lines of MLPerf's logs say, key by key. A line that says nothing known is kept, refused or skipped, never lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Finding
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.objects import Skipped
from hio_validate.importing.results.source import Source

_TITLE = "MLPerf Results Summary"
_PAIR = re.compile(r"\s*([^:*]+?)\s*:\s*(\S.*?)\s*$")
_PROCESSED = re.compile(
    r" \* (?:Only processed (\d{1,18}) queries|Processed at least \d+ queries \((\d{1,18})\)|Processed (\d{1,18}) queries)"
)
_KEPT = re.compile(r"result_|effective_|early_stopping|loadgen_|generated_|qsl_|sut_|performance_sample")
_OLD = re.compile(r":::MLPv[0-9.]+ (\S+) ([0-9.]+) \(([^)]*)\) (\w+)(?::\s*(.*))?$")
_ENCOUNTERED = re.compile(r"(\d+) (WARNING|ERROR)S? encountered")
BY_SAMPLE = "Per-sample "
"""Begins the name of what a summary says of single samples where it says the same of queries: MultiStream, to v1.1."""


class Said(NamedTuple):
    """What one run says."""

    line: int
    values: dict[str, Any]
    findings: list[Finding]


def _number(text: str) -> Any:
    """A value as a number, integers exact; else as the text it is."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def summaries(source: Source) -> Iterator[Said]:
    """Each summary of a file. Raises CannotImport for lines before the first."""
    skipped, said, of = Skipped(source), None, ""
    for line, text in source.lines():
        if text.strip() == _TITLE:
            if said is not None:
                yield _closed(said)
            said, of = Said(line, {}, []), ""
        elif said is None:
            if set(text.strip()) != {"="}:
                skipped.line(line, text)
        else:
            of = _section(text, of)
            _summary_line(said, line, text, of)
    if said is not None:
        if skipped.count:
            said.findings.append(skipped.finding())
        yield _closed(said)


def _closed(said: Said) -> Said:
    if "samples_per_query" not in said.values:
        said.findings.append(Finding("cut-short", "the summary ends before its test parameters", said.line))
    return said


def _section(text: str, before: str) -> str:
    """What the names of the lines from here on begin with."""
    if text.startswith("Per-sample latency"):
        return BY_SAMPLE
    return "" if text.startswith(("Per-query latency", "=")) else before


def _summary_line(said: Said, line: int, text: str, of: str) -> None:
    if set(text.strip()) == {"="} or text.strip() in ("Additional Stats", "Test Parameters Used"):
        return
    if found := _PROCESSED.match(text):
        said.values.setdefault("processed", int(next(group for group in found.groups() if group)))
    elif found := _ENCOUNTERED.search(text):
        kind = f"harness-{found[2].lower()}"
        said.findings.append(Finding(kind, f"the load generator tells {found[1]}: {text.strip()[:80]}", line))
    elif (pair := _PAIR.match(text)) and (key := of + pair[1]) not in said.values:
        said.values[key] = _number(pair[2])
    elif not text.rstrip().endswith(":") and not text.startswith("No "):
        said.values.setdefault(f"line {line}", text.strip())


def details(source: Source) -> Iterator[Said]:
    """The one run of a detail log. Raises CannotImport for a line that is none of a log, or broken."""
    said, skipped, wrong = Said(1, {}, []), Skipped(source), 0
    for line, text in source.lines():
        at = text.find(":::ML")
        if at < 0:
            skipped.line(line, text)
        elif text.startswith(":::MLLOG", at):
            entry = source.value_of(text[at + len(":::MLLOG") :].strip(), line)
            if not isinstance(entry, dict):
                raise source.refuse("a JSON object was expected", "import the log as it was written", line)
            wrong += _entry(said, entry, line, wrong)
        elif old := _OLD.search(text[at:]):
            said.values.setdefault("benchmark", old[1])
            said.values[old[4]] = _number(old[5]) if old[5] else True
        else:
            skipped.line(line, text)
    if skipped.count:
        said.findings.append(skipped.finding())
    if said.values:
        yield said


def _entry(said: Said, entry: dict[str, Any], line: int, before: int) -> int:
    """Keeps one entry; 1 where it is an error."""
    key, value, about = str(entry.get("key", "")), entry.get("value"), entry.get("metadata")
    if _KEPT.match(key):
        said.values[key] = value if is_number(value) or not isinstance(value, str) else _number(value)
    if isinstance(about, dict) and about.get("is_error") is True:
        if not before:
            said.findings.append(Finding("harness-error", f"{key}: {str(value)[:80]}", line))
        return 1
    return 0
