"""Hand-kept tables of matched runs: a row a configuration, with prefill and decode as time and rate, and what was drafted.

Invariants: which tokens a rate counts is found by arithmetic from time, rate and count, within what their digits show, and
is unknown where that does not decide; an empty cell is absent and no 0; a row is one run.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Fact, Finding, Measured, Observation
from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_LABELS = ("config", "configuration", "arm", "variant", "candidate", "name")
_STAGE = {
    "prefill": "prefill",
    "prompt": "prefill",
    "decode": "decode",
    "generation": "decode",
    "wall": "wall",
}
_UNITS = {
    "ms": "ms",
    "s": "s",
    "sec": "s",
    **dict.fromkeys(("tok_s", "tok/s", "tps", "t_s", "t/s"), "token/s"),
}
_MEASURE = re.compile(rf"({'|'.join(_STAGE)})[_ ]?\(?({'|'.join(sorted(_UNITS, key=len, reverse=True))})\)?")
_COUNTS = {
    "prompt_tokens": "prompt_tokens", "generated": "generated_tokens", "generated_tokens": "generated_tokens",
    "cached": "cached_tokens", "cached_tokens": "cached_tokens", "accepted": "accepted_tokens",
    "drafted": "drafted_tokens", "target_batches": "target_batches", "concurrency": "concurrency",
}  # fmt: skip
"""Column -> fact of the workload."""
_COMMENTS = {
    "prompt_tokens": re.compile(r"(~?)\b(\d+) prompt tokens|(~?)prompt[_ ]tokens[:= ]+(\d+)"),
    "generated_tokens": re.compile(
        r"(~?)\b(\d+) (?:tokens )?generated|(~?)generated(?:[_ ]tokens)?[:= ]+(\d+)"
    ),
}
_COUNT = r"[0-9]{1,15}"
_ONE_RUN = re.compile(r"\b(?:one|1|single) run per row", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "none", "null"})


class _Head(NamedTuple):
    delimiter: str
    names: list[str]
    label: str
    measures: dict[str, tuple[str, str]]
    """Column -> (stage, unit)."""


class _Value(NamedTuple):
    """A number with the half of its last digit."""

    value: float
    off: float


def _head(line: str) -> _Head | None:
    for delimiter in "\t,;":
        names = [name.strip().strip('"').lower() for name in line.split(delimiter)]
        label = next((name for name in _LABELS if name in names), None)
        measures = {
            name: (_STAGE[found[1]], _UNITS[found[2]])
            for name in names
            if (found := _MEASURE.fullmatch(name))
        }
        if label and any(stage != "wall" for stage, _ in measures.values()):
            return _Head(delimiter, names, label, measures)
    return None


def _recognises(source: Source) -> bool:
    lines = (line for line in source.head.splitlines() if line.strip() and not line.startswith("#"))
    return _head(next(lines, "")) is not None


def _read(source: Source) -> Iterator[Observation]:
    """A record a row. Raises CannotImport."""
    comments: list[str] = []
    seen: dict[str, int] = {}
    head, held = None, None
    skipped = Skipped(source)
    for number, text in source.lines():
        if text.startswith("#"):
            comments.append(text)
        elif head is None:
            head = _head(text)
            if head is None:
                skipped.line(number, text)
            elif twice := next((name for name in head.names if head.names.count(name) > 1), None):
                raise source.refuse(f"two columns are called {twice}", "keep the one that is meant", number)
        else:
            if held:
                yield held
            held = _row(source, head, comments, number, text)
            seen[held.name] = seen.get(held.name, 0) + 1
            if seen[held.name] > 1:  # an arm has several runs
                held.name = f"{held.name} #{seen[held.name]}"
    if held is None:
        raise source.refuse("the table has a head and no row: nothing was measured", "run it again", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    if is_cut(source):
        held.findings.append(Finding("cut-short", CUT, held.line))
    yield held


def _row(source: Source, head: _Head, comments: list[str], number: int, text: str) -> Observation:
    try:
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=head.delimiter, strict=True))]
    except csv.Error:
        raise source.refuse("a quote does not end: the row is cut off", "complete the row", number) from None
    if len(cells) != len(head.names):
        raise source.refuse(
            f"the row has {len(cells)} values, its head {len(head.names)}",
            "write one value for each column",
            number,
        )
    told = {name: cell for name, cell in zip(head.names, cells, strict=True) if cell.lower() not in _NOTHING}
    made = Observation(
        told.get(head.label, f"row-{number}"),
        number,
        subject={"configuration": told.get(head.label, "unknown")},
    )
    made.workload = _workload(told, comments, made)
    known = {head.label, *head.measures, *_COUNTS}
    made.foreign = {name: cell[:200] for name, cell in told.items() if name not in known}
    values = {
        name: value for name in head.measures if name in told and (value := _value(name, told[name], made))
    }
    once = 1 if any(_ONE_RUN.search(each) for each in comments) else None
    for name, (stage, unit) in head.measures.items():
        if name in values:
            definition = _definition(stage, unit, head, values, made)
            made.metrics.append(Measured(name, definition, "value", values[name].value, unit, once))
    if not made.metrics:
        made.findings.append(
            Finding("nothing-measured", f"{made.name}: no cell has a number, which is no 0", number)
        )
    return made


def _workload(told: Mapping[str, str], comments: list[str], made: Observation) -> dict[str, Fact]:
    """What the comments say of all rows, and what the columns say of this one."""
    found: dict[str, Fact] = {}
    for key, pattern in _COMMENTS.items():
        match = next((each for line in comments if (each := pattern.search(line))), None)
        if match:
            count = match[2] or match[4]
            if re.fullmatch(_COUNT, count):
                found[key] = f"~{count}" if match[1] or match[3] else int(count)
            else:
                said = f"{key.replace('_', ' ')} of a comment has {len(count)} digits: expected a count"
                made.findings.append(Finding("impossible-value", said, made.line))
    for name, key in _COUNTS.items():
        if name in told:
            if re.fullmatch(_COUNT, told[name]):
                found[key] = int(told[name])
            else:
                made.findings.append(
                    Finding("impossible-value", f"{name} is {told[name]!r}: expected a count", made.line)
                )
    drafted, accepted = found.get("drafted_tokens"), found.get("accepted_tokens")
    if isinstance(drafted, int) and isinstance(accepted, int) and accepted > drafted:
        said = f"accepted is {accepted} of {drafted} drafted: more than there were"
        made.findings.append(Finding("impossible-value", said, made.line))
        del found["accepted_tokens"]
    return found


def _value(name: str, text: str, made: Observation) -> _Value | None:
    """The number of a cell, where it is one that can be."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if math.isfinite(value) and value > 0:
        exponent = int(Decimal(text).as_tuple().exponent)
        return _Value(value, 0.5 * 10.0**exponent)
    kind = (
        "impossible-value"
        if _NUMBER.fullmatch(text) or text.lower().lstrip("+-") in ("nan", "inf")
        else "no-number"
    )
    made.findings.append(
        Finding(kind, f"{name} is {text[:40]!r}, which is not used: expected a number above 0", made.line)
    )
    return None


