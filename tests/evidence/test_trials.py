"""A trial is a leg: its measured requests are one observation; what is invalid is kept and never counted."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.evidence.averages import mean
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import Trial, trials_of
from hio_validate.models import reader
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from tests.evidence.experiment import PLAN

PIN = "base@sha256:" + "0" * 64
HEAD = "leg\tarm\tphase\tstatus\tcached\tprompt_sha256\tcontent_sha256\tspeed\n"
GOOD = (
    "1\tone\tcheck\tok\t0\tp\tc\t\n"
    "1\tone\twarm-up\tok\t9\tp\tc\t1\n"
    "1\tone\tmeasured\tok\t0\tp\tc\t10\n"
    "1\tone\tmeasured\tok\t0\tp\tc\t14\n"
    "2\ttwo\tmeasured\tok\t0\tp\tc\t20\n"
    "2\ttwo\tmeasured\tok\t0\tp\tc\t22\n"
)


def plan(**more: Any) -> Plan:
    found: Plan = reader("plan/v1").validate_python({**PLAN, **more})
    return found


def told(legs: list[dict[str, Any]] | None = None, format_: str = "tsv", rows: int = 0) -> Run:
    texts = ("arm", "phase", "status", "prompt_sha256", "content_sha256")
    columns: dict[str, Any] = {name: {"unit": "text"} for name in texts}
    columns |= {
        "leg": {"unit": "1"},
        "cached": {"unit": "1"},
        "speed": {"unit": "token/s", "better": "higher"},
    }
    raw = {"file": "rows", "sha256": "0" * 64, "format": format_, "rows": rows, "arm": "arm", "leg": "leg",
           "phase": "phase", "status": "status"}  # fmt: skip
    run: Run = reader("run/v1").validate_python(
        {
            "hio": "run/v1", "name": "r", "service": "lab/tiny", "arms": {"one": {"stack": PIN}, "two": {"stack": PIN}},
            "raw": raw, "columns": columns, **({"legs": legs} if legs else {}),
        }
    )  # fmt: skip
    return run


def leg(number: int, arm: str, *invalid: str) -> dict[str, Any]:
    at = f"2026-01-01T00:0{number}:0"
    return {
        "leg": number,
        "place": number,
        "arm": arm,
        "started": f"{at}0Z",
        "ended": f"{at}9Z",
        "invalid": list(invalid),
    }


def trials(
    text: str, legs: list[dict[str, Any]] | None = None, planned: Plan | None = None
) -> tuple[Trial, ...]:
    run = told(legs, rows=text.count("\n"))
    return trials_of(run, read_rows(run, (HEAD + text).encode()), planned)


def test_the_median_of_the_measured_requests_is_one_observation() -> None:
    one, two = trials(GOOD)
    assert (one.value("speed"), two.value("speed")) == (12, 21)
    assert one.counted and two.counted
    assert (len(one.checks), len(one.rows), one.number) == (1, 2, 1)


def test_what_does_not_count_may_leave_a_metric_empty() -> None:
    failed = GOOD.replace("2\ttwo\tmeasured\tok\t0\tp\tc\t20", "2\ttwo\tmeasured\ttimeout\t\tp\t\t")
    one, two = trials(failed)
    assert one.counted
    assert two.invalid == ("1 of 2 measured requests failed: timeout",)


UNKNOWN = GOOD.replace("p\tc\t14", "p\tc\t")
"""The second measured request of leg 1 was answered, and nobody knows how fast."""


def test_a_metric_that_one_request_does_not_know_is_no_observation_of_its_trial() -> None:
    one, two = trials(UNKNOWN)
    assert (one.counted, one.value("speed")) == (True, None)
    assert (two.counted, two.value("speed")) == (True, 21)


def test_a_leg_that_does_not_know_the_metric_which_decides_does_not_count() -> None:
    planned = plan()
    asks = planned.model_copy(update={"decide": planned.decide.model_copy(update={"metric": "speed"})})
    one, two = trials(UNKNOWN, planned=asks)
    assert one.invalid == ("speed, which decides, is unknown for 1 of 2 measured requests",)
    assert two.counted


def test_where_no_column_says_how_a_request_ended_an_empty_cell_is_refused() -> None:
    run = told(rows=2)
    silent = run.model_copy(update={"raw": run.raw.model_copy(update={"status": None})})
    good, bad = "1\tone\tmeasured\tok\t0\tp\tc\t1\n", "2\ttwo\tmeasured\tok\t0\tp\tc\t\n"
    with pytest.raises(UnreadableRows, match='speed is "": expected a number') as refusal:
        read_rows(silent, (HEAD + good + bad).encode())
    assert refusal.value.line == 3


@pytest.mark.parametrize("wrong", ["nan", "inf", "fast"])
def test_even_a_failed_row_has_no_number_that_is_none(wrong: str) -> None:
    with pytest.raises(UnreadableRows):
        trials(
            GOOD.replace("\t20\n", f"\t{wrong}\n").replace("two\tmeasured\tok", "two\tmeasured\tbroken", 1)
        )


def test_a_leg_that_the_run_calls_invalid_is_kept_and_not_counted() -> None:
    one, two = trials(GOOD, [leg(1, "one"), leg(2, "two", "the binary was replaced")])
    assert one.counted and not two.counted
    assert two.invalid == ("the binary was replaced",) and len(two.rows) == 2


def test_a_leg_without_rows_measured_nothing() -> None:
    found = trials(GOOD, [leg(1, "one"), leg(2, "two"), leg(3, "two")])
    assert [each.counted for each in found] == [True, True, False]
    assert found[2].invalid == ("it measured nothing",) and found[2].arm == "two"


def test_rows_that_the_run_tells_nothing_of_do_not_count() -> None:
    one, two = trials(GOOD, [leg(1, "one")])
    assert one.counted
    assert "the run tells of no leg 2" in two.invalid


def test_a_leg_with_rows_of_two_arms_is_none() -> None:
    one, _ = trials(GOOD.replace("1\tone\tmeasured\tok\t0\tp\tc\t14", "1\ttwo\tmeasured\tok\t0\tp\tc\t14"))
    assert one.invalid == ("it has rows of another arm: two",)


def test_a_cached_prompt_invalidates_where_the_plan_is_cold() -> None:
    text = GOOD.replace("2\ttwo\tmeasured\tok\t0\tp\tc\t22", "2\ttwo\tmeasured\tok\t17\tp\tc\t22")
    assert all(each.counted for each in trials(text)), "nobody said cold"
    one, two = trials(text, planned=plan())
    assert one.counted, "what a warm-up found in the cache is no matter"
    assert two.invalid == ("17 prompt tokens came from a cache, which the regime does not allow",)
    assert all(each.counted for each in trials(text, planned=plan(cache="warm")))


def test_one_prompt_with_two_answers_in_a_leg_invalidates_where_they_have_to_be_equal() -> None:
    text = GOOD.replace("p\tc\t22", "p\tanother\t22")
    assert "2 different answers" in trials(text, planned=plan())[1].invalid[0]
    assert all(each.counted for each in trials(text, planned=plan(same_work={"content": "any"})))


def test_a_leg_that_was_cut_short_is_not_what_was_planned() -> None:
    text = GOOD.replace("2\ttwo\tmeasured\tok\t0\tp\tc\t22\n", "")
    assert trials(text)[1].counted
    assert trials(text, planned=plan())[1].invalid == ("1 measured requests; the plan says 2",)


def test_nothing_measured_is_readable() -> None:
    assert trials("") == ()
    run = told(format_="jsonl")
    assert read_rows(run, b"") == []
    run = told([leg(1, "one")], format_="jsonl")
    assert [each.counted for each in trials_of(run, read_rows(run, b"\n"))] == [False]
    with pytest.raises(UnreadableRows, match="the file of rows is empty"):
        read_rows(told(), b"")


def test_null_is_an_empty_cell() -> None:
    line = b'{"leg": 1, "arm": "one", "phase": "measured", "status": "x", "cached": 0, "prompt_sha256": "p", "content_sha256": "c", "speed": null}\n'
    run = told(format_="jsonl", rows=1)
    assert read_rows(run, line)[0].cells["speed"] == ""
    [trial] = trials_of(run, read_rows(run, line.replace(b'"x"', b'"ok"')))
    assert trial.value("speed") is None


@pytest.mark.parametrize("column", ["leg", "phase", "status"])
def test_a_column_that_the_run_names_and_the_rows_lack_is_refused(column: str) -> None:
    run = told(rows=1)
    columns = {name: each for name, each in run.columns.items() if name != column}
    lacking = run.model_copy(update={"columns": columns})
    head = "\t".join(columns)
    cells = {"arm": "one", "speed": "1"}
    row = "\t".join(cells.get(name, "0") for name in columns)
    with pytest.raises(UnreadableRows, match=f'no column "{column}"'):
        read_rows(lacking, f"{head}\n{row}\n".encode())


def test_a_mean_of_the_largest_numbers_is_a_number() -> None:
    assert mean([1e308, 1e308]) == 1e308
    assert mean([0.1, 0.1, 0.1]) == 0.1
