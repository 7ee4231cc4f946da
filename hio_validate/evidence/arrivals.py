"""What a client measures of one answer, from the times at which its pieces arrived (contract 6.1, 7.3).

The client that asks and the rule that looks at its rows again both come here, so that a number has one definition.
Times are nanoseconds since the request began to connect.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hio_validate.evidence.averages import median

_MOST_BYTES = 256 << 20


class UnreadableReceipts(Exception):
    """A compressed file of a run that holds no JSON lines; says why."""


def client_metrics(sent_ns: int, at: Sequence[int], end_ns: int, generated: int) -> dict[str, float]:
    """ttft_ms, itl_ms, tpot_ms and wall_s (evidence/metrics.py) as far as the arrivals give them."""
    gaps = [later - earlier for earlier, later in pairwise(at)]
    found = {
        "ttft_ms": (at[0] - sent_ns) / 1e6 if at else None,
        "itl_ms": median(gaps) / 1e6 if gaps else None,
        "tpot_ms": (at[-1] - at[0]) / 1e6 / (generated - 1) if gaps and generated > 1 else None,
        "wall_s": end_ns / 1e9,
    }
    return {name: value for name, value in found.items() if value is not None}


def of_event(event: Mapping[str, Any], generated: int) -> dict[str, float]:
    """The metrics of one line of `events.jsonl`. Raises LookupError, TypeError, ValueError or ArithmeticError
    for what is none."""
    return client_metrics(
        int(event["sent_ns"]), [int(each[0]) for each in event["pieces"]], int(event["end_ns"]), generated
    )


def json_lines(compressed: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a `.jsonl.gz`. Raises UnreadableReceipts."""
    import json  # only where a run keeps receipts

    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(compressed, _MOST_BYTES).decode("utf-8")
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (zlib.error, ValueError, RecursionError) as error:
        raise UnreadableReceipts(str(error)) from None
    if reader.unconsumed_tail or not reader.eof:
        raise UnreadableReceipts(f"it is cut off, or larger than {_MOST_BYTES >> 20} MiB")
    if not all(isinstance(line, dict) for line in lines):
        raise UnreadableReceipts("a line is no JSON object")
    yield from lines
