"""The cases of test-backend-ops of llama.cpp, one after the other, from its text, its CSV or its SQL.

Source: tests/test-backend-ops.cpp of ggml-org/llama.cpp. Text: `Backend 1/2: CUDA0` (before June 2025 `Backend 1/2 (CUDA0)`),
then `  OP(params): ` with OK, FAIL, `not supported [...]` or `skipping large tensors for speed`; an error beyond the
tolerance stands as `[OP] ERR = e > t` (before 2026 `NMSE`) before the verdict or, where several threads test, before the
name. CSV has no column `passed`: a supported case without an error message passed. SQL quotes every value, and no quote in
one of them is doubled. An error within the tolerance is never printed, and the tolerance only with an error beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hio_validate.importing.results import delimited
from hio_validate.importing.results.source import Source

OK, FAILED, NOT_SUPPORTED, SKIPPED, SUPPORTED, TIMED = (
    "ok",
    "failed",
    "not-supported",
    "skipped",
    "supported",
    "timed",
)
UNFINISHED = "unfinished"
"""The program ended within the case: it is neither passed nor failed, and what came after it is unknown."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BACKEND = re.compile(r"^Backend \d+/\d+(?:: (?P<name>.+)| \((?P<old>.+)\))\s*$")
_DEVICE = re.compile(r"^\s+Device description: (?P<device>.+?)\s*$")
_CASE = re.compile(r"(?:^|\s)(?P<op>[A-Za-z][A-Za-z0-9_]*)\((?P<params>[^\n]*?)\):\s*(?P<rest>[^\n]*)$")
_ERROR = re.compile(r"\[(?P<op>\w+)\] (?:ERR|NMSE|MAA) = (?P<error>[-+.\w]+) > (?P<tolerance>[-+.\deE]+)")
_BROKEN = re.compile(r"\[\w+\] (?:NaN at|inf mismatch|inf sign mismatch|nonfinite gradient)")
_UNALLOCATED = re.compile(r"failed to allocate tensors(?: \[[^\]]*\])? ?")
UNNAMED = "unknown"
"""The operator of a case that failed before its name was printed."""
_TIMED = re.compile(r"(?P<runs>\d+) runs - +(?P<us>[\d.]+) us/run")
_PASSED = re.compile(r"^\s*(?P<passed>\d+)/(?P<total>\d+) tests passed\s*$")
_SQL = re.compile(r"^INSERT INTO test_backend_ops \((?P<columns>[^)]*)\) VALUES \((?P<values>.*)\);?\s*$")
IS_SQL = re.compile(r"^(?:CREATE TABLE IF NOT EXISTS|INSERT INTO) test_backend_ops\b", re.MULTILINE)
IS_CSV = re.compile(r'^"?(?:test_time"?,.*)?"?op_name"?,"?op_params"?,', re.MULTILINE)
IS_TEXT = re.compile(r"^Backend \d+/\d+(?:: .+| \(.+\))\s*$", re.MULTILINE)


class Case(NamedTuple):
    """One operator with one set of shapes and types on one backend."""

    line: int
    backend: str
    device: str | None
    operator: str
    params: str
    status: str
    error: float | None = None
    """Normalised mean squared error, or the operator's own; None: not told."""
    tolerance: float | None = None
    us: float | None = None
    """Microseconds of a run, where it was timed."""
    broken: bool = False
    """NaN or infinity where the reference has none (contract 7.5)."""


class Total(NamedTuple):
    """How many cases of a backend passed, as the tool counts them; those that are not supported are not among them."""

    line: int
    backend: str
    passed: int
    total: int


def cases(source: Source) -> Iterator[Case | Total]:
    """Every case and every total, in the order of the file. Raises CannotImport."""
    if IS_SQL.search(source.head):
        return _sql(source)
    return _csv(source) if IS_CSV.search(source.head) else _text(source)


def _text(source: Source) -> Iterator[Case | Total]:
    backend, device = "unknown", None
    pending = ""
    for number, raw in source.lines():
        line = _COLOUR.sub("", raw)
        while lost := _UNALLOCATED.search(line):
            named = _CASE.search(line[: lost.start()])
            yield Case(
                number,
                backend,
                device,
                named["op"] if named else UNNAMED,
                named["params"] if named else "",
                FAILED,
            )
            line = line[lost.end() :]
        if found := _BACKEND.match(line):
            backend, device = (found["name"] or found["old"]).strip(), None
        elif found := _DEVICE.match(line):
            device = found["device"]
        elif found := _PASSED.match(line):
            yield Total(number, backend, int(found["passed"]), int(found["total"]))
        elif found := _CASE.search(line):
            case = _case(number, backend, device, found, pending + line)
            if case:
                yield case
            pending = ""
        elif _ERROR.search(line) or _BROKEN.search(line):
            pending = line  # of the case that ends in the next line


