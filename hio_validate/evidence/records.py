"""`records.jsonl` of an observation, read back line by line: each line is a record, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator

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
        row = json.loads(line)
        if not isinstance(row, dict):
            return Wrong("it is no JSON object")
        return of_row(row)
    except json.JSONDecodeError:
        return Wrong("it is no JSON")
    except KeyError as error:
        return Wrong(f"it has no {error.args[0]}")
    except RecursionError:
        return Wrong("it is nested too deeply")
    except (TypeError, ValueError, AttributeError) as error:
        return Wrong(str(error))