def _definition(stage: str, unit: str, head: _Head, values: Mapping[str, _Value], made: Observation) -> str:
    """How a number was counted, as far as time, rate and count of its stage tell it."""
    times = [
        (name, value)
        for name, value in values.items()
        if head.measures[name][0] == stage and head.measures[name][1] != "token/s"
    ]
    rates = [(name, value) for name, value in values.items() if head.measures[name] == (stage, "token/s")]
    if len(times) != 1 or len(rates) != 1:
        return UNKNOWN
    (time_name, time), (rate_name, rate) = times[0], rates[0]
    seconds = 1e-3 if head.measures[time_name][1] == "ms" else 1.0
    low = (rate.value - rate.off) * (time.value - time.off) * seconds
    high = (rate.value + rate.off) * (time.value + time.off) * seconds
    said = f"{rate_name} over {time_name} is {rate.value * time.value * seconds:.5g} tokens"
    if stage == "prefill":
        return _of_prefill(unit, (low, high), said, made)
    return _of_decode((low, high), said, made) if stage == "decode" and unit == "token/s" else UNKNOWN


def _of_prefill(unit: str, tokens: tuple[float, float], said: str, made: Observation) -> str:
    """The rate counts evaluated tokens where these are all tokens of the prompt; an approximate count becomes exact."""
    told = made.workload.get("prompt_tokens")
    if told is None:
        return UNKNOWN
    if isinstance(told, str):
        whole = math.ceil(tokens[0])
        near = abs(whole - float(told.lstrip("~"))) <= 0.01 * whole
        if whole != math.floor(tokens[1]) or not near:
            return UNKNOWN
        made.workload["prompt_tokens"] = told = whole
    if isinstance(told, int) and not tokens[0] <= told <= tokens[1]:
        _contradicts(said, f"{told} prompt tokens", made)
        return UNKNOWN
    return "prefill-rate-evaluated" if unit == "token/s" else "prefill-time"


def _of_decode(tokens: tuple[float, float], said: str, made: Observation) -> str:
    count = made.workload.get("generated_tokens")
    if not isinstance(count, int):
        return UNKNOWN
    fits = [each for each in (count, count - 1) if tokens[0] <= each <= tokens[1]]
    if len(fits) == 1:
        return "decode-rate-n" if fits == [count] else "decode-rate-n-1"
    if not fits:
        _contradicts(said, f"{count} generated tokens, and {count - 1} without the first", made)
    else:
        open_ = f"{said}, which its digits do not tell from {count} and from {count - 1}"
        made.findings.append(Finding("token-basis-open", open_, made.line))
    return UNKNOWN


def _contradicts(said: str, told: str, made: Observation) -> None:
    finding = Finding("rate-contradicts-counts", f"{said}; the table says {told}", made.line)
    if finding not in made.findings:
        made.findings.append(finding)


MATCHED_TABLE = Importer(
    format="matched-table",
    about="a hand-kept table of matched runs",
    recognises=_recognises,
    read=_read,
    generation=lambda source: None,
    unknown=(
        "which tool measured it, and whether by the client's or the server's clock",
        "the single observations behind a row, and how far equal runs differ",
        "build, host, device and settings, unless a column says them",
        "when and in which order the rows were measured",
    ),
)
"""The importer."""
