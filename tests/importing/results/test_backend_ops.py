"""test-backend-ops in its three forms: what became of each case, which error beyond which tolerance, what was lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.backend_ops_cases import Case, Total, cases
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, ids, metric, names, records_of

HERE = SAMPLES / "test-backend-ops"


def counts(file: Path) -> dict[str, dict[str, int | float]]:
    return {
        record.name: {each.name: each.value for each in record.metrics}
        for record in records_of(file, "test-backend-ops")
    }


def test_text_gives_counts_error_and_tolerance() -> None:
    mul, soft = records_of(HERE / "text.txt", "test-backend-ops")
    assert {each.name: each.value for each in mul.metrics} == {
        "ok": 1,
        "failed": 1,
        "not_supported": 1,
        "error": 0.000612,
    }
    assert (mul.workload["tolerance"], mul.subject["device"]) == (0.0005, "AMD Radeon (RADV)")
    assert ids(mul) == ["operator-failed"] and mul.findings[0].line == 9
    assert "type_a=q4_0" in mul.findings[0].message
    assert ids(soft) == ["operator-failed", "not-finite"]
    assert "the tolerance" in soft.unknown[0]


def test_the_forms_before_name_the_backend_and_the_error_otherwise() -> None:
    assert counts(HERE / "old.txt") == {
        "CUDA0 ABS": {"ok": 1, "failed": 0},
        "CUDA0 MUL_MAT_ID": {"ok": 0, "failed": 1, "error": 0.473073968},
    }


def test_a_row_of_csv_without_an_error_message_passed() -> None:
    assert counts(HERE / "cases.csv") == {
        "Vulkan0 ABS": {"ok": 1, "failed": 0, "not_supported": 1},
        "Vulkan0 SQR": {"ok": 0, "failed": 1},
    }


def test_sql_has_verdicts_times_and_devices() -> None:
    alone, timed = records_of(HERE / "cases.sql", "test-backend-ops")
    assert {each.name: each.value for each in alone.metrics} == {"ok": 1, "failed": 1}
    assert (names(timed), timed.metrics[0].value, timed.metrics[0].unit) == ({"us_per_run"}, 37.49, "us")
    assert alone.subject["device"] == "M2"


def test_a_total_that_is_not_that_of_the_lines_is_told(tmp_path: Path) -> None:
    text = (HERE / "text.txt").read_text().splitlines(keepends=True)
    file = tmp_path / "lost.txt"
    file.write_text("".join(line for line in text if "f16,type_b" not in line))
    found = records_of(file, "test-backend-ops")[0]
    assert "counts-contradict" in ids(found)
    assert "its lines say 0 of 2" in found.findings[-1].message


def test_a_case_that_the_program_did_not_survive_is_neither_passed_nor_failed(tmp_path: Path) -> None:
    file = tmp_path / "crash.txt"
    file.write_text("Backend 1/1: CUDA0\n\n  ABS(type=f32): OK\n  SQR(type=f32): ")
    abs_, sqr = records_of(file, "test-backend-ops")
    assert ids(abs_) == [] and ids(sqr) == ["unfinished-case"]
    assert sqr.metrics == []


def test_nothing_but_unsupported_cases_is_nothing_computed(tmp_path: Path) -> None:
    file = tmp_path / "none.txt"
    file.write_text("Backend 1/1: HSA0\n\n  ABS(type=f16): not supported [HSA0] \n")
    (record,) = records_of(file, "test-backend-ops")
    assert ids(record) == ["nothing-computed"]
    assert metric(record, "not_supported").value == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Testing 1 devices\nBackend 1/1: CPU\n  Skipping (): CPU\n", "it has no case"),
        ((HERE / "cases.csv").read_text() + '"ABS","x"\n', "2 cells under a header of 7 columns"),
        (
            (HERE / "cases.csv").read_text() + '"ABS","x","maybe","","test","","V"\n',
            "not whether it is supported",
        ),
        ((HERE / "cases.sql").read_text()[:-40], "values for"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "bad"
    file.write_text(text)
    with pytest.raises(CannotImport, match=said):
        list(cases_and_records(file))


def cases_and_records(file: Path) -> list[object]:
    return list(records_of(file, "test-backend-ops"))


def test_every_case_keeps_its_line_and_parameters() -> None:
    found = [each for each in cases(Source(HERE / "text.txt")) if isinstance(each, Case)]
    assert [each.line for each in found] == [8, 9, 10, 11]
    assert found[0].params.endswith("per=[0,1,2,3]")
    totals = [each for each in cases(Source(HERE / "text.txt")) if isinstance(each, Total)]
    assert [(each.passed, each.total) for each in totals] == [(1, 3)]


@given(
    st.lists(
        st.sampled_from(["OK", "FAIL", "not supported [X]", "skipping large tensors for speed "]),
        min_size=1,
        max_size=20,
    )
)
def test_every_case_is_counted_once(tmp_path_factory: pytest.TempPathFactory, ends: list[str]) -> None:
    file = tmp_path_factory.mktemp("ops") / "all.txt"
    lines = "".join(f"  ADD(type=f32,ne=[{n}]): {end}\n" for n, end in enumerate(ends))
    file.write_text(f"Backend 1/1: X\n\n{lines}")
    (record,) = records_of(file, "test-backend-ops")
    assert record.workload["cases"] == len(ends)
    told = {each.name: each.value for each in record.metrics}
    assert told.get("ok", 0) == ends.count("OK") and told.get("failed", 0) == ends.count("FAIL")


FAILING = "[SQR] ERR = 0.000612000 > 0.000500000 "


def test_an_error_in_front_of_a_row_is_that_of_the_row(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text((HERE / "cases.csv").read_text().replace('"SQR"', FAILING + '"SQR"'))
    sqr = records_of(file, "test-backend-ops")[1]
    assert (sqr.name, metric(sqr, "error").value, sqr.workload["tolerance"]) == (
        "Vulkan0 SQR",
        0.000612,
        0.0005,
    )
    file.write_text((HERE / "cases.sql").read_text().replace("INSERT", FAILING + "INSERT"))
    alone = records_of(file, "test-backend-ops")[0]
    assert metric(alone, "error").value == 0.000612 and metric(alone, "ok").value == 1


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("failed to allocate tensors [X]   ABS(type=f32): OK", {"unknown": 1, "ABS": 0}),
        ("  SQR(type=f32): failed to allocate tensors [X]   ABS(type=f32): OK", {"SQR": 1, "ABS": 0}),
    ],
)
def test_a_case_without_memory_failed_and_hides_no_other(
    tmp_path: Path, line: str, failed: dict[str, int]
) -> None:
    file = tmp_path / "memory.txt"
    file.write_text(f"Backend 1/1: X\n\n{line}\n  1/2 tests passed\n")
    found = records_of(file, "test-backend-ops")
    assert {str(each.workload["operator"]): metric(each, "failed").value for each in found} == failed
    assert not any("counts-contradict" in ids(each) for each in found)
