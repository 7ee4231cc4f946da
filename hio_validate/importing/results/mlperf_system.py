"""MLPerf's description of a system: facts without a measurement, as texts with their units inside.

Source: SYSTEM_DESC_REQUIRED_FIELDS and SYSTEM_DESC_OPTIONAL_FIELDS of tools/submission/submission_checker.py,
mlcommons/inference. Fields are texts by that schema; "N/A", "undefined" and "" say that nothing is known, "0" says none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Observation
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.objects import records, says
from hio_validate.importing.results.record_numbers import fact
from hio_validate.importing.results.source import Source

_NOTHING = {"", "-", "n/a", "na", "none", "undefined", "unknown", "tbd", "not available", "not applicable"}


def _read(source: Source) -> Iterator[Observation]:
    yield from records(source, _observation)


def _observation(values: dict[str, Any], line: int) -> Observation:
    subject = _facts(values)
    nodes = values.get("node_types")
    for number, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if isinstance(node, dict):
            subject |= {f"node_types.{number}.{key}": value for key, value in _facts(node).items()}
    absent = sorted(key for key, value in values.items() if _says_nothing(value))
    unknown = (", ".join(absent),) if absent else ()
    return Observation(
        name=str(subject.get("system_name", "system")), line=line, subject=subject, unknown=unknown
    )


def _says_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def _facts(values: Mapping[str, Any]) -> dict[str, Fact]:
    found = {
        key: fact(value.strip() if isinstance(value, str) else value)
        for key, value in values.items()
        if not _says_nothing(value) and not isinstance(value, list | dict)
    }
    return {key: value for key, value in found.items() if value is not None}


MLPERF_SYSTEM = Importer(
    format="mlperf-system",
    about="MLPerf's description of a system",
    recognises=lambda source: says(source, "system_name") and says(source, "accelerators_per_node"),
    read=_read,
    generation=lambda source: "with node types" if says(source, "node_types") else None,
    unknown=("everything that is measured", "when and by what the system was described"),
)
