"""Hand-made tables of llama-bench's rates: a row a model, columns such as pp512_tps, pp512_stdev, tg128_tps, status.

Invariants: what failed or is empty is no 0; a standard deviation is never a rate; a comma in a number is a decimal one
only where nothing else can be meant.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_TEST = r"(?P<kind>pp|tg) ?(?P<tokens>\d{1,9})(?: ?@ ?d ?(?P<depth>\d{1,9}))?"
_RATE = re.compile(rf"{_TEST}[ _-]*\(?(?:tps|t/s|tok/s|tokens/s|tok_s|tok_per_s|tokens_per_second)\)?$")
_STD = re.compile(rf"{_TEST}[ _-]*(?:t/s|tps)?[ _-]*\(?(?:stdev|stddev|std|sd|std_dev)\)?$")
_OK = frozenset(
    {"ok", "success", "succeeded", "pass", "passed", "done", "complete", "completed", "yes", "true"}
)
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "none", "null", "nan"})
_SUBJECT = {
    "model": "model",
    "file": "model",
    "size_bytes": "model_size",
    "backend": "backends",
    "ngl": "n_gpu_layers",
}
_DEFINITIONS = {"pp": "prefill-rate-bench", "tg": "decode-rate-bench"}


class _Column(NamedTuple):
    test: str
    kind: str
    tokens: int
    depth: int
    is_spread: bool


class _Head(NamedTuple):
    delimiter: str
    names: list[str]
    columns: dict[int, _Column]


def _head(text: str) -> _Head | None:
    """The head of such a table; None where a line is none."""
    for delimiter in ",;\t":
        names = [name.strip().strip('"').lower() for name in text.strip().split(delimiter)]
        columns = {at: found for at, name in enumerate(names) if (found := _column(name))}
        if len(names) > 1 and any(not each.is_spread for each in columns.values()):
            return _Head(delimiter, names, columns)
    return None


def _column(name: str) -> _Column | None:
    rate = _RATE.match(name)
    found = rate or _STD.match(name)
    if found is None:
        return None
    depth = int(found["depth"] or 0)
    test = f"{found['kind']}{found['tokens']}" + (f"@d{depth}" if depth else "")
    return _Column(test, found["kind"], int(found["tokens"]), depth, rate is None)


def _recognises(source: Source) -> bool:
    first = next((line for line in source.head.splitlines() if line.strip() and not line.startswith("#")), "")
    return _head(first) is not None


def _read(source: Source) -> Iterator[Observation]:
    """A record for each test of each row, one for a row that failed or measured nothing."""
    skipped = Skipped(source)
    seen: dict[str, int] = {}
    held: Observation | None = None
    for made in _records(source, skipped):
        seen[made.name] = seen.get(made.name, 0) + 1
        if seen[made.name] > 1:
            made.findings.append(Finding("repeated-row", f"{made.name} stands more than once", made.line))
            made.name = f"{made.name} #{seen[made.name]}"
        if held:
            yield held
        held = made
    if held is None:
        raise source.refuse("the table has a head and no row: nothing was measured", "run it again", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    yield held


def _records(source: Source, skipped: Skipped) -> Iterator[Observation]:
    head: _Head | None = None
    for number, text in source.lines():
        if head is None and not text.startswith("#"):
            head = _head(text)
            if head and (twice := [name for name in head.names if head.names.count(name) > 1]):
                raise source.refuse(
                    f"two columns are called {twice[0]}", "keep the one that is meant", number
                )
        elif head is None or text.startswith("#"):
            skipped.line(number, text)
        else:
            yield from _row(source, head, number, _cells(source, head, number, text))


def _cells(source: Source, head: _Head, number: int, text: str) -> list[str]:
    try:
        cells = next(csv.reader([text], delimiter=head.delimiter, strict=True))
    except csv.Error:
        raise source.refuse("a quote does not end: the row is cut off", "complete the row", number) from None
    if len(cells) != len(head.names):
        hint = (
            ": is the comma in its numbers a decimal one?"
            if head.delimiter == "," and len(cells) > len(head.names)
            else ""
        )
        raise source.refuse(
            f"the row has {len(cells)} values, its head {len(head.names)}{hint}",
            "write decimal points, and one value for each column",
            number,
        )
    return [cell.strip() for cell in cells]


def _row(source: Source, head: _Head, number: int, cells: list[str]) -> Iterator[Observation]:
    told = dict(zip(head.names, cells, strict=True))
    texts = {at: cells[at] for at in head.columns if cells[at].lower() not in _NOTHING}
    status = told.get("status", "")
    failed = bool(status) and status.lower() not in _OK
    name = told.get("model") or told.get("file") or f"row-{number}"
    if failed or not texts:
        yield _without(head, number, name, told, bool(texts), failed)
        return
    for test in dict.fromkeys(column.test for column in head.columns.values()):
        made = _about(head, number, f"{name} {test}", told)
        made.requests = Requests(asked=1, completed=1) if status else Requests()
        columns = {at: column for at, column in head.columns.items() if column.test == test}
        for at, column in columns.items():
            made.workload = _workload(column)
            if at in texts:
                _add(source, made, head.names[at], column, texts[at])
        if not made.metrics and not made.findings:
            made.findings.append(
                Finding("nothing-measured", f"{name}: {test} is empty, which is no 0", number)
            )
        yield made


def _workload(column: _Column) -> dict[str, Fact]:
    prompt = column.kind == "pp"
    return {
        "prompt_tokens": column.tokens if prompt else 0,
        "generated_tokens": 0 if prompt else column.tokens,
        "depth_tokens": column.depth,
    }


def _about(head: _Head, number: int, name: str, told: Mapping[str, str]) -> Observation:
    subject: dict[str, Fact] = {}
    for key, value in told.items():
        if key in _SUBJECT and value:
            subject[_SUBJECT[key]] = int(value) if value.isdecimal() and len(value) < 20 else value[:200]
    named = {head.names[at] for at in head.columns} | {"status"}
    foreign: dict[str, Fact] = {
        key: value[:200] for key, value in told.items() if value and key not in named and key not in _SUBJECT
    }
    return Observation(name, number, subject=subject, foreign=foreign)


def _without(
    head: _Head, number: int, name: str, told: Mapping[str, str], has_numbers: bool, failed: bool
) -> Observation:
    made = _about(head, number, name, told)
    if failed:
        made.requests = Requests(asked=1, completed=0, failed=1)
        but = ", its numbers are not used" if has_numbers else ""
        made.findings.append(Finding("failed-row", f"{name}: status is {told['status']}{but}", number))
    else:
        made.findings.append(
            Finding("nothing-measured", f"{name}: all rates are empty, which is no 0", number)
        )
    return made


def _add(source: Source, made: Observation, name: str, column: _Column, text: str) -> None:
    value = _number(source, name, text, made.line)
    if "," in text:
        made.findings.append(Finding("decimal-comma", f"{name}: {text} was read as {value}", made.line))
    if not 0 <= value < math.inf or (value == 0 and not column.is_spread):
        made.findings.append(
            Finding("impossible-value", f"{name} is {text}: no test goes at such a rate", made.line)
        )
        return
    statistic = "spread" if column.is_spread else "mean"
    definition = _DEFINITIONS[column.kind]
    made.metrics.append(Measured(name, definition, statistic, value, "token/s", derived="," in text))


def _number(source: Source, name: str, text: str, line: int) -> float:
    plain = re.fullmatch(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?", text)
    comma = re.fullmatch(r"\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+", text)
    if not plain and not comma:
        why = (
            "a comma may be a decimal one or part thousands"
            if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text)
            else ""
        )
        raise source.refuse(
            f"{name} is {text[:40]!r}, expected a number{': ' + why if why else ''}",
            "write a decimal point",
            line,
        )
    return float(text.replace(".", "").replace(",", ".") if comma else text)


RATE_TABLE = Importer(
    format="rate-table",
    about="a hand-made table of rates",
    recognises=_recognises,
    read=_read,
    generation=lambda source: None,
    unknown=(
        "whether a standard deviation was divided by n or n - 1: it is given as a spread, and compared with nothing",
        "which tool measured it, and how: its columns are called as llama-bench calls its tests",
        "how often each test was repeated, and the single repetitions",
        "build, host, device and settings, unless a column says them",
        "when it was measured",
        "whether all rows were measured alike",
    ),
)
"""The importer."""
