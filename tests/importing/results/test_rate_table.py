"""Hand-made tables: what failed or is empty is no 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.rate_table import RATE_TABLE
from tests.importing.results.reading import findings, read, source_of

HEAD = "model,size_bytes,status,elapsed_sec,pp16_tps,pp16_stdev,tg16_tps,tg16_stdev,notes\n"
GOOD = '"a.gguf",500,ok,118,26.25,0.33,7.59,0.00,""\n'


def table(folder: Path, text: str, skip: bool = False) -> list[Observation]:
    return read(source_of(folder, text, skip), "rate-table")


def refused(folder: Path, text: str) -> CannotImport:
    with pytest.raises(CannotImport) as caught:
        table(folder, text)
    return caught.value


def test_a_row_has_a_record_for_each_test(tmp_path: Path) -> None:
    prefill, decode = table(tmp_path, HEAD + GOOD)
    assert (prefill.name, decode.name) == ("a.gguf pp16", "a.gguf tg16")
    assert prefill.workload == {"prompt_tokens": 16, "generated_tokens": 0, "depth_tokens": 0}
    assert [(each.name, each.definition, each.statistic, each.value) for each in decode.metrics] == [
        ("tg16_tps", "decode-rate-bench", "mean", 7.59),
        ("tg16_stdev", "decode-rate-bench", "spread", 0.0),
    ]
    assert all(each.n is None and each.unit == "token/s" for each in decode.metrics)
    assert prefill.subject == {"model": "a.gguf", "model_size": 500}
    assert prefill.foreign == {"elapsed_sec": "118"}
    assert findings([prefill, decode]) == []


def test_failed_and_empty_rows(tmp_path: Path) -> None:
    text = (
        HEAD
        + GOOD
        + '"b.gguf",500,fail_1,1,,,,,""\n"c.gguf",500,ok,1,,,5.5,0.1,""\n"d.gguf",5,ok,1,-,,n/a,,""\n'
    )
    text += '"e.gguf",5,timeout,1,0,,3.5,,""\n"f.gguf",5,ok,1,0,0,3.5,,""\n'
    records = {each.name: each for each in table(tmp_path, text)}
    assert findings(list(records.values())) == [
        ("failed-row", 3), ("nothing-measured", 4), ("nothing-measured", 5), ("failed-row", 6), ("impossible-value", 7),
    ]  # fmt: skip
    failed = records["b.gguf"]
    assert (failed.requests.failed, failed.requests.completed, failed.metrics) == (1, 0, [])
    assert records["c.gguf pp16"].metrics == [] and len(records["c.gguf tg16"].metrics) == 2
    assert records["d.gguf"].metrics == [] and records["e.gguf"].metrics == []
    assert "its numbers are not used" in records["e.gguf"].findings[0].message
    assert [each.name for each in records["f.gguf pp16"].metrics] == ["pp16_stdev"]


def test_without_a_status_nothing_is_known_to_have_failed(tmp_path: Path) -> None:
    records = table(tmp_path, "model\tpp512 (t/s)\ttg128 @ d4096 t/s\na\t50.5\t5\nb\t\t\n")
    assert [each.name for each in records] == ["a pp512", "a tg128@d4096", "b"]
    assert records[1].workload["depth_tokens"] == 4096
    assert records[2].requests == records[0].requests == records[0].requests.__class__()
    assert findings(records) == [("nothing-measured", 3)]


def test_decimal_commas(tmp_path: Path) -> None:
    head = "model;pp16_tps;tg16_tps\na;10.5;3.5\n"
    records = table(tmp_path, head + "b;1.026,25;0,125\n")
    assert [each.metrics[0].value for each in records] == [10.5, 3.5, 1026.25, 0.125]
    assert findings(records) == [("decimal-comma", 3), ("decimal-comma", 3)]
    assert "given:3: tg16_tps is '7,590', expected a number: a comma may be" in str(
        refused(tmp_path, head + "b;1;7,590\n")
    )
    text = str(refused(tmp_path, HEAD + GOOD + '"b",5,ok,1,26,25,0,33,7,59,0,05,""\n'))
    assert "given:3: the row has 13 values, its head 9: is the comma in its numbers a decimal one?" in text


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert "given:3: the row has 4 values, its head 9" in str(
        refused(tmp_path, HEAD + GOOD + '"b.gguf",500,ok,1')
    )
    assert "given:3: a quote does not end" in str(refused(tmp_path, HEAD + GOOD + '"b.gg'))
    assert "given:3: pp16_tps is 'fast'" in str(refused(tmp_path, HEAD + GOOD + "b,5,ok,1,fast,,,,\n"))
    assert "given:1: two columns are called pp16_tps" in str(
        refused(tmp_path, "model,pp16_tps,pp16_tps\na,1,2\n")
    )
    assert refused(tmp_path, HEAD).code == 3
    assert "given:2: the line is no data: '# x'" in str(refused(tmp_path, HEAD + "# x\n" + GOOD))
    assert findings(table(tmp_path, HEAD + "# x\n" + GOOD, skip=True)) == [("skipped-lines", 2)]


def test_a_row_that_stands_twice(tmp_path: Path) -> None:
    records = table(tmp_path, "model,tg16_tps\na,1\nb,2\na,3\n")
    assert [each.name for each in records] == ["a tg16", "b tg16", "a tg16 #2"]
    assert findings(records) == [("repeated-row", 4)]


def test_other_tables_are_not_taken(tmp_path: Path) -> None:
    for text in ("model,pp16_stdev\n", "a,b\n1,2\n", "pp16_tps\n5\n", ""):
        assert not RATE_TABLE.recognises(source_of(tmp_path, text))
