"""The raw rows of a run: which columns they have, what those mean, and their table.

Invariant: a cell that nobody knows is empty, never zero; what no server reported (cached tokens, drafting) has no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.evidence.metrics import FACTS, METRICS
from hio_validate.execute.leg_files import Record
from hio_validate.source.dump import Row

_BENCH = ("bench_prefill_tps", "bench_decode_tps")
_ONLY_HTTP = frozenset({"fixture", "expected", "cached", "prompt_sha256", "content_sha256"})
_OF_PROMPTS = frozenset({"evaluated", "cached"})
"""What some servers do not report; a run in which nothing was answered keeps their columns, empty."""
_ONLY_WHERE_SAID = frozenset({"drafted", "accepted"}) | _OF_PROMPTS


def of_leg(record: Record) -> Iterator[Record]:
    """The rows of a leg, each with the leg's number and arm."""
    return ({"leg": record["leg"], "arm": record["arm"], **row} for row in record["rows"])


def columns_of(rows: Sequence[Record], method: str) -> dict[str, Row]:
    """Every column that this method measures, with its meaning; what no server reported has none."""
    is_bench = method == "llama-bench"
    measured = [name for name in METRICS if (name in _BENCH) == is_bench]
    said = {name for row in rows for name, value in row.items() if value is not None}
    unsaid = _ONLY_WHERE_SAID if "generated" in said else _ONLY_WHERE_SAID - _OF_PROMPTS
    facts = [
        name
        for name in FACTS
        if not (is_bench and name in _ONLY_HTTP) and (name in said or name not in unsaid)
    ]
    kept = [name for name in measured if name in said or not any(name in said for name in measured)]
    columns = {name: Row({"unit": FACTS[name][0], "about": FACTS[name][1]}) for name in facts}
    for name in kept:
        metric = METRICS[name]
        columns[name] = Row({"unit": metric.unit, "better": metric.better, "about": metric.about})
    return columns


def table(rows: Sequence[Record], columns: Sequence[str]) -> bytes:
    """The rows as they stand in `rows.tsv`: a header, a line each, an empty cell where nobody knows."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(_cell(row.get(name)) for name in columns) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return " ".join(str(value).split())
