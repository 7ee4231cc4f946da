"""A page's words stay words in Markdown and on a terminal, and a review's page always fits."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import nasty_texts, relaxed

from hio_validate.diagnostic import Severity
from hio_validate.report.page import (
    Change,
    Changes,
    Code,
    Heading,
    Items,
    Line,
    Paragraph,
    Strong,
    as_markdown,
    as_text,
)
from hio_validate.report.review import LONGEST_PAGE, as_page_of_markdown, as_page_of_text
from hio_validate.report.review.json_ import as_shape
from hio_validate.report.visible import columns, is_hidden
from hio_validate.review.changes import (
    Added,
    Exposure,
    Finding,
    How,
    MatrixChange,
    Quiet,
    Renamed,
    Review,
    RowChange,
    ServiceReview,
    SettingChange,
    StackChange,
    StatusChange,
    Unread,
)
from hio_validate.settings.difference import Group

pieces = st.one_of(nasty_texts, nasty_texts.map(Code), nasty_texts.map(Strong))
lines = st.lists(pieces, max_size=4)
changes = st.builds(Change, nasty_texts, nasty_texts, nasty_texts, lines)
HEAD = ("What", "Before", "After", "Why")
CELL_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")


@given(line=lines, change=changes, name=nasty_texts)
@relaxed
def test_no_word_of_a_document_becomes_markup(line: Line, change: Change, name: str) -> None:
    page = as_markdown(
        [Paragraph(["We say ", *line]), Items((["and ", *line],)), Changes(HEAD, ((name, (change,)),))]
    )
    ours = re.sub(r"</?code>|\*\*", "", page)
    bare = re.sub(r"\\.", "", ours)
    assert not set(bare) & set("`*_~[]<>")
    assert not re.search(r"(?<!\w)@\w", html.unescape(page).replace("@\u200b", ""))
    for shown in page.split("\n"):
        assert shown == "" or shown.startswith(("We say ", "- and ", "| "))
        if shown.startswith("| "):
            assert len(CELL_BORDER.findall(shown)) == 5


@given(line=lines, change=changes, name=nasty_texts, width=st.sampled_from([40, 60, 80]), color=st.booleans())
@relaxed
def test_a_terminal_only_prints_words(line: Line, change: Change, name: str, width: int, color: bool) -> None:
    page = as_text(
        [Heading(1, line), Paragraph(line), Items((line,)), Changes(HEAD, ((name, (change,)),))], width, color
    )
    plain = re.sub(r"\x1b\[[01]m", "", page)
    assert plain == page or color
    assert not any(is_hidden(char) for char in plain if char != "\n")


@pytest.mark.parametrize("color", [True, False])
def test_no_line_is_wider_than_the_terminal(color: bool) -> None:
    words = ["many ", Strong("short words"), " in a sentence ", Code("value-1"), ", and so on. "] * 9
    table = Changes(HEAD, (("a group", (Change("server.threads", "1", "2", words),)),))
    for width in (40, 60, 80):
        page = re.sub(
            r"\x1b\[[01]m",
            "",
            as_text([Heading(2, words), Paragraph(words), Items((words,)), table], width, color),
        )
        assert max(map(columns, page.splitlines())) <= width


def test_colour_moves_no_line_break() -> None:
    words = [Strong("every"), " word ", Strong("painted, even two"), " or not "] * 12
    painted = as_text([Paragraph(words)], 60, True)
    assert re.sub(r"\x1b\[[01]m", "", painted) == as_text([Paragraph(words)], 60, False)
    assert painted.count("\x1b[1m") == painted.count("\x1b[0m") > 0


def test_markers_stand_at_words() -> None:
    assert as_markdown([Paragraph(["a", Strong(" b "), Code(""), Strong(""), "c"])]) == "a **b** c\n"


def test_values_that_stay_are_shown_once() -> None:
    assert "experimental\n" in as_text(
        [Changes(HEAD, (("", (Change("a", "experimental", "experimental"),)),))]
    )


# The whole page


def large(count: int, word: str) -> Review:
    """A review with so many of everything, all of it named by a word."""

    def names(what: str) -> list[str]:
        return [f"{what}-{number}-{word}" for number in range(count)]

    settings = tuple(
        SettingChange(
            name, group, word, f"{word}!", "argv, line 3", "default of b2", group is Group.MOVED, "x"
        )
        for group in (Group.CHANGED, Group.FOLLOWED, Group.MOVED, Group.OPERATIONAL)
        for name in names("server.x")
    )
    stacks = tuple(StackChange((name,), How.CHANGED, settings=settings) for name in names("stack")[:5])
    added = tuple(Added("run", name, (word, word), word) for name in names("run"))
    rows = tuple(RowChange(name, "retest", "changed", because=word) for name in names("server.x"))
    services = tuple(
        ServiceReview(
            f"lab/{name}", How.CHANGED, (word, word), stacks, tuple(names("worded")),
            tuple(Exposure(each, "server.host", "a", word, word) for each in names("stack")),
            tuple(MatrixChange(each, How.CHANGED, None, "a", "b", rows) for each in names("matrix")[:5]),
            added, added, tuple(StatusChange(each, "tested", None, word, (word,)) for each in names("stack")),
        )
        for name in names("service")[:15]
    )  # fmt: skip
    findings = tuple(
        Finding(
            f"rule-{number % 7}",
            Severity.ERROR,
            services[0].service,
            name,
            number,
            word,
            word,
            number % 2 == 0,
        )
        for number, name in enumerate(names("file"))
    )
    return Review(
        word, "head", word, services, added, findings, findings[:9],
        tuple(Quiet("rule", None, each, 1, word, word) for each in names("quiet")),
        tuple(Renamed("stack", each, each) for each in names("old")),
        tuple(Unread(each, "before", word) for each in names("bad")), changed=count,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "word"), [(3, "x"), (40, "value"), (150, "a long sentence " * 60), (60, "世界|`@" * 90)]
)
def test_a_page_always_fits_and_says_what_it_leaves_out(count: int, word: str) -> None:
    review = large(count, word)
    for page in (as_page_of_markdown(review), as_page_of_text(review, 80)):
        assert len(page.encode()) <= LONGEST_PAGE
        assert ("hio review --format json lists all" in page) is (count > 3)
    shape = as_shape(review)
    assert len(shape["services"]) == min(count, 15)
    assert len(shape["services"][0]["stacks"][0]["settings"]) == 4 * count


def test_what_a_page_leaves_out_is_counted() -> None:
    review = large(100, "value")
    page = as_page_of_text(review)
    shown = page.count("server.x-")
    assert shown > 0
    assert re.search(r"… \d+ more settings; hio review --format json lists\s+all", page)
    assert re.search(r"… \d+ more services; hio", page)
