"""A review as one page: the answer first, then per service what changes, on which evidence, and what blocks.

Invariant: a page stays below LONGEST_PAGE bytes, whatever changed; what does not fit is counted, and the JSON
answer has it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hio_validate.quantity import counted
from hio_validate.report.page import Code, Heading, Items, Paragraph, Part, Strong, markdown, text
from hio_validate.report.review.answer import answer, capitalised, verdict
from hio_validate.report.review.blocking import blocking, in_other_services, kept_quiet
from hio_validate.report.review.limits import ALL, LIMITS, Limits, first
from hio_validate.report.review.sections import service_sections, shared_sections, unread_section
from hio_validate.review.changes import Review

LONGEST_PAGE = 60_000
"""Bytes of a page; GitHub takes 65,536 characters in a comment."""
_NARROWEST = 40


def as_page_of_markdown(review: Review) -> str:
    """The review as a comment on a pull request."""
    return _fitted(review, markdown)


def as_page_of_text(review: Review, width: int = 80, color: bool = False) -> str:
    """The review for a terminal."""
    return _fitted(review, lambda part: text(part, max(width, _NARROWEST), color))


def _fitted(review: Review, write: Callable[[Part], str]) -> str:
    """The longest page that fits."""
    page = ""
    for limits in LIMITS:
        page = _written(_page(review, limits), write)
        if len(_bytes(page)) <= LONGEST_PAGE:
            return page
    ending = f"\n\nThe page ends here: {ALL} lists all.\n"
    kept = _bytes(page)[: LONGEST_PAGE - len(ending)].decode(errors="ignore")
    return kept.rpartition("\n")[0].rstrip("\n") + ending


def _written(parts: Iterator[Part], write: Callable[[Part], str]) -> str:
    """The parts one after the other, until it is clear that they are too long."""
    written: list[str] = []
    size = 0
    for part in parts:
        written.append(write(part))
        size += len(written[-1])
        if size > LONGEST_PAGE:
            break
    return "\n".join(written)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _page(review: Review, limits: Limits) -> Iterator[Part]:
    yield Heading(1, ["hio review: ", Code(review.base), " -> ", Code(review.head)])
    if not review.changed:
        yield Paragraph([f"No document changed. {review.basis}"])
        return
    yield verdict(review)
    if len(review.services) > 1:
        shown, more = first(review.services, limits.services * 4, "service")
        lines = [[Strong(each.service), ": ", *answer(review, each)] for each in shown]
        yield Items((*lines, *more))
    if not review.services:
        yield Paragraph(["No service changes, in what serves or in its record."])
    yield from unread_section(review, limits)
    services, more = first(review.services, limits.services, "service")
    for service in services:
        yield Heading(2, [service.service])
        yield Paragraph(capitalised(answer(review, service)))
        yield from service_sections(review, service, limits)
    yield from (Paragraph(line) for line in more)
    yield from blocking(review, None, limits)
    yield from in_other_services(review, limits)
    yield from kept_quiet(review, limits)
    yield from shared_sections(review, limits)
    yield Paragraph([f"{counted(review.changed, 'file')} changed. {review.basis}"])
