"""Observations in a repository: what is kept of a file, and what is not ours to keep."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.keeping import Asked, name_of, write
from hio_validate.importing.results.reading import Reading, reading
from hio_validate.importing.results.recognise import IMPORTERS
from hio_validate.importing.results.source import Source
from hio_validate.repo import item_of
from hio_validate.source import read

SAMPLES = Path(__file__).parent / "samples"
MAY_SPEAK = {each.format for each in IMPORTERS if each.content}
FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.suffix != ".expected")


def opened(file: Path) -> Reading:
    found = reading(Source(file))
    assert found is not None
    return found


def asked(keep_content: bool = False) -> Asked:
    return Asked("kept", "lab/tiny", None, keep_content, {"hio": "0.1.0", "rules": 5})


@pytest.mark.parametrize("keep", [False, True], ids=["without texts", "with texts"])
@pytest.mark.parametrize("sample", FILES, ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_a_sample_becomes_a_valid_document_and_keeps_what_it_may(
    tmp_path: Path, sample: Path, keep: bool
) -> None:
    found = opened(sample)
    try:
        file = write(found, asked(keep), tmp_path)
    except CannotImport as error:
        assert (keep and "leave out --keep-content" in str(error)) or error.code == 3
        assert os.listdir(tmp_path) == []
        return
    item = item_of(read((tmp_path / file).read_bytes(), file))
    assert item.model is not None, item.refused
    folder = (tmp_path / file).parent
    source = item.model.source
    assert source.sha256 == hashlib.sha256(sample.read_bytes()).hexdigest()
    kept = source.file is not None
    assert kept == (not found.secrets and (keep or found.importer.format not in MAY_SPEAK))
    assert bool(found.secrets) == any(
        each.message.endswith("where it is used") for each in item.model.findings
    )
    for file_ in folder.iterdir():
        assert not any(secret.encode() in file_.read_bytes() for secret in found.secrets)
    if kept:
        assert (folder / source.file).read_bytes() == sample.read_bytes()
    raw = (folder / item.model.records.file).read_bytes()
    assert item.model.records.count == raw.count(b"\n") == found.count
    assert item.model.records.sha256 == hashlib.sha256(raw).hexdigest()
    assert len(os.listdir(folder)) == 2 + kept
    if not keep:
        assert not any(b"PRIVATE" in each.read_bytes() for each in folder.iterdir())


def test_a_file_that_grows_meanwhile_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bench.csv"
    file.write_bytes((SAMPLES / "rate-table/failed.csv").read_bytes())

    def grow(_: object) -> None:
        if file.stat().st_size > 1000:
            return
        with file.open("ab") as out:
            out.write(b'"z.gguf",500,ok,118,1.0,0.1,2.0,0.1,""\n')

    with pytest.raises(CannotImport, match="changed while it was read"):
        write(opened(file), asked(), tmp_path, grow)
    assert os.listdir(tmp_path) == ["bench.csv"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("report.yaml", "report.yaml.source"),
        ("observation.yaml", "observation.yaml.source"),
        ("records.jsonl", "records.jsonl.source"),
        ("mit Leer zeichen\x1b.json", "mit_Leer_zeichen_.json"),
        (".hidden.json", "hidden.json"),
    ],
)
def test_no_kept_file_is_taken_for_a_document(tmp_path: Path, given: str, kept: str) -> None:
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / given
    file.write_bytes((SAMPLES / "rate-table/failed.csv").read_bytes())
    document = write(opened(file), asked(), tmp_path)
    assert kept in os.listdir((tmp_path / document).parent)


@pytest.mark.parametrize(
    ("file", "name"),
    [("a b.json", "a-b"), ("...", "results"), ("x" * 200 + ".csv", "x" * 100), ("é.json", "results")],
)
def test_a_name_for_what_has_none(file: str, name: str) -> None:
    assert name_of(Path(file)) == name


def test_samples_that_speak_are_known_to_speak() -> None:
    for sample in FILES:
        if b"PRIVATE" in sample.read_bytes():
            assert opened(sample).importer.format in MAY_SPEAK, sample
