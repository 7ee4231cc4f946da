"""Two receipts: whatever they say, comparing is symmetric and unknown is never equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.quality import Terms
from hio_validate.evidence.quality_receipts import FACTS, fact, judged, largest_error, side, why_not
from hio_validate.models import reader
from hio_validate.models.receipt import Quality
from tests.models.documents import documents

TERMS = Terms(0.5, 0.1, 0.05)
GOOD: dict[str, Any] = {
    "hio": "receipt/v1", "name": "a", "service": "lab/tiny", "kind": "quality",
    "source": {"file": "a.receipt", "sha256": "a" * 64, "format": "lm-eval"},
    "harness": {"name": "h", "version": "1"}, "task": "t", "task_version": "1", "filter": "none", "metric": "acc",
    "better": "higher", "value": 0.75, "stderr": 0.02, "n": 400, "whole": 400, "limit": "none", "few_shot": 0,
    "seed": "1", "dataset": {"name": "d", "sha256": "b" * 64},
}  # fmt: skip


def receipt(**changed: Any) -> Quality:
    found = reader("receipt/v1").validate_python(GOOD | changed)
    assert isinstance(found, Quality)
    return found


@st.composite
def qualities(draw: st.DrawFn) -> Quality:
    found = reader("receipt/v1").validate_python(draw(documents("receipt/v1")))
    return found if isinstance(found, Quality) else receipt(n=draw(st.integers(0, 10**400)))


@given(qualities(), qualities())
def test_comparing_is_symmetric_and_nothing_is_too_strange_for_it(one: Quality, other: Quality) -> None:
    assert bool(list(why_not(one, other))) is bool(list(why_not(other, one)))
    for each in (one, other):
        side(each, None, "x")
        largest_error(each)
        has_unknown = any(fact(each, name) is None for name in FACTS)
        assert bool(list(why_not(each, each))) is has_unknown
        assert not list(why_not(each, each, FACTS))
        judged(each, each, (None, None), TERMS, ("one", "other"))


def test_the_same_receipt_twice_is_comparable() -> None:
    assert not list(why_not(receipt(), receipt()))
    assert judged(receipt(), receipt(), (None, None), TERMS, ("one", "other")).reason == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": "unknown"}, "one side does not say the seeds"),
        ({"better": "unknown"}, "one side does not say which direction is a gain"),
        ({"limit": 10}, "the limit on the items differs"),
        ({"conditions": {"chat_template_sha": "x"}}, "chat_template_sha differs: unknown and x"),
    ],
)
def test_what_differs_is_told(changed: dict[str, Any], said: str) -> None:
    assert any(each.startswith(said) for each in why_not(receipt(), receipt(**changed)))


def test_a_word_stands_in_only_for_what_both_leave_open() -> None:
    assert list(why_not(receipt(), receipt(seed="unknown"), ["seed"]))
    assert not list(why_not(receipt(seed="unknown"), receipt(seed="unknown"), ["seed"]))


def test_a_group_that_weighs_its_tasks_alike_is_no_share_of_its_items() -> None:
    of_items, of_tasks = (
        receipt(value=0.5, stderr=0.06, n=1020),
        receipt(value=0.5, stderr=0.06, n=1020, group=True),
    )
    assert largest_error(of_items) == pytest.approx(0.01566, rel=1e-3)
    assert largest_error(of_tasks) is None
    assert side(of_items, None, "x") is not None
    assert side(of_tasks, None, "x") is None
    gated = judged(of_tasks, of_tasks, (None, None), TERMS, ("one", "other"))
    assert gated.reason and gated.difference is not None, "its own standard error is what is judged by"


def test_no_item_is_not_measurable() -> None:
    none = receipt(n=0, value=0.0)
    assert judged(none, none, (None, None), TERMS, ("one", "other")).reason == "not-measurable"
