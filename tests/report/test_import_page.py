"""The page of hio import: rows and columns of numbers, what is left out, and that it fits a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hio_validate.evidence.observed import Measured, Observation, Requests
from hio_validate.report.metric_rows import quantities
from hio_validate.report.record_table import record_table
from hio_validate.report.shared_facts import Shared
from hio_validate.report.sweep_table import sweep_table


def measured(name: str, statistic: str, value: float, n: int | None = 4, derived: bool = False) -> Measured:
    return Measured(name, "ttft-client", statistic, value, "ms", n, derived=derived)


@pytest.mark.parametrize(
    ("names", "row"),
    [
        pytest.param(("mean_ttft_ms", "p99_ttft_ms"), "ttft_ms", id="before"),
        pytest.param(("ttft.avg", "ttft.p99.9"), "ttft", id="behind"),
        pytest.param(("Mean latency (ns)", "99.00 percentile latency (ns)"), "latency (ns)", id="in words"),
        pytest.param(("time_to_first_token", "time_to_first_token"), "time_to_first_token", id="not at all"),
        pytest.param(("avg_latency", "percentiles.99"), "latency", id="by other names"),
        pytest.param(("Mean First Token", "p99 first token"), "First Token", id="in other letters"),
        pytest.param(("mean", "p99"), "ttft-client", id="nothing else"),
        pytest.param(("meantime", "meantime"), "meantime", id="part of a word"),
        pytest.param(("pp16_tps", "pp16_stdev"), "pp16_tps", id="a spread by another name"),
    ],
)
def test_the_statistics_of_a_quantity_are_one_row(names: tuple[str, str], row: str) -> None:
    other = "std" if "stdev" in names[1] else "p99"
    (found,) = quantities([measured(names[0], "mean", 1), measured(names[1], other, 2)])
    assert (found.name, list(found.numbers)) == (row, ["mean", other])


def test_two_numbers_of_one_statistic_or_of_other_counts_are_two_rows() -> None:
    rows = quantities([measured("x", "mean", 1), measured("x_mean", "mean", 2), measured("x", "p99", 3, n=9)])
    assert [(row.name, row.n, len(row.numbers)) for row in rows] == [
        ("x", 4, 1),
        ("x", 9, 1),
        ("x_mean", 4, 1),
    ]


WORDS = (
    "mean",
    "median",
    "std",
    "min",
    "max",
    "p0.1",
    "p1",
    "p5",
    "p25",
    "p75",
    "p90",
    "p95",
    "p99",
    "p99.9",
)


def test_a_quantity_is_a_line_and_what_has_no_room_is_counted() -> None:
    left_out: dict[str, None] = {}
    rows = quantities(measured("time_to_first_token", word, at * 1000.5) for at, word in enumerate(WORDS))
    head, line = record_table(rows, 80, left_out).splitlines()
    assert head.split() == [
        "lower",
        "is",
        "better",
        "unit",
        "n",
        "mean",
        "median",
        "p90",
        "p95",
        "p99",
        "std",
    ]
    assert line.split()[:4] == ["time_to_first_token", "ms", "4", "0"]
    assert list(left_out) == ["min", "max", "p0.1", "p1", "p5", "p25", "p75", "p99.9"]


def test_what_hio_computed_and_an_unknown_count_are_marked() -> None:
    table = record_table(
        quantities([measured("a", "mean", 1.5, None, derived=True), measured("b", "mean", 22.25, None)]),
        80,
        {},
    )
    assert table.splitlines()[1:] == [
        "  a                ms    ?    1.5*",
        "  b                ms    ?  22.25",
    ]


def test_the_only_statistic_of_a_row_is_always_shown() -> None:
    rows = quantities([*(measured("a", word, 1e9 + 0.5) for word in WORDS), measured("b" * 28, "p99.9", 7)])
    assert "p99.9" in record_table(rows, 60, {}).splitlines()[0]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["short", "a_name_of_a_quantity_that_is_longer_than_its_column"])
def test_tables_fit(width: int, name: str) -> None:
    metrics = [measured(f"{word}_{name}", word, 123456.789) for word in WORDS]
    records = [Observation(f"concurrency-{at}", metrics=metrics) for at in (1, 2, 4)]
    alone = record_table(quantities(metrics), width, {})
    together = sweep(records, width)
    assert max(len(line) for line in (alone + together).splitlines()) <= width


def sweep(records: Sequence[Observation], width: int = 80) -> str:
    shared = Shared(records)
    table = sweep_table(records, [shared.own(record) for record in records], width, {})
    assert table is not None
    return table


def test_records_of_a_sweep_are_rows_with_what_distinguishes_them() -> None:
    records = [
        Observation(
            f"run-{at}", workload={"concurrency": load, "model": "m"}, requests=Requests(9, ok),
            metrics=[measured("ttft", "mean", load * 10.0, ok), measured("ttft", "p99", load * 20.0, ok)] if ok else [],
        )
        for at, (load, ok) in enumerate(((1, 9), (16, 7), (32, 0)))
    ]  # fmt: skip
    lines = [line.split() for line in sweep(records).splitlines()]
    assert lines[2] == ["record", "concurrency", "ok", "n", "mean", "p99"]
    assert lines[3:] == [
        ["run-0", "1", "9", "9", "10", "20"],
        ["run-1", "16", "7", "7", "160", "320"],
        ["run-2", "32", "0", "-", "-", "-"],
    ]


def test_what_a_name_says_is_no_column() -> None:
    records = [
        Observation(
            f"concurrency-{load}", workload={"concurrency": load}, metrics=[measured("ttft", "mean", load)]
        )
        for load in (1, 16)
    ]
    assert sweep(records).splitlines()[2].split() == ["record", "n", "mean"]


def test_what_nobody_can_say_how_it_was_counted_has_no_direction() -> None:
    made = Measured("predicted_tokens_seconds", "unknown", "mean", 36.2, "token/s")
    assert record_table(quantities([made]), 80, {}).startswith("  unknown what is better")


@pytest.mark.parametrize(
    ("counts", "said"),
    [((4, 9), "4-9"), ((4, 4), "4"), ((4, None), "?"), ((None, None), "?")],
)
def test_how_many_observations_the_numbers_of_a_record_are_of(
    counts: tuple[int | None, int | None], said: str
) -> None:
    metrics = [measured("a", "mean", 1, counts[0]), measured("b", "mean", 2, counts[1])]
    lines = sweep([Observation(name, metrics=metrics) for name in ("one", "two")]).splitlines()
    assert lines[2].split()[:2] == ["record", "n"] and lines[3].split()[:2] == ["one", said]


def test_totals_have_no_count() -> None:
    metrics = [measured("a", "total", 1, None)]
    head = sweep([Observation(name, metrics=metrics) for name in ("one", "two")]).splitlines()[2]
    assert head.split() == ["record", "total"]