def _case(number: int, backend: str, device: str | None, found: re.Match[str], line: str) -> Case | None:
    rest = found["rest"].strip()
    status = _status(rest)
    if status is None:
        return None
    error, timed = _ERROR.search(line), _TIMED.search(rest)
    return Case(
        number, backend, device, found["op"], found["params"], status,
        _number(error["error"]) if error else None,
        _number(error["tolerance"]) if error else None,
        float(timed["us"]) if timed else None,
        bool(_BROKEN.search(line)),
    )  # fmt: skip


def _status(rest: str) -> str | None:
    """What became of a case by the end of its line; None where the line is none."""
    if rest.startswith("not supported") or rest.endswith("NOT SUPPORTED"):
        return NOT_SUPPORTED
    if rest.startswith("skipping"):
        return SKIPPED
    if _TIMED.search(rest):
        return TIMED
    if not rest:
        return UNFINISHED
    last = rest.rpartition(" ")[2]
    return {"OK": OK, "FAIL": FAILED, "SUPPORTED": SUPPORTED}.get(last)


def _number(text: str) -> float | None:
    """A number; NaN and infinity of an error are none, the case has failed anyway."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _csv(source: Source) -> Iterator[Case]:
    header: list[str] | None = None
    before: dict[int, str] = {}
    for number, cells in delimited.rows(source, _rows_alone(source, before)):
        if header is None:
            header = [cell.strip() for cell in cells] if "op_name" in cells else None
            continue
        if len(cells) == len(header) + 1 and not cells[-1]:
            cells = cells[:-1]
        if len(cells) != len(header):
            said = f"{len(cells)} cells under a header of {len(header)} columns"
            raise source.refuse(said, "import the file as the tool wrote it", number)
        yield from _of_row(source, number, dict(zip(header, cells, strict=True)), before.pop(number, ""))


def _rows_alone(source: Source, before: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Lines from their first quote on; what a test printed in front of its row, such as its error, goes to `before`."""
    for number, raw in source.lines():
        text = _COLOUR.sub("", raw)
        said, quote, _ = text.partition('"')
        if quote and (_ERROR.search(said) or _BROKEN.search(said) or _UNALLOCATED.search(said)):
            before[number] = said
            text = text[len(said) :]
        yield number, text


def _sql(source: Source) -> Iterator[Case]:
    for number, raw in source.lines():
        said, insert, _ = _COLOUR.sub("", raw).partition("INSERT INTO test_backend_ops")
        if not insert:
            continue
        found = _SQL.match(raw[raw.index(insert) :])
        columns = [each.strip() for each in found["columns"].split(",")] if found else []
        values = found["values"].strip()[1:-1].split("', '") if found else []
        if len(columns) != len(values) or not columns:
            raise source.refuse(
                f"{len(values)} values for {len(columns)} columns",
                "import the file as the tool wrote it",
                number,
            )
        yield from _of_row(source, number, dict(zip(columns, values, strict=True)), said)


def _of_row(source: Source, number: int, row: Mapping[str, str], before: str) -> Iterator[Case]:
    """The case of a row; `before`: what was printed in front of it, which may tell of a case that has no row at all."""
    if not row.get("op_name") or row.get("supported") not in ("0", "1", "true", "false", "yes", "no"):
        raise source.refuse(
            "the row names no operator, or not whether it is supported",
            "import the file as the tool wrote it",
            number,
        )
    backend = row.get("backend_name") or row.get("backend_reg_name") or "unknown"
    if _UNALLOCATED.search(before):
        yield Case(number, backend, None, UNNAMED, "", FAILED)
    error = _ERROR.search(before)
    yield Case(
        number,
        backend,
        row.get("device_description") or None,
        row["op_name"],
        row.get("op_params", ""),
        _row_status(row),
        _number(error["error"]) if error else None,
        _number(error["tolerance"]) if error else None,
        broken=bool(_BROKEN.search(before)),
        us=_number(row.get("time_us", "")) or None if row.get("test_mode") == "perf" else None,
    )


def _row_status(row: Mapping[str, str]) -> str:
    if row["supported"] in ("0", "false", "no"):
        return NOT_SUPPORTED
    mode = row.get("test_mode", "test")
    if mode == "support":
        return SUPPORTED
    if mode == "perf":
        return TIMED
    passed = row.get("passed")
    if passed is None:
        return FAILED if row.get("error_message") else OK
    return OK if passed in ("1", "true") else FAILED
