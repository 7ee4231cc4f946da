"""What was measured of exactly this workload; its distance from the bound."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hio_validate.estimating.context.gather import CannotEstimate
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.measured import compared
from hio_validate.estimating.context.stated import stated
from hio_validate.models.estimate import Amount, BoundTime
from tests.estimating.tiny import CEILINGS, PUBLISHED, SHAPE, changed, gathered, lab, other, put
from tests.evidence.experiment import FIXTURE, HOST, SPEEDS, Experiment
from tests.small_repo import ROOM, stack, write

SET: dict[str, Any] = {"server.threads": "2"}


def _threads(document: dict[str, Any]) -> None:
    document["at"] = "2026-02-01T00:00:00Z"


def test_the_newest_run_of_the_stack_is_the_baseline(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS)).baseline
    assert found is not None
    assert found.run.startswith("threads@sha256:") and found.arm == "base"
    assert found.value == pytest.approx(50.1), "the median of the measured rows"
    assert (found.low, found.high) == (49.6, 50.5), "the medians of the legs"
    assert found.unit == "token/s"


def test_an_arm_with_a_delta_is_the_stack_whose_settings_it_has(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS), "two").baseline
    assert found is not None
    assert found.arm == "two", "base with server.threads 2 is the stack two"
    assert found.value == pytest.approx(60.25)


def test_a_stack_of_the_same_name_with_other_bytes_has_no_baseline(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    write(root, {f"{ROOM}/stacks/base.yaml": stack("base", 3)})
    found = gathered(root)
    assert found.baseline is None
    assert any(each.startswith("a baseline: no run measured decode_tps of base") for each in found.missing)
    with pytest.raises(CannotEstimate, match="its stack base has other bytes now than it pinned"):
        gathered(root, run="threads")


def test_a_named_run_is_taken_even_if_it_is_older(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    found = gathered(root, run="aa").baseline
    assert found is not None and found.run.startswith("aa@")


def test_both_arms_of_a_stack_against_itself_are_the_baseline(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise({"base": [50.0, 52.0, 51.0, 51.0], "again": [40.0, 49.0, 60.0, 50.0]})
    put(tmp_path, SHAPE, CEILINGS)
    found = gathered(tmp_path, run="aa").baseline
    assert found is not None and found.arm == "base"
    assert (found.low, found.high) == (40.0, 60.0), "the legs of both"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stack": "three"}, r"base: its stack differs: server.threads 1"),
        ({"concurrency": 2}, "requests at once: 1, asked for 2"),
        ({"cache": "warm"}, "its cache is cold, asked for warm"),
        ({"metric": "itl_ms"}, "it has no itl_ms that counts"),
        ({"fixture": "other"}, "it did not ask these bytes of the fixture other"),
    ],
)
def test_a_run_of_something_else_is_refused_with_what_differs(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, changed(FIXTURE, name="other"))
    write(root, {f"{ROOM}/stacks/three.yaml": stack("three", 3)})
    with pytest.raises(CannotEstimate, match=said):
        gathered(root, run="threads", **options)
    assert gathered(root, **options).baseline is None


def test_another_host_is_no_baseline_and_is_said(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, changed(CEILINGS, host=other("elsewhere")))
    found = gathered(root)
    assert found.baseline is None
    assert any(
        f"(threads: its host is {HOST[:12]}, the ceilings are of {other('elsewhere')[:12]})" in each
        for each in found.missing
    )
    with pytest.raises(CannotEstimate, match="its host is"):
        gathered(root, run="threads")


def test_where_the_ceilings_name_no_host_no_run_is_a_baseline(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, PUBLISHED)
    assert gathered(root).baseline is not None, "its host has measured ceilings"
    found = gathered(root, ceilings=["paper"])
    assert found.workload.target_host is None and found.baseline is None
    told = f"(threads: its host is {HOST[:12]}, the ceilings (paper) name none: "
    assert any(told in each for each in found.missing)
    with pytest.raises(CannotEstimate, match=r"the ceilings \(paper\) name none"):
        gathered(root, ceilings=["paper"], run="threads")
    both = gathered(root, ceilings=["paper", "lab-host"])
    assert both.baseline is not None, "the measured ones name the host"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("prompt-tokens=16384", "its rows count 5 evaluated tokens, stated are 16384"),
        ("prompt-tokens=6..9", "its rows count 5 evaluated tokens, stated are 6 to 9"),
        ("generated-tokens=1..7", "its rows count 8 generated tokens, stated are 1 to 7"),
    ],
)
def test_a_run_of_other_lengths_than_the_stated_ones_is_no_baseline(
    tmp_path: Path, said: str, told: str
) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    same = stated(["prompt-tokens=5", "generated-tokens=8..9"])
    assert gathered(root, stated=same).baseline is not None
    found = gathered(root, stated=stated([said]))
    assert found.baseline is None
    assert any(f"(threads: {told})" in each for each in found.missing)
    with pytest.raises(CannotEstimate, match=told):
        gathered(root, stated=stated([said]), run="threads")


def test_the_answers_length_is_none_of_a_prompts(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    said = stated(["generated-tokens=99"])
    assert gathered(root, stated=said, metric="ttft_ms").baseline is not None
    assert gathered(root, stated=said, metric="wall_s").baseline is None


def test_a_profiled_or_aborted_run_is_no_baseline(tmp_path: Path) -> None:
    def profiled(document: dict[str, Any]) -> None:
        document["legs"][0]["instrumented"] = True

    def aborted(document: dict[str, Any]) -> None:
        document |= {"outcome": "aborted", "why": "others"}

    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=profiled)
    put(tmp_path, SHAPE, CEILINGS)
    found = gathered(tmp_path)
    assert found.baseline is not None and found.baseline.run.startswith("aa@")
    with pytest.raises(CannotEstimate, match="a profiler ran beside it"):
        gathered(tmp_path, run="threads")
    experiment.run(run=aborted)
    with pytest.raises(CannotEstimate, match="it ended aborted"):
        gathered(tmp_path, run="threads")


def test_a_run_of_another_model_is_no_baseline(tmp_path: Path) -> None:
    def foreign(document: dict[str, Any]) -> None:
        for process in document["processes"].values():
            process["artifacts"]["model"]["sha256"] = other("foreign")

    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(capture=foreign)
    put(tmp_path, SHAPE, CEILINGS)
    found = gathered(tmp_path)
    assert found.baseline is not None and found.baseline.run.startswith("aa@")
    with pytest.raises(CannotEstimate, match="its model is"):
        gathered(tmp_path, run="threads")


def test_changed_rows_are_no_measurement(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    rows = root / ROOM / "runs/threads/rows.tsv"
    rows.write_text(rows.read_text().replace("50.", "90."))
    found = gathered(root)
    assert found.baseline is not None and found.baseline.run.startswith("aa@")


def test_what_is_not_committed_is_said(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    found = gathered(root, committed=lambda item: item.name != "threads")
    assert any("threads: it is not committed" in each for each in found.missing)
    assert not any("committed" in each for each in gathered(root, committed=lambda item: True).missing)


def _bound(value: float, low: float, high: float, unit: Any = "1") -> BoundTime:
    metric = Amount(value=value, low=low, high=high, unit=unit)
    return BoundTime(groups=[["weights"]], time=Amount(value=1.0, low=1.0, high=1.0, unit="s"), metric=metric)


def test_efficiency_of_a_rate_is_measured_by_bound_with_both_intervals(tmp_path: Path) -> None:
    inputs = gathered(lab(tmp_path, SHAPE, CEILINGS))
    found, findings = compared(inputs, _bound(100, 80, 125))
    assert found is not None and found.efficiency_percent is not None
    efficiency = found.efficiency_percent
    assert efficiency.value == pytest.approx(50.1)
    assert (efficiency.low, efficiency.high) == (pytest.approx(49.6 / 1.25), pytest.approx(50.5 / 0.8))
    assert findings == (), "a gap is no finding and has no cause yet"


def test_efficiency_of_a_time_is_bound_by_measured_in_one_unit(tmp_path: Path) -> None:
    inputs = gathered(lab(tmp_path, SHAPE, CEILINGS), metric="ttft_ms")
    assert inputs.baseline is not None
    found, findings = compared(inputs, _bound(0.01, 0.01, 0.01, "s"))
    assert found is not None and found.efficiency_percent is not None
    assert found.efficiency_percent.value == pytest.approx(100 * 10 / inputs.baseline.value)
    assert findings == ()


def test_what_is_above_its_bound_is_said_and_what_is_wholly_above_cannot_be(tmp_path: Path) -> None:
    inputs = gathered(lab(tmp_path, SHAPE, CEILINGS))
    (near,) = compared(inputs, _bound(45, 40, 60))[1]
    assert "is 111.3 % of the best guess of the bound" in near and "nothing is faster" not in near
    assert compared(inputs, _bound(55, 40, 60))[1] == ()
    (finding,) = compared(inputs, _bound(25, 20, 40))[1]
    assert "nothing is faster than its bound" in finding
    assert "200.4 %" in finding


def test_ceilings_of_a_busy_machine_are_the_first_suspect(tmp_path: Path) -> None:
    inputs = gathered(lab(tmp_path, SHAPE, changed(CEILINGS, load=2.08)))
    (near,) = compared(inputs, _bound(45, 40, 60))[1]
    assert "look first at the rates of lab-host, measured at a load of 2.08" in near
    quiet = gathered(lab(tmp_path / "quiet", SHAPE, changed(CEILINGS, load=0.3)))
    assert not any("load of" in each for each in compared(quiet, _bound(45, 40, 60))[1])


@pytest.mark.parametrize(
    ("spoil", "suspect"),
    [
        ({"rows": {"cached": 3, "evaluated": 2}}, "the cache: rows count 3 cached tokens"),
        ({"rows": {"drafted": 4, "accepted": 2}}, "drafting: rows count 2 accepted tokens"),
        ({"shape": {"source": {"format": "stated", "says": "someone"}}}, "the shape tiny, which names no model file"),
        ({"rates": {"threads": 8}}, "the threads: 1 ran, lab-host was measured with 8"),
        ({"stated": "memory-read=1GB/s"}, "what was assumed: memory-read"),
        (
            {"rates": {"working_set": 900_000}, "rows": {"cached": 3, "evaluated": 2}},
            "whether caches hold the weights: a pass reads 0.374 MB again and again, memory-read of lab-host was measured over "
            "0.9 MB",
        ),
        ({"rates": {"working_set": 400_000}, "stated": "memory-read=1GB/s"}, "what was assumed: memory-read"),
    ],
    ids=["cache", "drafting", "shape", "threads", "stated", "caches", "no-more-than-a-pass"],
)  # fmt: skip
def test_a_finding_says_where_to_look_first(tmp_path: Path, spoil: dict[str, Any], suspect: str) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    warm = "cached" in spoil.get("rows", {})

    def plan(document: dict[str, Any]) -> None:
        document["cache"] = "warm" if warm else "cold"

    experiment.run(speeds=SPEEDS, plan=plan, rows=lambda row: row.update(spoil.get("rows", {})))
    rate = CEILINGS["rates"]["memory-read-1"] | spoil.get("rates", {})
    put(tmp_path, SHAPE | spoil.get("shape", {}), changed(CEILINGS, rates={"memory-read": rate}))
    words = [spoil["stated"]] if "stated" in spoil else []
    inputs = gathered(tmp_path, run="threads", stated=stated(words), cache="warm" if warm else "cold")
    (finding,) = compared(inputs, _bound(25, 25, 25))[1]
    assert f"look first at {suspect}" in finding


def test_without_baseline_or_bound_nothing_is_compared(tmp_path: Path) -> None:
    inputs: Inputs = gathered(lab(tmp_path, SHAPE, CEILINGS))
    assert compared(inputs, None) == (inputs.baseline, ())
    assert compared(replace(inputs, baseline=None), _bound(1, 1, 1)) == (None, ())
