"""Whatever stands where a number was expected: records without faults, or one sentence; never a traceback."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate.evidence.observed import as_row, faults_of, of_row
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES

FORMATS = (
    "vllm-bench", "vllm-offline", "sglang-bench", "sglang-offline", "inferencex", "inference-perf", "mlperf",
)  # fmt: skip
FILES = [file for name in FORMATS for file in sorted((SAMPLES / name).iterdir())]
ODD = st.sampled_from(
    [None, True, False, "", "N/A", "12", -1, -0.5, 0, 0.0, 1e300, 5e-324, 2**70, float("nan"), float("inf"), [], {},
     [None], ["a", 1], [[1], "b"], {"count": "x"}, {"mean": None}]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value, the deepest ones too."""
    found = [path] if path else []
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for key, each in inner:
        found += places(each, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], odd: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = deepcopy(odd)


def read(file: Path) -> None:
    """Reads a file to its end, or to the sentence that says why not."""
    source = Source(file)
    importer = importer_of(source)
    if importer is None:
        return
    try:
        records = list(importer.read(source))
    except CannotImport as told:
        assert str(told).startswith(file.name) and "\n" not in str(told)
        return
    for record in records:
        assert not [fault for measured in record.metrics for fault in faults_of(measured)]
        row = json.loads(json.dumps(as_row(record), allow_nan=False))
        assert of_row(row) == record
        assert record.name and record.tier


@pytest.mark.parametrize(
    "sample", [file for file in FILES if file.suffix == ".json"], ids=lambda file: file.stem
)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_an_odd_value_anywhere_in_an_object(tmp_path: Path, sample: Path, data: st.DataObject) -> None:
    text = sample.read_text()
    value = (
        json.loads(text)
        if text.lstrip()[0] == "[" or text.count("\n{") == 0
        else json.loads(text.split("\n")[0])
    )
    for _ in range(data.draw(st.integers(1, 3))):
        put(value, data.draw(st.sampled_from(places(value))), data.draw(ODD))
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(value))
    read(file)


@pytest.mark.parametrize("sample", FILES, ids=lambda file: file.name)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_file_that_was_cut_or_spoilt(tmp_path: Path, sample: Path, data: st.DataObject) -> None:
    text = sample.read_text()
    at = data.draw(st.integers(0, len(text)))
    spoilt = data.draw(st.sampled_from(["", "x", "\n", "}", '"', "-", "{", ",,", "\nINFO done\n", "\x00"]))
    keep = text[at:] if data.draw(st.booleans()) else ""
    file = tmp_path / sample.name
    file.write_text(text[:at] + spoilt + keep)
    read(file)
