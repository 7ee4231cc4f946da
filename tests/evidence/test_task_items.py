"""Task sets: which items can be asked, and which answers are right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.tasks import UnreadableItems, is_right, items_of
from hio_validate.models.tasks import Items, Tasks
from tests.small_repo import sha


def tasks(scoring: Any = "exact", count: int = 1, choices: tuple[str, ...] = ()) -> Tasks:
    return Tasks(
        hio="tasks/v1", name="t", source="arithmetic", scoring=scoring, choices=list(choices), max_tokens=8, seed=1,
        sampling={}, items=Items(file="t.jsonl", sha256=sha("x"), count=count),
    )  # fmt: skip


ITEM = {"id": "a", "prompt": "1 + 1 =", "expected": "2"}


@pytest.mark.parametrize(
    ("scoring", "expected", "answer", "right"),
    [
        ("exact", "Paris", " Paris\n", True),
        ("exact", "Paris", "Paris.", False),
        ("exact", "Paris", "paris", False),
        ("first-number", "15", "the sum is 15.0, not 16", True),
        ("first-number", "1500", "$1,500", True),
        ("first-number", "15", "16 or 15", False),
        ("first-number", "15", "fifteen", False),
        ("first-number", "-3", "x = -3", True),
        ("first-number", "3", "1,2,3", False),
        ("first-number", "0.5", ".5", True),
        ("first-number", "5", "5" * 5000, False),
        ("choice", "B", "(b) because A is wrong", True),
        ("choice", "A", "Because of A", True),
        ("choice", "A", "B, not A", False),
        ("choice", "A", "", False),
    ],
)
def test_an_answer_is_right_by_its_text(scoring: str, expected: str, answer: str, right: bool) -> None:
    assert is_right(tasks(scoring, choices=("A", "B")), expected, answer) is right


def test_of_two_choices_at_one_place_the_longer_one_is_meant() -> None:
    both = tasks("choice", choices=("yes", "yes and no"))
    assert is_right(both, "yes and no", "Yes and no.")
    assert not is_right(both, "yes", "Yes and no.")


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["exact", "first-number", "choice"]))
def test_any_text_is_right_or_not_and_blanks_around_it_change_nothing(
    expected: str, answer: str, scoring: str
) -> None:
    found = tasks(scoring, choices=("A", "B"))
    assert is_right(found, expected, answer) is is_right(found, expected, f" \n{answer}\t ")


@given(st.integers(-(10**9), 10**9), st.text(alphabet="abc =:$", max_size=10))
def test_a_number_is_found_behind_words(number: int, words: str) -> None:
    assert is_right(tasks("first-number"), str(number), f"{words} {number:,} and 7")


def test_items_come_in_their_order_with_their_lines() -> None:
    text = "\n".join([json.dumps(ITEM), "", json.dumps(ITEM | {"id": "b", "kind": "easy"})])
    assert [(each.id, each.kind, each.line) for each in items_of(tasks(count=2), text.encode())] == [
        ("a", None, 1),
        ("b", "easy", 3),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("INFO loaded", "no JSON object"),
        ("[1]", "no JSON object"),
        ('{"id": "b", "id": "c", "prompt": "x", "expected": "y"}', "the key id stands twice"),
        (json.dumps(ITEM | {"id": "b", "expected": " "}), "expected is no text"),
        (json.dumps(ITEM | {"id": "b", "expected": 2}), "expected is no text"),
        (json.dumps(ITEM | {"id": "b", "answer": "2"}), "the key answer means nothing"),
        (json.dumps(ITEM | {"id": "b", "kind": 1}), "kind is no text"),
        (json.dumps(ITEM), "the id a stands in line 1 already"),
        (json.dumps(ITEM | {"id": "b"})[:-3], "no JSON object"),
        ("\udcff", "not UTF-8"),
        ("\ufeff" + json.dumps(ITEM | {"id": "b"}), "byte order mark"),
        ("[" * 100_000, "no JSON object"),
    ],
)
def test_an_item_that_cannot_be_asked_is_told_with_its_line(line: str, said: str) -> None:
    raw = f"{json.dumps(ITEM)}\n{line}\n".encode("utf-8", "surrogateescape")
    with pytest.raises(UnreadableItems, match=said) as caught:
        items_of(tasks(count=2), raw)
    assert caught.value.line == 2


def test_an_item_that_no_answer_can_satisfy_is_refused() -> None:
    with pytest.raises(UnreadableItems, match="'two' is no number"):
        items_of(tasks("first-number"), json.dumps(ITEM | {"expected": "two"}).encode())
    with pytest.raises(UnreadableItems, match="none of the choices A, B"):
        items_of(tasks("choice", choices=("A", "B")), json.dumps(ITEM | {"expected": "C"}).encode())


def test_a_cut_off_file_has_too_few_items() -> None:
    with pytest.raises(UnreadableItems, match="1 items up to here; the set says 2"):
        items_of(tasks(count=2), json.dumps(ITEM).encode())
