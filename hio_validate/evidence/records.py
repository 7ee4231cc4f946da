"""`records.jsonl` of an observation, read back line by line: each line is a record, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.observed import Observation, of_row


class Wrong(str):
    """Why a line is no record, in a few words."""

    __slots__ = ()


def rows_of(raw: bytes) -> Iterator[tuple[int, Observation | Wrong]]:
    """(line from 1, record or what is wrong) of every line."""
    lines = raw.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, _record(line)


def _record(line: bytes) -> Observation | Wrong:
    try:
        row = json.loads(line, object_pairs_hook=_once)
        if not isinstance(row, dict):
            return Wrong("it is no JSON object")
        return of_row(row)
    except json.JSONDecodeError:
        return Wrong("it is no JSON")
    except UnicodeDecodeError:
        return Wrong("it is not UTF-8")
    except RecursionError:
        return Wrong("it is nested too deeply")
    except ValueError as error:
        return Wrong(str(error))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)[:80]} stands twice")
    return seen
