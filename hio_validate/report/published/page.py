"""A report as Markdown: the answer in the first lines, then what it rests on, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hio_validate.report.published import answer, campaign_page
from hio_validate.report.published.sections import OF_A_RUN, Section

Shape = dict[str, Any]

HEAD = ("subject", "strict", "tier", "result", "gaps")
"""Keys of every reported subject; its answer and its sections look for the others."""


class Page(NamedTuple):
    """How one kind of subject is told."""

    answer: Callable[[Shape], list[str]]
    """The first lines, the title aside."""
    sections: Sequence[Section]


PAGES: dict[str, Page] = {
    "run/v1": Page(answer.of_a_run, OF_A_RUN),
    "campaign/v1": Page(answer.of_a_campaign, campaign_page.SECTIONS),
}
"""Kind of the subject -> its page."""


def render(shape: Shape) -> str:
    """The whole page."""
    page = PAGES[shape["subject"]["kind"]]
    parts = [answer.title(shape), *page.answer(shape)]
    for heading, told in page.sections:
        found = told(shape)
        if found:
            parts += [f"## {heading}", *found]
    return "\n\n".join(parts) + "\n"
