"""Kernel summaries of nsys in their generations, units and locales."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, generation, ids, names, number, records_of

HERE = SAMPLES / "nsys-kernels"
SUMMARY = HERE / "cuda_gpu_kern_sum.csv"


def test_each_kernel_is_a_record_with_its_line() -> None:
    gemm, flash, other = records_of(SUMMARY, "nsys-kernels")
    assert [each.line for each in (gemm, flash, other)] == [4, 5, 6]
    assert gemm.subject["kernel"] == 'void ns::gemm_kernel<__half, (int)128, 4>(const T1 *, "odd", int)'
    assert gemm.name.startswith("ns::gemm_kernel-") and gemm.name != other.name
    assert flash.name.startswith("flash_fwd_kernel-")
    time = number(gemm, "time")
    assert (time.value, time.unit, time.n, time.definition) == (2000.0, "ns", 3000, "kernel-time")
    assert number(gemm, "time", "std").value == 120.5
    assert number(gemm, "time", "median").value == 1999.0
    total = number(gemm, "total time", "total")
    assert (total.value, total.definition) == (6000000, "kernel-time-sum")
    assert (number(gemm, "share", "value").value, number(gemm, "share", "value").unit) == (60.0, "%")
    assert number(gemm, "launches", "value").value == 3000


def test_every_record_says_that_its_times_are_no_benchmark() -> None:
    for record in records_of(SUMMARY, "nsys-kernels"):
        assert "instrumented" in ids(record)
        assert record.tier is Tier.NEEDS_CONTEXT
    importer = importer_of(Source(SUMMARY))
    assert importer is not None
    assert any("no benchmark" in text or "no time of it is a benchmark" in text for text in importer.unknown)
    assert any("wall clock" in text for text in importer.unknown)


def test_a_table_of_another_report_beside_it_is_none_of_kernels() -> None:
    assert not [each for each in records_of(SUMMARY, "nsys-kernels") if "cudaLaunch" in str(each.subject)]


@pytest.mark.parametrize(
    ("name", "unit", "mean", "total"),
    [
        ("gpukernsum-2021.csv", "ns", 2000.0, 6000000),
        ("milliseconds.csv", "ms", 0.002, 6.0),
        ("comma.csv", "ns", 2000.0, 6000000),
    ],
)
def test_generations_units_and_locales(name: str, unit: str, mean: float, total: float) -> None:
    record = records_of(HERE / name, "nsys-kernels")[0]
    time = number(record, "time")
    assert (time.value, time.unit, time.n) == (mean, unit, 3000)
    assert number(record, "total time", "total").value == total
    assert ids(record) == ["instrumented"]


def test_generation_and_the_same_kernel_twice() -> None:
    assert generation(HERE / "gpukernsum-2021.csv") == "gpukernsum 2021"
    first, second = records_of(HERE / "milliseconds.csv", "nsys-kernels")
    assert second.name == f"{first.name}-2"
    assert first.subject["gridxyz"] == "128    1    1"


def test_a_number_that_is_two_numbers_is_absent() -> None:
    (record,) = records_of(HERE / "ambiguous.csv", "nsys-kernels")
    assert "ambiguous-number" in ids(record)
    assert "time" not in names(record) and "total time" not in names(record)
    assert number(record, "launches", "value").value == 3


@pytest.mark.parametrize(
    ("old", "new", "id", "lost"),
    [
        ("3000,2000.0", "30,2000.0", "rate-contradicts-counts", "time"),
        ("1999.0,1500,2600", "1999.0,2100,2600", "impossible-value", "time"),
        ("60.0,6000000", "160.0,6000000", "impossible-value", "share"),
        ("3000,2000.0", "0,2000.0", "zero-completed", "time"),
        ("3000,2000.0", "many,2000.0", "no-number", "launches"),
        (",120.5,", ",", "short-row", "time"),
        ("Total Time (ns)", "Total Time (ticks)", "unknown-unit", "time"),
        ("Med (ns)", "Med (us)", "mixed-units", None),
    ],
)
def test_what_cannot_be_so_is_told(tmp_path: Path, old: str, new: str, id: str, lost: str | None) -> None:
    text = SUMMARY.read_text()
    assert old in text
    file = tmp_path / "kernels.csv"
    file.write_text(text.replace(old, new, 1))
    record, flash, _ = records_of(file, "nsys-kernels")
    assert id in ids(record)
    assert lost is None or lost not in names(record)
    assert id not in ids(flash) or id in ("unknown-unit", "mixed-units")


def test_a_table_without_a_kernel_measured_nothing(tmp_path: Path) -> None:
    file = tmp_path / "kernels.csv"
    file.write_text(SUMMARY.read_text().split("60.0")[0])
    with pytest.raises(CannotImport, match="has no kernel") as refused:
        records_of(file, "nsys-kernels")
    assert refused.value.code == 3


def test_a_table_that_is_cut_says_so(tmp_path: Path) -> None:
    text = (HERE / "gpukernsum-2021.csv").read_text()
    file = tmp_path / "kernels.csv"
    file.write_text(text.rstrip("\n"))
    (record,) = records_of(file, "nsys-kernels")
    assert "cut-short" in ids(record)
    file.write_text(text[:-10])
    with pytest.raises(CannotImport, match=r"kernels\.csv:2: .*a quote is opened"):
        records_of(file, "nsys-kernels")


@pytest.mark.parametrize("name", ["printed.txt", "printed-2021.txt", "printed-table.txt"])
def test_a_table_as_it_is_printed_says_the_same(name: str) -> None:
    record = records_of(HERE / name, "nsys-kernels")[0]
    time = number(record, "time")
    assert (time.value, time.unit, time.n) == (2000.0, "ns", 3000)
    assert number(record, "total time", "total").value == 6000000
    assert ids(record) == ["instrumented"]
    assert generation(HERE / name) == ("gpukernsum 2021" if "2021" in name else "cuda_gpu_kern_sum")


def test_only_kernels_are_read_of_what_is_printed_and_a_name_that_is_cut_is_told() -> None:
    gemm, flash = records_of(HERE / "printed.txt", "nsys-kernels")
    assert (gemm.line, flash.line) == (12, 13)
    assert gemm.subject["kernel"] == "gemm_kernel(float *, int)" and "name-cut" not in ids(gemm)
    assert "name-cut" in ids(flash) and number(flash, "time").n == 1000
    (table,) = records_of(HERE / "printed-table.txt", "nsys-kernels")
    assert table.subject["kernel"] == "a|b(float *)" and table.subject["gridxyz"] == "128    1    1"


def test_a_printed_row_that_does_not_stand_below_its_head_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "printed.txt"
    file.write_text(
        (HERE / "printed.txt").read_text().replace("     75.0        6,000,000", "75.0  6,000,000  17")
    )
    gemm, flash = records_of(file, "nsys-kernels")
    assert "short-row" in ids(gemm) and not gemm.metrics and flash.metrics


OTHER = {
    "api": "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n81.2,131012800,12,10917733.3,cudaMalloc\n",
    "ranges": "Time (%),Total Time (ns),Instances,Avg (ns),Style,Range\n100.0,16,1,16.0,PushPop,step\n",
    "printed ranges": (HERE / "printed.txt").read_text().split("[6/8]")[0],
    "memory": "Total (MB),Count,Avg (MB),Operation\n402.653,3,134.218,[CUDA memcpy HtoD]\n",
    "trace": "Start (ns),Duration (ns),CorrId,GrdX,Name\n711541338,1215,132,1,k(int)\n",
    "launches": "PID,TID,DevId,API Start (ns),Kernel Name\n1,1,0,711541338,k\n",
}


@pytest.mark.parametrize("report", OTHER)
def test_other_reports_are_refused_with_the_command_that_writes_this_one(tmp_path: Path, report: str) -> None:
    file = tmp_path / "report"
    file.write_text(OTHER[report])
    with pytest.raises(
        CannotImport, match="none is the summary of kernels; nsys stats --report cuda_gpu_kern_sum"
    ):
        records_of(file, "nsys-kernels")
