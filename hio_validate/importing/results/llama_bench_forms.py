"""The forms in which llama-bench prints its tests: JSON, JSON lines, CSV, SQL and tables in Markdown.

Source: json_printer, jsonl_printer, csv_printer, sql_printer and markdown_printer of llama-bench.cpp.
Invariant: between the rows nothing is dropped silently. A line that is no row is refused, or skipped and counted where
that was asked for; a row that ends too early is refused either way. Markdown alone may hold other text.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.importing.results.llama_bench_fields import Row, Unreadable, row_of
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_ROW = r'(?:^|(?<=\[)|(?<=\n))\s*\{[^{}\[\]]*"build_commit"\s*:'
"""A row begins, at the outermost level or in an array there."""
_CUT = "the last row is cut off"
_AGAIN = "run llama-bench to its end, or remove the row"
_TYPICAL = ("n_prompt", "n_gen")
_INSERT = re.compile(r"INSERT INTO [\"`]?(?:llama_bench|test)[\"`]?(?: \(([^)]*)\))? VALUES ?\((.*)\);\s*$")
_COLUMN = re.compile(r"\s*[\"`]?(\w+)[\"`]? (?:TEXT|INTEGER|REAL)\b")
_VALUE = re.compile(r"\s*(?:'((?:[^']|'')*)'|([^,']*))\s*(?:,|$)")
_NO_NUMBER = re.compile(r"(?<=[\[,:] )-?(?:(inf)|nan)(?=[ ,\]}\n])")
"""What printf makes of what is no number; JSON has other words for it."""
_WORDS = (" nan", " -nan", " inf", " -inf")
"""One of them stands wherever that does; cpu_info has none."""
_PRETTY = re.compile(r'\s*(?:[\[\]{}]+,?|\[\s*\{|"\w+"\s*:.*|-?[\d.]+(?:[eE][-+]?\d+)?,?)\s*$')
"""A line of JSON as llama-bench, or a formatter, breaks it."""


def form_of(head: str) -> str | None:
    """json, jsonl, csv or sql; None where the head shows none of them."""
    if "build_commit" not in head:
        return None
    for line in head.splitlines():
        text = line.lstrip()
        if re.match(_ROW, text):
            return "jsonl"
        if text.startswith(("[", "{")) and re.search(_ROW, head):
            return "json"
        if "build_commit" in text and _header(text):
            return "csv"
        if (
            re.match(r"(?:CREATE TABLE|INSERT INTO)\b.*\b(?:llama_bench|test)\b", text)
            and "build_commit" in head
        ):
            return "sql"
    return None


def rows(source: Source, form: str, skipped: Skipped) -> Iterator[Row]:
    """The tests of a file, one after the other. Raises CannotImport."""
    told = {"json": _json, "jsonl": _jsonl, "csv": _csv, "sql": _sql}[form]
    for line, values in told(source, skipped):
        try:
            row = row_of(line, values)
        except Unreadable as error:
            raise source.refuse(str(error), "import the file as llama-bench wrote it", line) from None
        if missing := [key for key in _TYPICAL if key not in row.values]:
            lists = [key for key, value in values.items() if isinstance(value, list) and key in row.foreign]
            raise source.refuse(
                f"the row has no {' and no '.join(missing)}",
                f"keep the list under {lists[0]!r} alone" if lists else "expected a test of llama-bench",
                line,
            )
        yield row


_Told = Iterator[tuple[int, Mapping[str, Any]]]


def _followed(source: Source) -> Iterator[tuple[int, str, bool]]:
    """(number, text, whether it is the last) of every line that is not blank."""
    held: tuple[int, str] | None = None
    for each in source.lines():
        if held:
            yield *held, False
        held = each
    if held:
        yield *held, True


def _jsonl(source: Source, skipped: Skipped) -> _Told:
    for number, text, last in _followed(source):
        if not text.lstrip().startswith("{"):
            skipped.line(number, text)
            continue
        if last and not _ends(text):
            raise source.refuse(_CUT, _AGAIN, number)
        yield number, _object(source, source.value_of(_with_words(text), number), number)


def _ends(text: str) -> bool:
    try:
        json.loads(_with_words(text))
    except json.JSONDecodeError as error:
        return error.pos < len(text.rstrip()) and not error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        pass
    return True


def _with_words(text: str) -> str:
    """What printf wrote for no number, in JSON's words; done where it stands only."""
    return _NO_NUMBER.sub(_word, text) if any(word in text for word in _WORDS) else text


def _word(found: re.Match[str]) -> str:
    return ("-" if found[0].startswith("-") else "") + "Infinity" if found[1] else "NaN"


