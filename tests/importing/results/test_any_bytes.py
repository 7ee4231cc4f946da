"""Whatever the bytes are: a result, or one sentence; never a traceback, never a number that does not stand there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate.evidence.observed import as_row, faults_of, of_row
from hio_validate.importing.cannot import CannotImport, Misunderstood
from hio_validate.importing.results.reading import reading
from hio_validate.importing.results.recognise import IMPORTERS
from hio_validate.importing.results.source import Source
from tests.importing.results.mutations import mutated
from tests.importing.results.numbers import numbers_in

HERE = Path(__file__).parent / "samples"
SAMPLES = sorted(path for path in HERE.rglob("*") if path.is_file() and path.suffix != ".expected")
LATER = {"aiperf": ["genai-perf"]}
"""Format -> the more general ones that take its files for theirs and come later: its predecessor."""
REFUSED = {"denied.csv"}
"""Samples of a run that was denied, in which nothing stands."""
SLOW = 10.0
"""Seconds of a processor that no small file may take."""

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.relative_to(HERE).as_posix())
slowly = settings(max_examples=30, suppress_health_check=list(HealthCheck))


def _read(file: Path, skip_log_lines: bool = False) -> list[str]:
    """The names of a file's records after everything that has to be so was checked; none where it was refused."""
    began = time.process_time()
    source = Source(file, skip_log_lines=skip_log_lines)
    numbers = numbers_in(file.read_bytes())
    names = []
    try:
        found = reading(source)
        for record in found.records() if found else ():
            names.append(record.name)
            assert of_row(json.loads(json.dumps(as_row(record), allow_nan=False))) == record
            for measured in record.metrics:
                assert not list(faults_of(measured))
                if not measured.derived:
                    assert measured.value in numbers, (
                        f"{measured.name} {measured.value} does not stand in the file"
                    )
                if not measured.samples_derived:
                    made_up = [each for each in measured.samples if each not in numbers]
                    assert not made_up, f"{measured.name}: {made_up[:3]} do not stand in the file"
    except CannotImport as error:
        said = str(error)
        assert said.startswith(file.name) and "\n" not in said and "Traceback" not in said
        assert error.code in (1, 3)
        if isinstance(error, Misunderstood):
            raise AssertionError("its importer failed") from error.__cause__
    assert len(set(names)) == len(names)
    assert time.process_time() - began < SLOW
    return names


@each_sample
def test_every_number_of_a_sample_stands_in_it(sample: Path) -> None:
    assert bool(_read(sample)) != (sample.name in REFUSED)


@each_sample
@given(st.data())
@slowly
def test_a_damaged_file_gives_a_result_or_a_sentence(
    sample: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / f"damaged-{sample.name}"
    file.write_bytes(data.draw(mutated(sample.read_bytes())))
    _read(file, skip_log_lines=data.draw(st.booleans()))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
@slowly
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any-bytes"
    file.write_bytes(raw)
    _read(file)


@given(JSON | st.lists(JSON, max_size=3).map(lambda rows: "\n".join(map(json.dumps, rows))))
@slowly
def test_any_json(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    file = tmp_path_factory.getbasetemp() / "any-json"
    file.write_text(
        value if isinstance(value, str) else json.dumps(value), encoding="utf-8", errors="replace"
    )
    _read(file)


@each_sample
@given(st.data())
@slowly
def test_any_value_under_the_keys_of_a_format(
    sample: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    try:
        value = json.loads(sample.read_bytes())
    except ValueError:
        return
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if isinstance(row, dict) and row:
            for key in data.draw(st.lists(st.sampled_from(sorted(row)), max_size=3)):
                row[key] = data.draw(JSON)
    file = tmp_path_factory.getbasetemp() / f"other-values-{sample.name}"
    file.write_text(json.dumps(value), encoding="utf-8", errors="replace")
    _read(file)


@each_sample
def test_one_importer_recognises_a_sample(sample: Path) -> None:
    found = [each.format for each in IMPORTERS if each.recognises(Source(sample))]
    assert found[1:] in ([], LATER.get(found[0], [])), f"{found} take {sample.name} for theirs"


def test_every_format_has_a_sample() -> None:
    first = {found.importer.format for sample in SAMPLES if (found := reading(Source(sample)))}
    assert first == {each.format for each in IMPORTERS}
