"""Markdown that shows what was said, in the terminal and rendered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.report.markdown import escaped
from hio_validate.report.prose import WIDTH, bullets, fitted, grid, paragraph, text


@pytest.mark.parametrize(
    "plain",
    [
        "decode_tps",
        "(token/s)",
        "-2.62",
        "+35.54 %,",
        "base@sha256:0f",
        "46.011 -> 62.365",
        "tides-128, cold",
    ],
)
def test_plain_words_stay_as_a_person_reads_them(plain: str) -> None:
    assert text(plain) == plain


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("*bold*", r"\*bold\*"),
        ("<b>", "&lt;b&gt;"),
        ("a | b", r"a \| b"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("===", r"\==="),
        ("_em_", r"\_em\_"),
        ("@owner", "@&#8203;owner"),
        ("[a](b)", r"\[a\](b)"),
        ("x\x1b[31m", r"x\\x1b\[31m"),
    ],
)
def test_markup_of_a_document_is_shown_and_not_obeyed(said: str, shown: str) -> None:
    assert text(said) == shown


@given(st.text(alphabet="a1_*-+=.)|<>#`[] \n@~", max_size=60))
def test_no_text_begins_a_block_or_opens_a_tag(said: str) -> None:
    for line in bullets([text(said)]).split("\n")[1:] + paragraph(text(said)).split("\n"):
        assert not re.match(r" *([-+*>#|=~`]|[0-9]+[.)])( |$)", line), line
        assert not re.match(r" *(=+|-+) *$", line), line
    assert "<" not in text(said) and "\n" not in text(said)


@given(st.text(max_size=40))
def test_a_word_is_escaped_or_needs_no_escape(said: str) -> None:
    for before, after in zip(said.split(" "), text(said).split(" "), strict=True):
        assert after in (before, escaped(before)) or after.startswith("\\") or "\\" in after


def test_sentences_and_lists_keep_to_80_columns() -> None:
    said = " ".join(["word"] * 60)
    assert max(map(len, paragraph(said).split("\n"))) <= 80
    lines = bullets([said, "short"]).split("\n")
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith("  word") and lines[-1] == "- short"


def test_a_table_is_aligned_for_who_reads_the_text() -> None:
    assert grid(("a", "bb"), [("long", "x")]).split("\n") == [
        "| a    | bb  |", "| ---- | --- |", "| long | x   |"
    ]  # fmt: skip


def test_a_table_wider_than_the_page_is_a_list_that_says_the_same() -> None:
    head, row = ("regime", "cell", "measured"), ("short", "", "decode_tps 50.1 -> 80.25 token/s")
    assert fitted(head, [row]) == grid(head, [row])
    wide = ("long answers", "four", "decode_tps 50.1 -> 80.25 token/s " * 3)
    said = fitted(head, [row, wide])
    assert said.startswith(
        "- regime short: measured decode_tps 50.1 -> 80.25 token/s\n- regime long answers: cell four;"
    )
    assert max(map(len, said.split("\n"))) <= WIDTH
