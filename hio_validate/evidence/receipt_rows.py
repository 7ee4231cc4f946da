"""What a receipt counts, computed again from the rows that it keeps (contract 7.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Path
from hio_validate.evidence.quality_receipts import UnreadableItemRows, read_item_rows
from hio_validate.models.receipt import HumanScore, OperatorTest, Quality

STATUSES = {"ok": "ok", "failed": "failed", "not-supported": "not_supported"}
_TOLERANCE = 1e-6
"""How far a value may be from the mean of its items: harnesses print rounded numbers of other widths."""

Found = Iterator[tuple[Path, str]]
"""(where in the document, what contradicts)."""


def of_quality(receipt: Quality, raw: bytes) -> Found:
    """What a receipt and its items disagree about. Raises UnreadableItemRows."""
    scores = list(read_item_rows(receipt, raw).scores.values())
    if receipt.n != len(scores):
        yield ("n",), f"n is {receipt.n}; {len(scores)} items are kept"
    if scores and receipt.better == "higher":
        mean = math.fsum(scores) / len(scores)
        if not math.isclose(mean, receipt.value, abs_tol=_TOLERANCE):
            yield ("value",), f"{receipt.metric} is {receipt.value:g}; the mean of its items is {mean:g}"


def of_operators(receipt: OperatorTest, raw: bytes) -> Found:
    """What a receipt and its cases disagree about. Raises UnreadableItemRows."""
    counts: Counter[tuple[str, str]] = Counter()
    total = 0
    for number, data in _objects(raw):
        operator, status = data.get("operator"), STATUSES.get(str(data.get("status")))
        if not isinstance(operator, str) or status is None:
            raise UnreadableItemRows(
                number, f"the line is no case: expected operator, and status {', '.join(STATUSES)}"
            )
        counts[operator, status] += 1
        total += 1
    if total != receipt.cases.count:
        yield ("cases", "count"), f"count is {receipt.cases.count}; {total} cases are kept"
    for name, told in receipt.operators.items():
        for status in STATUSES.values():
            if getattr(told, status) != counts[name, status]:
                yield (
                    ("operators", name, status),
                    f"{status} of {name} is {getattr(told, status)}; {counts[name, status]} such cases are kept",
                )
    for name in sorted({operator for operator, _ in counts} - receipt.operators.keys()):
        yield ("operators",), f"cases of {name} are kept, and the receipt does not count it"


def of_scores(receipt: HumanScore, raw: bytes) -> Found:
    """What a receipt and its scores disagree about. Raises UnreadableItemRows."""
    total = 0
    for number, data in _objects(raw):
        score = data.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise UnreadableItemRows(number, "the line is no score: expected an object with item and score")
        if not receipt.scale.lowest <= score <= receipt.scale.highest:
            yield (
                ("scores", "file"),
                f"line {number}: {score:g} is outside the scale {receipt.scale.lowest:g} to {receipt.scale.highest:g}",
            )
        total += 1
    if total != receipt.items:
        yield ("items",), f"items is {receipt.items}; {total} scores are kept"


def _objects(raw: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    import json  # only where a receipt has rows

    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            data: Any = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise UnreadableItemRows(number, "the line is no JSON object")
        yield number, data
