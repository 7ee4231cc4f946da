"""The words of a command line as settings and values; what says nothing, or two things, is refused."""

from __future__ import annotations

import pytest

from hio_validate.plans.compared import scalar
from hio_validate.plans.delta import delta_of
from hio_validate.plans.refusal import CannotPlan


def test_words_are_settings_and_values_in_their_order() -> None:
    said = delta_of(["server.threads=2", " server.args = a=b "])
    assert list(said.items()) == [("server.threads", "2"), ("server.args", "a=b")]


@pytest.mark.parametrize("word", ["server.threads", "=2", "server.threads=", " = "])
def test_a_word_that_changes_nothing_is_refused_with_what_to_write(word: str) -> None:
    with pytest.raises(CannotPlan, match="changes nothing; write SETTING=VALUE"):
        delta_of(["server.ubatch-size=256", word])


def test_a_setting_has_one_value() -> None:
    with pytest.raises(CannotPlan, match=r"server\.threads is given twice"):
        delta_of(["server.threads=2", "server.threads=4"])


@pytest.mark.parametrize(
    ("value", "written"),
    [("2", 2), ("-1", -1), ("0", 0), ("007", "007"), ("1e3", "1e3"), ("on", "on"), ("9" * 17, "9" * 17)],
)
def test_only_what_reads_back_alike_is_a_number(value: str, written: str | int) -> None:
    assert scalar(value) == written
