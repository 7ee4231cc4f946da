"""A review as one page: the answer first, then per service what changes, on which evidence, and what blocks.

Invariant: a page stays below LONGEST_PAGE bytes, whatever changed; what does not fit is counted, and the JSON
answer has it all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from hio_validate.diagnostic import Severity
from hio_validate.report.page import (
    Change,
    Changes,
    Code,
    Heading,
    Items,
    Line,
    Paragraph,
    Part,
    Strong,
    as_markdown,
    as_text,
)
from hio_validate.report.summary import counted
from hio_validate.review.changes import (
    Added,
    Exposure,
    Finding,
    How,
    MatrixChange,
    Review,
    RowChange,
    ServiceReview,
    SettingChange,
    StackChange,
)

LONGEST_PAGE = 60_000
"""Bytes of a page; GitHub takes 65,536 characters in a comment."""
_NARROWEST = 40
_T = TypeVar("_T")


class Limits(NamedTuple):
    """How much of everything a page tells."""

    rows: int
    """Of a table or list."""
    parts: int
    """Stacks, matrices and such of a service."""
    services: int


_LIMITS = (
    Limits(1000, 1000, 1000),
    Limits(100, 100, 100),
    Limits(40, 40, 40),
    Limits(20, 12, 20),
    Limits(8, 5, 12),
    Limits(3, 2, 6),
    Limits(1, 1, 3),
)


def as_page_of_markdown(review: Review) -> str:
    """The review as a comment on a pull request."""
    return _fitted(review, as_markdown)


def as_page_of_text(review: Review, width: int = 80, color: bool = False) -> str:
    """The review for a terminal."""
    return _fitted(review, lambda parts: as_text(parts, max(width, _NARROWEST), color))


def _fitted(review: Review, write: Callable[[Sequence[Part]], str]) -> str:
    """The longest page that fits."""
    text = ""
    for limits in _LIMITS:
        text = write(list(_page(review, limits)))
        if len(text.encode(errors="surrogateescape")) <= LONGEST_PAGE:
            return text
    ending = f"\n\nThe page ends here: {_ALL} lists all.\n"
    kept = text.encode(errors="surrogateescape")[: LONGEST_PAGE - len(ending)].decode(errors="ignore")
    return kept.rpartition("\n")[0] + ending


_ALL = "hio review --format json"


def _first(things: Sequence[_T], most: int, noun: str) -> tuple[Sequence[_T], str]:
    """The first of some things, and a sentence on how many more there are."""
    more = len(things) - most
    if more <= 0:
        return things, ""
    return things[:most], f"… {counted(more, f'more {noun}')}; {_ALL} lists all"


def _page(review: Review, limits: Limits) -> Iterator[Part]:
    yield Heading(1, ["hio review: ", Code(review.base), " -> ", Code(review.head)])
    if not review.changed:
        yield Paragraph([f"No document changed. {review.basis}"])
        return
    yield from _verdict(review)
    if len(review.services) > 1:
        shown, more = _first(review.services, limits.services * 4, "service")
        lines: list[Line] = [[Strong(each.service), ": ", *_answer(review, each)] for each in shown]
        yield Items((*lines, *([[more]] if more else [])))
    yield from _unread(review, limits)
    services, more = _first(review.services, limits.services, "service")
    for service in services:
        yield from _service(review, service, limits)
    if more:
        yield Paragraph([more])
    yield from _elsewhere(review, limits)
    yield from _shared(review, limits)
    yield Paragraph([f"{counted(review.changed, 'file')} changed. {review.basis}"])


def _verdict(review: Review) -> Iterator[Part]:
    errors = [each for each in review.findings if each.severity is Severity.ERROR]
    gates = [each for each in review.findings if each.severity is Severity.GATE]
    needed = sum(len(each.needs_approval) for each in review.services)
    said: list[Line] = []
    for why in review.incomplete:
        said.append([Strong("The review is not complete: "), why])
    said.append([Strong("Merging: blocked"), f" by {_new_and_old(errors, 'error')}."] if errors else
                [Strong("Merging: nothing blocks it"), "."])  # fmt: skip
    said.append([Strong("Deployment: blocked"), f" by {_both(errors, gates)}."] if errors or gates else
                [Strong("Deployment: no error and no open gate"), "."])  # fmt: skip
    if needed:
        said.append([Strong("Approval: needed"), f" for {counted(needed, 'wider exposure')}."])
    yield Items(tuple(said))


def _both(errors: Sequence[Finding], gates: Sequence[Finding]) -> str:
    if errors and gates:
        return f"the same and {_new_and_old(gates, 'gate')}"
    return _new_and_old(gates, "gate") if gates else "the same"


def _new_and_old(found: Sequence[Finding], noun: str) -> str:
    new = sum(each.new for each in found)
    old = len(found) - new
    if not new:
        return f"{counted(old, noun)} that {'was' if old == 1 else 'were'} there before"
    return f"{new} new {noun if new == 1 else noun + 's'}" + (f" and {old} from before" if old else "")


def _answer(review: Review, service: ServiceReview) -> Line:
    """What changes in what serves, and what blocks, in two sentences."""
    errors = review.blocking(service.service, Severity.ERROR)
    gates = review.blocking(service.service, Severity.GATE)
    words = [f"{counted(len(errors), 'error')} block{'s' * (len(errors) == 1)} merging"] if errors else []
    words += [f"{counted(len(gates), 'gate')} block{'s' * (len(gates) == 1)} deployment"] if gates else []
    said = " and ".join(words) or "no error and no gate blocks it"
    return [*_change_of_service(service), f" {_upper(said)}."]


def _change_of_service(service: ServiceReview) -> Line:
    """What changes in what serves, in one sentence."""
    before, after = service.serving
    if service.how is How.REMOVED:
        return ["the service is gone", *([", ", Code(before), " served"] if before else []), "."]
    line: list[str] = ["the service is new; "] if service.how is How.NEW else []
    if after is None:
        line.append("the ledger does not say what serves")
    elif before != after:
        line += [Strong(f"{after} serves now"), *([", ", Code(before), " before"] if before else [])]
    else:
        line += [Code(after), " serves and stays"]
    serving = next(
        (each for each in service.stacks if after in each.stacks and each.how is not How.NEW), None
    )
    if serving is not None and before == after:
        line = [Strong(f"{after}, which serves, changes: "), *_counts(serving)]
    others = [each for each in service.stacks if each is not serving]
    for each in others[:3]:
        line += ["; ", *_named(each), *([": ", *_counts(each)] if each.settings else [])]
    if len(others) > 3:
        line.append(f"; {len(others) - 3} more changes of stacks")
    return [*line, "."]


def _named(change: StackChange) -> Line:
    first, *more = change.stacks
    line: list[str] = [Code(first)]
    if more:
        line.append(f" and {counted(len(more), 'other')}")
    if change.how is How.REMOVED:
        return [*line, " is removed"]
    if change.was is not None:
        line += [" (", Code(change.was), " before)"]
    if change.how is How.NEW:
        line.append(" is new")
        if change.against:
            line += [", against ", Code(change.against)]
    return line


def _counts(change: StackChange) -> Line:
    """`1 changed by you, 3 followed, 2 moved by the build (2 not visible in the diff)`."""
    groups = [
        (str(group), len(list(each))) for group, each in groupby(change.settings, lambda one: one.group)
    ]
    text = ", ".join(f"{count} {group}" for group, count in groups)
    return [text, *([" (", Strong(f"{change.hidden} not visible in the diff"), ")"] if change.hidden else [])]


def _unread(review: Review, limits: Limits) -> Iterator[Part]:
    if review.unread:
        yield Heading(2, ["Could not be read"])
        shown, more = _first(review.unread, limits.rows, "document")
        items: list[Line] = [
            [f"{each.side}: ", Code(each.file), f"; {each.unknown} {each.side} the change: not known"]
            for each in shown
        ]
        yield Items((*items, *([[more]] if more else [])))


def _service(review: Review, service: ServiceReview, limits: Limits) -> Iterator[Part]:
    yield Heading(2, [service.service])
    answer = list(_answer(review, service))
    yield Paragraph([_upper(answer[0]), *answer[1:]])
    yield from _exposures(service.exposures, limits)
    stacks, more = _first(service.stacks, limits.parts, "stack")
    for stack in stacks:
        yield from _stack(stack, limits)
    if more:
        yield Paragraph([more])
    if service.worded:
        shown, more = _first(service.worded, limits.rows, "stack")
        names = _listed(shown)
        yield Paragraph(["Changed in wording only, every setting in force is as before: ", *names, more])
    matrices, more = _first(service.matrices, limits.parts, "matrix")
    for matrix in matrices:
        yield from _matrix(matrix, limits)
    if more:
        yield Paragraph([more.replace("matrixs", "matrices")])
    yield from _blocking(review, service.service, limits)
    yield from _statuses(service, limits)
    yield from _added("Ledger entries added", service.entries, limits)
    yield from _added("Runs and captures", service.records, limits)


def _upper(piece: str) -> str:
    if isinstance(piece, Code | Strong):
        return piece
    return piece[:1].upper() + piece[1:]


def _listed(names: Iterable[str]) -> list[str]:
    line: list[str] = []
    for name in names:
        line += [", ", Code(name)] if line else [Code(name)]
    return line


def _exposures(exposures: Sequence[Exposure], limits: Limits) -> Iterator[Part]:
    for title, chosen in (
        ("Needs approval", [each for each in exposures if each.approval is None]),
        ("Wider exposure, approved", [each for each in exposures if each.approval]),
    ):
        if chosen:
            yield Heading(3, [title])
            shown, more = _first(chosen, limits.rows, "exposure")
            rows = tuple(
                Change(f"{each.stack}: {each.setting}", each.from_, each.to, _why(each)) for each in shown
            )
            yield Changes(("Stack and setting", "Before", "After", "Why"), (("", rows),))
            if more:
                yield Paragraph([more])


def _why(exposure: Exposure) -> Line:
    if exposure.approval:
        return [exposure.reason, "; approved in ", Code(exposure.approval)]
    return [exposure.reason, "; no approval entry covers it"]


def _blocking(review: Review, service: str | None, limits: Limits) -> Iterator[Part]:
    """What the change brings that blocks, what it resolves, and how much was there before."""
    found = [each for each in review.findings if each.service == service]
    new = [each for each in found if each.new]
    resolved = [each for each in review.resolved if each.service == service]
    old = [each for each in found if not each.new]
    if not (new or resolved):
        if old:
            yield Paragraph([f"Blocks as before: {_old(old)}."])
        return
    yield Heading(3, ["What blocks"])
    items = list(_grouped(new))
    items += [[Strong("resolved"), ": ", *_said(each)] for each in resolved]
    shown, more = _first(items, limits.rows, "finding")
    yield Items((*shown, *([[more]] if more else [])))
    if old:
        yield Paragraph([f"There before, too: {_old(old)}."])


def _old(found: Sequence[Finding]) -> str:
    errors = sum(each.severity is Severity.ERROR for each in found)
    gates = len(found) - errors
    return " and ".join(
        counted(number, noun) for number, noun in ((errors, "error"), (gates, "gate")) if number
    )


_SHOWN_OF_A_KIND = 3


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
    place = found.document.replace(f"/{found.service}/", "/…/").removeprefix("manifests/services/")
    line = f":{found.line}" if found.line else ""
    return [_short(found.reason), " (", Code(found.rule), ", ", Code(place + line), ")"]


_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{8})[0-9a-f]{56}")


def _short(text: str) -> str:
    """A sentence with its digests cut to what tells them apart."""
    return _DIGEST.sub(r"\1…", text)


def _statuses(service: ServiceReview, limits: Limits) -> Iterator[Part]:
    if service.statuses:
        yield Heading(3, ["Status"])
        shown, more = _first(service.statuses, limits.rows, "status")
        rows = tuple(
            Change(each.stack, each.before or "no such stack", each.after or "removed", [_reason(each.why, each.missing)])
            for each in shown
        )  # fmt: skip
        yield Changes(("Stack", "Before", "After", "Why not higher"), (("", rows),))
        if more:
            yield Paragraph([more])


def _reason(why: str, missing: Sequence[str]) -> str:
    return why + (f"; missing: {', '.join(missing)}" if missing else "")


_TITLES = {How.NEW: "new", How.CHANGED: "changed", How.UNTOUCHED: "changed, though its file did not"}


def _stack(change: StackChange, limits: Limits) -> Iterator[Part]:
    if change.how is How.REMOVED:
        yield Paragraph(["The stack ", *_listed(change.stacks), " is removed."])
        return
    shown, _ = _first(change.stacks, 6, "stack")
    title: list[str] = ["Settings in force of ", *_listed(shown)]
    if len(change.stacks) > len(shown):
        title.append(f" and {len(change.stacks) - len(shown)} more")
    yield Heading(3, [*title, f" ({_TITLES[change.how]})"])
    yield Paragraph(_compared(change))
    rows, more = _first(change.settings, limits.rows, "setting")
    if rows:
        groups = tuple(
            (str(group), tuple(map(_setting, each))) for group, each in groupby(rows, lambda one: one.group)
        )
        yield Changes(("Setting", "Before", "After", "Origin"), groups)
    if more:
        yield Paragraph([more])


def _compared(change: StackChange) -> Line:
    line: list[str] = []
    if change.against:
        line += ["Compared with ", Code(change.against), f", which it would replace ({change.because}): "]
    elif change.how is How.NEW:
        return [f"Compared with nothing: {change.because}."]
    elif change.was is not None:
        line += ["It was called ", Code(change.was), ": "]
    if not change.settings:
        return [*line, "every setting in force is the same."]
    rest = ", ".join(f"{count} {group}" for group, count in change.unlisted.items())
    return [*line, *_counts(change), f"; not listed: {rest}." if rest else "."]


def _setting(each: SettingChange) -> Change:
    origins = list(dict.fromkeys(text for text in (each.from_origin, each.to_origin) if text))
    remark: list[str] = [" -> ".join(origins)]
    if each.hidden:
        cause = f": {each.cause}" if each.cause and len(origins) == 1 else ""
        remark += ["; ", Strong("not visible in the diff"), cause]
    elif each.cause:
        remark.append(f"; moved by {each.cause}")
    return Change(each.setting, each.from_, each.to, remark)


def _matrix(change: MatrixChange, limits: Limits) -> Iterator[Part]:
    if change.how is How.REMOVED:
        yield Paragraph(["The matrix ", Code(change.name), " is removed."])
        return
    was = [" (", Code(change.was), " before)"] if change.was else []
    yield Heading(3, ["Matrix ", Code(change.name), *was, " (new)" if change.how is How.NEW else ""])
    said = f"; preserves {counted(change.preserved, 'setting')}" if change.how is How.NEW else ""
    others = f"; {'; '.join(change.others)}" if change.others else ""
    same = "" if change.rows or change.others else "; its rows say what they said"
    yield Paragraph([Code(change.parent), " -> ", Code(change.candidate), said, others, same, "."])
    rows, more = _first(change.rows, limits.rows, "row")
    if rows:
        shown = tuple(Change(each.setting, each.before or "no row", each.after or "no row", _evidence(each)) for each in rows)  # fmt: skip
        yield Changes(("Row", "Before", "After", "Evidence or reason"), (("", shown),))
    if more:
        yield Paragraph([more])


def _evidence(row: RowChange) -> Line:
    line: list[str] = []
    if row.evidence:
        cited = row.evidence
        line += [
            Code(cited.entry),
            f" ({cited.kind}",
            *([", run ", Code(cited.run)] if cited.run else []),
            ")",
        ]
        if cited.published:
            line.append(f": {cited.published}")
    elif row.after and row.after.startswith(("changed", "excluded")) and "requires" not in row.after:
        line.append("no evidence")
    if row.because:
        line.append(f"{'; ' if line else ''}“{row.because}”")
    return line


def _added(title: str, added: Sequence[Added], limits: Limits) -> Iterator[Part]:
    if added:
        yield Heading(3, [title])
        shown, more = _first(added, limits.rows, "document")
        items: list[Line] = [
            [Strong(each.kind), " ", Code(each.name), ": ", "; ".join(each.says)]
            + ([f"; “{each.because}”"] if each.because else [])
            for each in shown
        ]
        yield Items((*items, *([[more]] if more else [])))


def _elsewhere(review: Review, limits: Limits) -> Iterator[Part]:
    """What blocks outside the services that are told of: in what all share, and in what the change leaves alone."""
    told = {each.service for each in review.services}
    yield from _blocking(review, None, limits)
    others = [each for each in review.findings if each.service not in told and each.service is not None]
    new = [each for each in others if each.new]
    if new:
        yield Heading(2, ["What blocks in other services"])
        shown, more = _first(new, limits.rows, "finding")
        yield Items((*_grouped(shown), *([[more]] if more else [])))
    old = [each for each in others if not each.new]
    if old:
        yield Paragraph([f"In services that this change leaves alone: {_old(old)}, as before."])


def _shared(review: Review, limits: Limits) -> Iterator[Part]:
    if review.shared:
        yield Heading(2, ["Builds, family tables and sites"])
        shown, more = _first(review.shared, limits.rows, "document")
        items: list[Line] = [
            [Strong(each.kind), " ", Code(each.name), ": ", "; ".join(each.says)] for each in shown
        ]
        yield Items((*items, *([[more]] if more else [])))
    if review.renamed:
        yield Heading(2, ["Renamed"])
        shown_names, more = _first(review.renamed, limits.rows, "document")
        names: list[Line] = [
            [f"{each.kind} ", Code(each.was), " -> ", Code(each.now)] for each in shown_names
        ]
        yield Items((*names, *([[more]] if more else [])))