def _object(source: Source, value: Any, line: int) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise source.refuse("a row is no JSON object", "expected tests of llama-bench", line)
    return value


def _json(source: Source, skipped: Skipped) -> _Told:
    """An array, several arrays one after the other, or objects; each object with the line that it begins at."""
    text = _with_words(_without_log(source, skipped))
    decoder = json.JSONDecoder()
    at, depth, line, counted = 0, 0, 1, 0
    while at < len(text):
        if text[at] in " \t\r\n,":
            at += 1
        elif text[at] in "[]":
            depth += 1 if text[at] == "[" else -1
            at += 1
            if depth < 0:
                raise source.refuse("an array ends that never began", _AGAIN, text.count("\n", 0, at) + 1)
        else:
            line, counted = line + text.count("\n", counted, at), at
            try:
                _, end = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                    raise source.refuse(_CUT, _AGAIN, line) from None
                end = len(text)
            except (ValueError, RecursionError):
                end = len(text)
            yield line, _object(source, source.value_of(text[at:end], line), line)
            at = end
    if depth > 0:
        last = text.rstrip().count("\n") + 1
        raise source.refuse(
            "the array does not end: the run was cut off", "run it to its end, or with -o jsonl", last
        )


def _without_log(source: Source, skipped: Skipped) -> str:
    """The text with empty lines where the log was, so that line numbers stay."""
    kept: list[str] = []
    lines = source.text.rstrip().split("\n")
    for number, text in enumerate(lines, 1):
        # The last line may be cut off anywhere; that is told of the row it belongs to.
        is_data = (
            not text.strip() or _PRETTY.match(text) or text.lstrip().startswith(("{", '[{"', "[ {"))
        ) or (number == len(lines) and text.lstrip().startswith('"'))
        if not is_data:
            skipped.line(number, text)
        kept.append(text if is_data else "")
    return "\n".join(kept)


def _header(text: str) -> tuple[str, list[str]] | None:
    """(delimiter, names) of a line that heads columns."""
    for delimiter in ",;\t":
        names = [name.strip().strip('"') for name in text.strip().split(delimiter)]
        if {"build_commit", *_TYPICAL} <= set(names):
            return delimiter, names
    return None


def _csv(source: Source, skipped: Skipped) -> _Told:
    head: tuple[str, list[str]] | None = None
    for number, text, last in _followed(source):
        if "build_commit" in text and (found := _header(text)):
            head = found
            if twice := [name for name in head[1] if head[1].count(name) > 1]:
                raise source.refuse(
                    f"two columns are called {twice[0]}", "keep the one that is meant", number
                )
            continue
        cells = _cells(text, head[0]) if head else None
        if head and cells is not None and len(cells) == len(head[1]):
            yield number, dict(zip(head[1], cells, strict=True))
        elif head and (text.startswith('"') or (last and head[0] in text)):
            what = _CUT if last else f"the row has {len(cells or ())} values, its head {len(head[1])}"
            raise source.refuse(what, _AGAIN, number)
        else:
            skipped.line(number, text)


def _cells(text: str, delimiter: str) -> list[str] | None:
    """The values of a line; None where a quote does not end."""
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return None


def _sql(source: Source, skipped: Skipped) -> _Told:
    """The statements of sql_printer, or of a dump of the database they made."""
    columns: list[str] = []
    creating = False
    for number, text, _ in _followed(source):
        if text.startswith("CREATE TABLE"):
            columns, creating = [], not text.rstrip().endswith(";")
        elif creating:
            column = _COLUMN.match(text)
            columns += [column[1]] if column else []
            creating = not text.lstrip().startswith(")")
        elif text.startswith("INSERT INTO"):
            yield number, _inserted(source, text, columns, number)
        elif not re.match(r"(?:BEGIN|COMMIT|PRAGMA)\b.*;\s*$", text):
            skipped.line(number, text)


def _inserted(source: Source, text: str, columns: list[str], number: int) -> Mapping[str, Any]:
    found = _INSERT.match(text)
    if found is None:
        raise source.refuse("the INSERT is cut off, or of another table", _AGAIN, number)
    names = [name.strip().strip('"`') for name in found[1].split(",")] if found[1] else columns
    # sql_printer doubles no quote: a name with an apostrophe is split right only between whole values.
    values = found[2].strip()[1:-1].split("', '")
    if len(values) != len(names):
        values = [
            (one.replace("''", "'") if one else other)
            for one, other in _VALUE.findall(found[2])[: len(names)]
        ]
    if len(values) != len(names):
        raise source.refuse(f"the INSERT has {len(values)} values for {len(names)} columns", _AGAIN, number)
    return dict(zip(names, values, strict=True))
