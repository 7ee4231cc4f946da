"""Raw rows as bytes: what is read, what is refused and at which line, and what is computed from them."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.raw import UnreadableRows, agrees, number, read_rows
from hio_validate.evidence.trials import change_percent
from hio_validate.models import reader
from hio_validate.models.entry import Result
from hio_validate.models.run import Run

PIN = "base@sha256:" + "0" * 64


def _run(rows: int, format_: str = "tsv", **columns: dict[str, str]) -> Run:
    shown: dict[str, Any] = columns or {
        "arm": {"unit": "text"},
        "speed": {"unit": "token/s", "better": "higher"},
    }
    run: Run = reader("run/v1").validate_python(
        {
            "hio": "run/v1", "name": "r", "service": "lab/tiny", "arms": {"one": {"stack": PIN}, "two": {"stack": PIN}},
            "raw": {"file": "rows", "sha256": "0" * 64, "format": format_, "rows": rows, "arm": "arm"}, "columns": shown,
        }
    )  # fmt: skip
    return run


def _refused(raw: bytes, run: Run) -> UnreadableRows:
    with pytest.raises(UnreadableRows) as refusal:
        read_rows(run, raw)
    return refusal.value


def test_tab_separated_rows_keep_their_line_and_their_text() -> None:
    rows = read_rows(_run(2), b"arm\tspeed\none\t10.50\n\ntwo\t1e1\n")
    assert [(row.line, row.cells) for row in rows] == [
        (2, {"arm": "one", "speed": "10.50"}),
        (4, {"arm": "two", "speed": "1e1"}),
    ]


def test_json_lines_are_the_same_rows_in_any_order_of_keys() -> None:
    raw = b'{"arm": "one", "speed": 10.5}\n\n{"speed": "7", "arm": "two"}\n'
    rows = read_rows(_run(2, "jsonl"), raw)
    assert [(row.line, row.cells["speed"]) for row in rows] == [(1, "10.5"), (3, "7")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_no_part_of_a_cell(end: str) -> None:
    rows = read_rows(_run(1), f"arm\tspeed{end}one\t10{end}".encode())
    assert rows[0].cells == {"arm": "one", "speed": "10"}


@pytest.mark.parametrize(
    ("raw", "line", "said"),
    [
        (b"arm\tspeed\none\t10\n", 2, "1 rows up to here; the run says 2"),
        (b"arm\tspeed\n" + b"one\t10\n" * 3, 4, "3 rows up to here; the run says 2"),
        (b"", 1, "the file of rows is empty"),
        (b"arm\tspeed\none\t10\none\n", 3, "1 cells under a header of 2 columns"),
        (b"arm\tspeed\none\t10\none\t10\t11\n", 3, "3 cells under a header of 2 columns"),
        (b"arm\tspeed\tspeed\none\t1\t2\none\t1\t2\n", 1, "a column stands twice"),
        (b"arm\tspeeds\none\t1\none\t2\n", 1, "columns without a unit in the run: speeds"),
        (b"arm\tspeed\none\t10\nthree\t10\n", 3, 'the arm "three" is not in the run'),
        (b"arm\tspeed\none\t10\n\xff\t10\n", 3, "not UTF-8"),
        (b"\xef\xbb\xbfarm\tspeed\none\t10\none\t1\n", 1, "byte order mark U+FEFF"),
    ],
)
def test_rows_that_are_not_what_the_run_says_are_refused_at_their_line(
    raw: bytes, line: int, said: str
) -> None:
    refusal = _refused(raw, _run(2))
    assert refusal.line == line
    assert said in refusal.message


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'{"arm": "one", "speed": 1}\nslot 0: done\n', 2),
        (b'{"arm": "one", "speed": 1}\n[1]\n', 2),
        (b'{"arm": "one", "speed": 1}\nnull\n', 2),
        (b'{"arm": "one", "speed": 1, "speed": 2}\n{}\n', 1),
        (b'{"arm": "one"}\n{}\n', 1),
        (b'{"arm": "one", "speed": 1, "more": 2}\n{}\n', 1),
        (b'{"arm": "one", "speed": NaN}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": "one", "speed": Infinity}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": "one", "speed": true}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": "one", "speed": null}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": "one", "speed": [1]}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": 1, "speed": 1}\n{"arm": "one", "speed": 1}\n', 1),
        (b'{"arm": "one", "speed": 1}\n' + b"[" * 100_000 + b"\n", 2),
        (b'{"arm": "one", "speed": 1}\n{"arm": "one", "speed": ' + b"9" * 5000 + b"}\n", 2),
    ],
)
def test_json_lines_that_are_no_rows_are_refused_at_their_line(raw: bytes, line: int) -> None:
    assert _refused(raw, _run(2, "jsonl")).line == line


@pytest.mark.parametrize(
    "cell", ["", " ", "nan", "NaN", "-inf", "Infinity", "1e999", "1_000", "1,5", "0x10", "١٢", "10 ", "ok", "--1", "1e"]
)  # fmt: skip
def test_a_cell_that_is_no_finite_number_never_enters_a_statistic(cell: str) -> None:
    refusal = _refused(f"arm\tspeed\none\t1\ntwo\t{cell}\n".encode(), _run(2))
    assert refusal.line == 3
    assert "speed" in refusal.message


def test_a_label_may_be_any_text() -> None:
    run = _run(1, arm={"unit": "text"}, note={"unit": "text"})
    assert read_rows(run, "arm\tnote\none\tnan, übel\n".encode())[0].cells["note"] == "nan, übel"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_as_written(value: float) -> None:
    row = read_rows(_run(1), f"arm\tspeed\none\t{value!r}\n".encode())[0]
    assert number(row, "speed") == value


@given(
    st.lists(
        st.fixed_dictionaries({"arm": st.sampled_from(["one", "two"]), "speed": st.integers(-9, 9)}),
        min_size=1,
    )
)
def test_both_formats_give_the_same_rows(data: list[dict[str, Any]]) -> None:
    tsv = "arm\tspeed\n" + "".join(f"{row['arm']}\t{row['speed']}\n" for row in data)
    jsonl = "".join(json.dumps(row) + "\n" for row in data)
    read = [
        read_rows(_run(len(data), format_), raw.encode()) for format_, raw in (("tsv", tsv), ("jsonl", jsonl))
    ]
    assert [row.cells for row in read[0]] == [row.cells for row in read[1]]


def _result(statistic: str, **sides: str) -> Result:
    return Result.model_validate(
        {"metric": "speed", "from": "one", "to": "two", "statistic": statistic, "change_percent": 0, **sides}
    )


def _change(statistic: str, *speeds: tuple[str, str], **sides: str) -> float | None:
    run = _run(len(speeds))
    raw = "arm\tspeed\n" + "".join(f"{arm}\t{speed}\n" for arm, speed in speeds)
    return change_percent(_result(statistic, **sides), run, read_rows(run, raw.encode()))


@pytest.mark.parametrize(
    ("statistic", "expected"), [("mean", 100 * (30 / 20 - 1)), ("median", 100 * (24 / 12 - 1))]
)  # fmt: skip
def test_a_change_is_that_of_the_statistic_of_each_arm(statistic: str, expected: float) -> None:
    rows = [("one", "10"), ("two", "24"), ("one", "12"), ("two", "20"), ("one", "38"), ("two", "46")]
    assert _change(statistic, *rows) == pytest.approx(expected)


def test_an_arm_without_rows_or_a_reference_of_zero_has_no_change() -> None:
    assert _change("mean", ("one", "1")) is None
    assert _change("mean", ("two", "1")) is None
    assert _change("mean", ("one", "0"), ("two", "1")) is None
    assert _change("median", ("one", "1"), ("two", "0")) == -100


def test_the_largest_numbers_do_not_overflow() -> None:
    rows = [(arm, "1.7e308") for arm in ("one", "two") for _ in range(3)]
    assert _change("mean", *rows) == pytest.approx(0)
    assert _change("median", *rows[1:5]) == pytest.approx(0)


_SPEEDS = st.lists(st.integers(1, 10_000).map(lambda whole: whole / 8), min_size=1, max_size=9)


@given(_SPEEDS, _SPEEDS)
def test_a_change_and_its_reverse_multiply_to_one(ones: list[float], twos: list[float]) -> None:
    rows = [("one", repr(speed)) for speed in ones] + [("two", repr(speed)) for speed in twos]
    for statistic, by_hand in (("mean", lambda side: sum(side) / len(side)), ("median", median)):
        there = _change(statistic, *rows)
        back = _change(statistic, *rows, **{"from": "two", "to": "one"})
        assert there is not None and back is not None
        assert there == pytest.approx(100 * (by_hand(twos) / by_hand(ones) - 1), abs=1e-9)
        assert (1 + there / 100) * (1 + back / 100) == pytest.approx(1)


@pytest.mark.parametrize(
    ("published", "computed", "same"),
    [
        (5, 5.4, True), (5, 5.6, False), (5.0, 5.04, True), (5.0, 5.06, False), (5.25, 5.2549, True),
        (5.25, 5.256, False), (-3.1, -3.14, True), (-3.1, 3.1, False), (0, 0.4, True), (0.0, 0.4, False),
        (1e-07, 0.4, False), (1e-07, 1e-07, True), (1e22, 1.2e22, True), (1e22, 2e22, False), (0.1, float("inf"), False),
    ],
)  # fmt: skip
def test_a_published_number_agrees_to_the_digits_it_shows(
    published: float, computed: float, same: bool
) -> None:
    assert agrees(published, computed) is same


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_every_number_agrees_with_its_own_rounding_and_no_other(computed: float, digits: int) -> None:
    published = round(computed, digits) if digits else round(computed)
    assert agrees(published, computed)
    assert not agrees(published, computed + 2.0)
