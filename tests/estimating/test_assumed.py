"""Only an assumption whose interval changes the first candidate is asked about (contract 9.7)."""

from __future__ import annotations

from pathlib import Path

from hio_validate.estimating.assumed import that_matter, without_effect
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import Amount, Assumption
from tests.estimating.candidates.workbench import asked, bench, looked, names


def judged(inputs: Inputs) -> dict[str, Assumption]:
    found = that_matter(inputs, terms_of(inputs), looked(inputs).candidates)
    return {each.name: each for each in found}


def test_an_acceptance_that_nobody_states_decides_which_is_first(tmp_path: Path) -> None:
    inputs = asked(bench(tmp_path))
    assert names(looked(inputs))[0] == "draft-ngram-mod"
    said = judged(inputs)["acceptance"].changes
    assert said is not None
    assert said.startswith("at 0 weights-q8_0 comes first (at most 61.7 %), in place of draft-ngram-mod")
    assert "at 1 " not in said, "with every token accepted it stays the first"


def test_a_narrow_acceptance_changes_nothing_and_is_not_asked_about(tmp_path: Path) -> None:
    narrow: dict[str, Amount] = {"acceptance": Amount(value=0.95, low=0.9, high=1.0, unit="1")}
    inputs = asked(bench(tmp_path), stated=narrow)  # type: ignore[arg-type]
    found = that_matter(inputs, terms_of(inputs), looked(inputs).candidates)
    assert all(each.changes is None for each in found)


def test_every_assumption_of_the_ledger_is_among_them(tmp_path: Path) -> None:
    inputs = asked(bench(tmp_path))
    assert {each.name for each in terms_of(inputs).assumptions} <= judged(inputs).keys()


def test_a_rate_whose_ends_leave_the_first_candidate_the_first_says_nothing(tmp_path: Path) -> None:
    inputs = asked(bench(tmp_path), stated={"acceptance": 1.0})
    assert judged(inputs)["matmul"].changes is None


def test_a_rate_at_its_end_still_grows_with_the_threads(tmp_path: Path) -> None:
    """A rate that is stated belongs to the threads as they are: more of them reach more of it."""
    unsure: dict[str, Amount] = {"memory-read": Amount(value=50e6, low=40e6, high=60e6, unit="B/s"),
                                 "acceptance": Amount(value=0.0, low=0.0, high=0.0, unit="1")}  # fmt: skip
    inputs = asked(bench(tmp_path), stated=unsure)  # type: ignore[arg-type]
    assert "threads-2" in names(looked(inputs))
    assert judged(inputs)["memory-read"].changes is None


def test_what_is_stated_and_changes_nothing_is_said(tmp_path: Path) -> None:
    rate = Amount(value=1.0, low=1.0, high=1.0, unit="GB/s")
    root = bench(tmp_path)
    stated: dict[str, Amount] = {"memory-read": rate, "disk-read": rate}

    def told(metric: str, **more: float) -> list[str]:
        inputs = asked(root, metric, stated={**stated, **more})  # type: ignore[dict-item]
        return [each.split()[1] for each in without_effect(inputs, terms_of(inputs))]

    assert told("decode_tps", acceptance=0.5, microbatch=32.0) == ["disk-read", "microbatch"]
    assert told("prefill_tps", acceptance=0.5, microbatch=32.0) == [
        "generated-tokens",
        "disk-read",
        "acceptance",
    ]
    assert told("wall_s", microbatch=32.0) == ["disk-read"]
