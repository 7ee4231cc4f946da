"""What is printed to be typed asks the same question again."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.units import UNITS
from hio_validate.estimating.bounds.asked import STATED
from hio_validate.estimating.bounds.command import command
from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.stated import stated
from hio_validate.models.estimate import EstimateTarget, Workload
from tests.estimating.workloads import PIN

TARGET = EstimateTarget(metric="ttft_ms", better="lower", goal=12.5)


@given(
    st.sampled_from(sorted(STATED)), st.floats(1e-6, 1e12), st.floats(1, 1e4), st.booleans(), st.data()
)  # fmt: skip
def test_what_is_stated_is_printed_so_that_it_is_read_back(
    name: str, low: float, times: float, whole: bool, data: st.DataObject
) -> None:
    its = UNITS[STATED[name][0]][0]
    unit = data.draw(
        st.sampled_from(sorted(unit for unit, (dimension, _) in UNITS.items() if dimension is its))
    )
    ends = (low, low * times)
    if whole:
        ends = (float(round(low)), float(round(low * times)))
    try:
        said = stated([f"{name}={ends[0]!r}..{ends[1]!r}{'' if unit == '1' else unit}"])
    except CannotEstimate:
        return  # nobody can state it
    words = shlex.split(command("lab/tiny", Workload(stack=PIN), TARGET, stated=said))
    assert words[-2] == "--assume"
    assert stated([words[-1]]) == said


def test_all_that_was_asked_is_asked_again() -> None:
    workload = Workload(stack=PIN, fixture=PIN.replace("base", "tides"), concurrency=3, cache="warm")
    said = stated(["acceptance=0.5..0.8", "prompt-tokens=6", "launch=4us"])
    again = command(
        "lab/tiny", workload, TARGET, documents=[("--ceilings", "box"), ("--ceilings", "chip"), ("--shape", "tiny")],
        stated=said, ask=("prompt-tokens", "generated-tokens"),
    )  # fmt: skip
    assert again == (
        "hio estimate base --service lab/tiny --fixture tides --metric ttft_ms --goal 12.5 --concurrency 3 --cache warm "
        "--ceilings box --ceilings chip --shape tiny --assume acceptance=0.5..0.8 --assume launch=4us --assume prompt-tokens=N "
        "--assume generated-tokens=N"
    )


def test_what_is_usual_is_not_printed() -> None:
    target = EstimateTarget(metric="decode_tps", better="higher")
    assert command("lab/tiny", Workload(stack=PIN), target) == (
        "hio estimate base --service lab/tiny --metric decode_tps"
    )


@pytest.mark.parametrize("name", sorted(STATED))
def test_every_statement_can_be_asked_for(name: str) -> None:
    assert command("lab/tiny", Workload(stack=PIN), TARGET, ask=(name,)).endswith(f"--assume {name}=N")
