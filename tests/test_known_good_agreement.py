"""Two rows of a registry contradict each other exactly where no value meets both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.known_good.agreement import between, is_placeholder
from hio_validate.models import reader
from hio_validate.models.known_good import KnownGood, Requirement

NUMBERS = st.integers(0, 5)


def requirement(**said: Any) -> Requirement:
    row = {"factor": "threads", "severity": "correctness", "because": "it was seen", **said}
    registry: KnownGood = reader("known-good/v1").validate_python(
        {"hio": "known-good/v1", "name": "x", "engine": "any", "models": [{"name": "x"}], "settings": [row]}
    )
    found: Requirement = registry.settings[0]
    return found


VALUED = st.builds(
    lambda must, values: requirement(must=must, values=values),
    st.sampled_from(["required", "forbidden"]), st.lists(NUMBERS, min_size=1, max_size=3, unique=True),
)  # fmt: skip
BOUNDED = st.builds(
    lambda low, more: requirement(must="required", at_least=low, at_most=low + more),
    NUMBERS,
    st.integers(0, 2),
)
ROW = VALUED | BOUNDED


def _meets(value: int, row: Requirement) -> bool:
    if row.must == "forbidden":
        return value not in row.values
    if row.values:
        return value in row.values
    return (row.at_least or 0) <= value <= (9 if row.at_most is None else row.at_most)


@given(one=ROW, other=ROW)
def test_a_contradiction_is_what_no_value_meets(one: Requirement, other: Requirement) -> None:
    said = between(one, other, None)
    assert bool(said) == bool(between(other, one, None))
    if said.endswith("as it is above"):
        assert all(_meets(value, one) == _meets(value, other) for value in range(20))
    else:
        forbidden_in_bounds = {one.must, other.must} == {"required", "forbidden"} and not (
            one.values and other.values
        )
        impossible = not any(_meets(value, one) and _meets(value, other) for value in range(20))
        assert bool(said) == impossible or forbidden_in_bounds, "between two whole numbers there are others"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"must": "required"}, {"must": "forbidden"}, id="set-and-not-set"),
        pytest.param({"must": "required", "values": [True]}, {"must": "forbidden"}, id="on-and-not-set"),
        pytest.param({"must": "required", "values": ["on"]}, {"must": "opt-in", "values": [True]}, id="required-and-opt-in"),
        pytest.param({"must": "required"}, {"must": "phase-limited", "phases": ["warm-up"]}, id="required-in-a-phase"),
        pytest.param({"must": "required", "values": [1]}, {"must": "required", "values": [2], "factor": "LLAMA_ARG_THREADS"}, id="spelt-otherwise"),
        pytest.param({"must": "preferred", "values": [4]}, {"must": "forbidden", "values": [4]}, id="preferred-and-forbidden"),
        pytest.param({"must": "preferred", "values": [4]}, {"must": "required", "values": [2]}, id="preferred-and-required"),
        pytest.param({"must": "preferred", "values": [4]}, {"must": "preferred", "values": [4]}, id="preferred-twice"),
    ],
)  # fmt: skip
def test_ways_to_contradict(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert between(requirement(**one), requirement(**other), None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"must": "required", "values": [False]}, {"must": "forbidden"}, id="off-is-not-set"),
        pytest.param({"must": "required", "values": [1], "builds": ["a"]}, {"must": "forbidden", "values": [1], "builds": ["b"]}, id="builds"),
        pytest.param({"must": "required", "values": [1]}, {"must": "forbidden", "values": [1], "factor": "batch-size"}, id="settings"),
        pytest.param({"must": "forbidden", "values": [1]}, {"must": "forbidden", "values": [2]}, id="two-forbidden"),
        pytest.param({"must": "preferred", "values": [4]}, {"must": "preferred", "values": [2]}, id="two-preferred"),
        pytest.param({"must": "preferred", "values": [4], "scope": "a"}, {"must": "preferred", "values": [4], "scope": "b"}, id="scopes"),
        pytest.param({"must": "preferred", "values": [4]}, {"must": "required", "at_least": 2}, id="preferred-within"),
    ],
)  # fmt: skip
def test_what_both_can_be_met(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not between(requirement(**one), requirement(**other), None)


@pytest.mark.parametrize(
    "text", ["TODO", "todo: say why", "tbd", "?", "???", "<why>", "n/a", "-", "x", "FIXME later", "…."]
)
def test_placeholders(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["it crashes", "wrong answers <with> it", "OOM", "no output at 2 slots", "slow " * 20_000]
)
def test_reasons(text: str) -> None:
    assert not is_placeholder(text)
