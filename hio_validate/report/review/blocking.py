"""What blocks: the errors and gates that a change brings, those it resolves, and how many were there before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Severity
from hio_validate.quantity import counted
from hio_validate.report.page import Code, Heading, Items, Line, Paragraph, Part, Strong
from hio_validate.report.review.limits import Limits, first
from hio_validate.review.changes import Finding, Review

_SHOWN_OF_A_KIND = 3
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{8})[0-9a-f]{56}")


def blocking(review: Review, service: str | None, limits: Limits) -> Iterator[Part]:
    """What blocks in one service, or in what all share."""
    found = [each for each in review.findings if each.service == service]
    new = [each for each in found if each.new]
    old = _old([each for each in found if not each.new])
    resolved = [each for each in review.resolved if each.service == service]
    if new or resolved:
        where = "" if service else " in shared documents"
        yield Heading(3 if service else 2, [("What blocks" if new else "What blocked") + where])
        lines = [*_grouped(new), *([Strong("resolved"), ": ", *_said(each)] for each in resolved)]
        shown, more = first(lines, limits.rows, "finding")
        yield Items((*shown, *more))
        if old:
            yield Paragraph([f"There before, too: {old}."])
    elif old:
        where = "" if service else " in shared documents"
        yield Paragraph([f"Blocks{where} as before: {old}."])


def in_other_services(review: Review, limits: Limits) -> Iterator[Part]:
    """What blocks in services of which the page tells nothing else."""
    told = {each.service for each in review.services}
    others = [each for each in review.findings if each.service is not None and each.service not in told]
    new = [each for each in others if each.new]
    if new:
        yield Heading(2, ["What blocks in other services"])
        shown, more = first(list(_grouped(new)), limits.rows, "finding")
        yield Items((*shown, *more))
    old = _old([each for each in others if not each.new])
    if old:
        yield Paragraph([f"In services that this change leaves alone: {old}, as before."])


def kept_quiet(review: Review, limits: Limits) -> Iterator[Part]:
    """What comments of this change keep quiet, each with the reason it gives."""
    if review.quiet:
        yield Heading(2, ["Kept quiet by a comment of this change"])
        shown, more = first(review.quiet, limits.rows, "finding")
        lines = [
            [_short(each.finding), " (", Code(each.rule), ", ", Code(f"{each.document}:{each.line}"), f") — “{each.reason}”"]
            for each in shown
        ]  # fmt: skip
        yield Items((*lines, *more))


def _old(found: Sequence[Finding]) -> str:
    errors = sum(each.severity is Severity.ERROR for each in found)
    numbers = ((errors, "error"), (len(found) - errors, "gate"))
    return " and ".join(counted(number, noun) for number, noun in numbers if number)


def _grouped(found: Sequence[Finding]) -> Iterator[Line]:
    """Errors before gates; of many of one rule in one document the first, and how many more there are."""
    kinds: dict[tuple[bool, str, str], list[Finding]] = {}
    for each in found:
        kinds.setdefault((each.severity is Severity.GATE, each.document, each.rule), []).append(each)
    for _, same in sorted(kinds.items(), key=lambda kind: kind[0]):
        few = len(same) <= _SHOWN_OF_A_KIND
        for each in same if few else same[:1]:
            yield [*_finding(each), *([] if few else [f"; {len(same) - 1} more like it in this document"])]


def _finding(found: Finding) -> Line:
    help_ = [f" — {_short(found.help)}"] if found.help and found.severity is Severity.ERROR else []
    return [Strong(f"{found.severity}, blocks {found.blocks}"), ": ", *_said(found), *help_]


def _said(found: Finding) -> Line:
    """The sentence, the rule, and the place without what the page says already."""
    place = found.document.replace(f"/{found.service}/", "/…/").removeprefix("manifests/services/")
    line = f":{found.line}" if found.line else ""
    return [_short(found.reason), " (", Code(found.rule), ", ", Code(place + line), ")"]


def _short(text: str) -> str:
    """A sentence with its digests cut to what tells them apart."""
    return _DIGEST.sub(r"\1…", text)
