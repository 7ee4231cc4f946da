"""Details of ncu: launches, units, locales, rows that are cut, and files that hold nothing but an error."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from tests.importing.results.reading import SAMPLES, ids, names, number, records_of

HERE = SAMPLES / "ncu-details"


def test_each_launch_is_a_record() -> None:
    gemm, flash = records_of(HERE / "details.csv", "ncu-details")
    assert [gemm.line, flash.line] == [6, 13]
    assert gemm.subject["kernel"] == "void gemm<float, 4>(const T1 *, int)"
    assert (gemm.subject["launch"], gemm.subject["grid_size"]) == (0, "(128, 1, 1)")
    duration = number(gemm, "Duration", "value")
    assert (duration.value, duration.unit, duration.definition) == (1234.56, "us", "kernel-time")
    throughput = number(gemm, "GPU Speed Of Light Throughput: Memory Throughput", "value")
    assert (throughput.value, throughput.unit, throughput.definition) == (87.5, "%", UNKNOWN)
    assert number(gemm, "GPU Speed Of Light Throughput: Elapsed Cycles", "value").value == 1234
    assert gemm.foreign["Function Cache Configuration"] == "CachePreferNone"
    assert number(flash, "Duration", "value").value == 12.3


def test_a_row_without_its_value_is_told_with_its_line() -> None:
    gemm, flash = records_of(HERE / "details.csv", "ncu-details")
    assert "short-row" not in ids(gemm)
    assert [each.line for each in flash.findings if each.id == "short-row"] == [14]
    assert "GPU Speed Of Light Throughput: Memory Throughput" not in names(flash)


def test_every_launch_says_that_it_is_no_benchmark() -> None:
    for record in records_of(HERE / "details.csv", "ncu-details"):
        assert "instrumented" in ids(record)
        assert record.tier is Tier.NEEDS_CONTEXT


def test_the_locale_is_that_of_the_file() -> None:
    (record,) = records_of(HERE / "comma.csv", "ncu-details")
    assert number(record, "Duration", "value").value == 1234.56
    assert number(record, "GPU Speed Of Light Throughput: Elapsed Cycles", "value").value == 1234


def test_a_number_that_is_two_numbers_is_absent() -> None:
    (record,) = records_of(HERE / "ambiguous.csv", "ncu-details")
    assert [each.line for each in record.findings if each.id == "ambiguous-number"] == [2]
    assert "gpu__time_duration.sum" not in names(record)
    assert number(record, "Command line profiler metrics: dram__bytes.sum", "value").value == 17


DENIED = """\
==PROF== Connected to process 4711 (/usr/bin/bench)
==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters
==PROF== Disconnected from process 4711
"""


def test_a_file_of_an_error_alone_is_refused_with_that_error(tmp_path: Path) -> None:
    file = tmp_path / "denied.csv"
    file.write_text(DENIED)
    with pytest.raises(CannotImport, match=r"denied\.csv:2: .*ERR_NVGPUCTRPERM") as refused:
        records_of(file, "ncu-details")
    assert refused.value.code == 3


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = (HERE / "details.csv").read_text()
    assert old in text
    file = tmp_path / "details.csv"
    file.write_text(text.replace(old, new, 1))
    return file


def test_an_error_after_some_launches_is_told(tmp_path: Path) -> None:
    file = changed(tmp_path, "==PROF== Disconnected", "==ERROR== LaunchFailed\n==PROF== Disconnected")
    *_, last = records_of(file, "ncu-details")
    assert [each.line for each in last.findings if each.id == "tool-error"] == [12]


def test_the_page_of_raw_metrics_has_a_launch_a_row_and_units_in_a_row() -> None:
    gemm, flash = records_of(HERE / "raw.csv", "ncu-details")
    assert [gemm.line, flash.line] == [4, 5]
    time = number(gemm, "gpu__time_duration.sum", "value")
    assert (time.value, time.unit, time.definition) == (1234.5, "us", "kernel-time")
    assert number(gemm, "dram__bytes.sum", "value").unit == "Mbyte"
    assert number(flash, "gpu__time_duration.sum", "value").value == 12.3
    assert "device__attribute_clock_rate" not in names(gemm)


def test_a_row_of_another_width_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "raw.csv"
    text = (HERE / "raw.csv").read_text()
    for row, id in (('"12.3","1"', "short-row"), ('"12.3","1","17","1","2"', "long-row")):
        file.write_text(text.replace('"12.3","1","17"', row))
        gemm, flash = records_of(file, "ncu-details")
        assert {id, "nothing-measured"} <= set(ids(flash)) and not flash.metrics
        assert gemm.metrics


def test_a_time_in_a_unit_that_is_none_is_no_time(tmp_path: Path) -> None:
    gemm, flash = records_of(changed(tmp_path, '"Duration","us"', '"Duration","cycle"'), "ncu-details")
    assert "unknown-unit" in ids(gemm) and "Duration" not in names(gemm)
    assert "Duration" in names(flash)


def test_a_metric_that_stands_twice_with_two_values_is_told(tmp_path: Path) -> None:
    row = next(line for line in (HERE / "details.csv").read_text().splitlines() if '"Duration"' in line)
    file = changed(tmp_path, row, row + "\n" + row + "\n" + row.replace("1,234.56", "7.00"))
    gemm, _ = records_of(file, "ncu-details")
    assert [each.line for each in gemm.findings if each.id == "repeated-metric"] == [9]
    assert number(gemm, "Duration", "value").value == 1234.56


def test_a_negative_time_is_told(tmp_path: Path) -> None:
    gemm, _ = records_of(changed(tmp_path, "1,234.56", "-1,234.56"), "ncu-details")
    assert "impossible-value" in ids(gemm) and "Duration" not in names(gemm)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("==PROF== Connected\n==WARNING== No kernels were profiled.\n", "No kernels were profiled"),
        ('"ID","Process ID","Process Name","Host Name"\n', "ncu profiled nothing"),
        (
            '"ID","Process ID","Process Name","Host Name","a"\n"0","1","x","h","3"\n',
            "neither a column Metric Value",
        ),
        (
            '"ID","Process ID","Process Name","Metric Value"\n"0","1","x","3',
            "details.csv:2: .*a quote is opened",
        ),
    ],
)
def test_what_gives_nothing_is_told(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "details.csv"
    file.write_text(content)
    with pytest.raises(CannotImport, match=said):
        records_of(file, "ncu-details")


def test_a_page_as_it_is_printed_is_no_run_that_profiled_nothing(tmp_path: Path) -> None:
    file = tmp_path / "printed.txt"
    file.write_text(
        "==PROF== Connected to process 1 (/a)\n  k(int) (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
        "    Section: GPU Speed Of Light Throughput\n    ----------------------- ----------- ------------\n"
        "    Metric Name             Metric Unit Metric Value\n    Duration                         us         2.98\n"
    )
    with pytest.raises(CannotImport, match=r"as it is printed.*--csv --page details") as refused:
        records_of(file, "ncu-details")
    assert refused.value.code == 3


def test_a_table_that_was_saved_again_without_quotes_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "again.csv"
    with (HERE / "details.csv").open(newline="") as given, file.open("w", newline="") as again:
        rows = (line for line in given if line.startswith('"'))
        csv.writer(again, lineterminator="\n").writerows(csv.reader(rows))
    assert '"0"' not in file.read_text()
    first, second = records_of(HERE / "details.csv", "ncu-details"), records_of(file, "ncu-details")
    assert [each.metrics for each in first] == [each.metrics for each in second] and first[0].metrics
