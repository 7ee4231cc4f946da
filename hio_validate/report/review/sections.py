"""The sections of a service on a review's page: exposure, settings, matrices, status, ledger, runs and captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from hio_validate.quantity import counted
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
)
from hio_validate.report.review.answer import counts
from hio_validate.report.review.blocking import blocking
from hio_validate.report.review.limits import Limits, first
from hio_validate.review.changes import (
    Added,
    Exposure,
    How,
    MatrixChange,
    Review,
    RowChange,
    ServiceReview,
    SettingChange,
    StackChange,
    StatusChange,
)

_MOST_NAMES = 6
_OF_THE_STACK = {
    How.NEW: " (new)",
    How.CHANGED: "",
    How.UNTOUCHED: ", whose own file did not change",
    How.SERVES: ", which serves now",
}


def service_sections(review: Review, service: ServiceReview, limits: Limits) -> Iterator[Part]:
    """What changes in a service, the most telling first."""
    yield from _exposures("Needs approval", service.needs_approval, limits)
    approved = [each for each in service.exposures if each.approval]
    yield from _exposures("Wider exposure, approved", approved, limits)
    stacks, more = first(service.stacks, limits.parts, "stack")
    for stack in stacks:
        yield from _stack(stack, limits)
    yield from (Paragraph(line) for line in more)
    if service.worded:
        yield Paragraph(["Other words, the same settings in force: ", *_names(service.worded), "."])
    matrices, more = first(service.matrices, limits.parts, "matrix")
    for matrix in matrices:
        yield from _matrix(matrix, limits)
    yield from (Paragraph(line) for line in more)
    yield from blocking(review, service.service, limits)
    yield from _statuses(service.statuses, limits)
    yield from _added("Ledger entries added", 3, service.entries, limits)
    yield from _added("Runs and captures", 3, service.records, limits)


def shared_sections(review: Review, limits: Limits) -> Iterator[Part]:
    """What changes in what all services share, and which documents have another name."""
    yield from _added("Builds, family tables and sites", 2, review.shared, limits)
    if review.renamed:
        yield Heading(2, ["Renamed"])
        shown, more = first(review.renamed, limits.rows, "document")
        lines = [[f"{each.kind} ", Code(each.was), " -> ", Code(each.now)] for each in shown]
        yield Items((*lines, *more))


def unread_section(review: Review, limits: Limits) -> Iterator[Part]:
    """The documents that one side cannot read, and what is therefore not known."""
    if review.unread:
        yield Heading(2, ["Could not be read"])
        shown, more = first(review.unread, limits.rows, "document")
        lines = [
            [f"{each.side} the change: ", Code(each.file), f"; not known there: {each.unknown}"]
            for each in shown
        ]
        yield Items((*lines, *more))


def _names(names: Sequence[str]) -> Line:
    """`a, b and 3 more`."""
    line: list[str] = []
    for name in names[:_MOST_NAMES]:
        line += [", ", Code(name)] if line else [Code(name)]
    more = len(names) - _MOST_NAMES
    return [*line, f" and {more} more"] if more > 0 else line


def _exposures(title: str, exposures: Sequence[Exposure], limits: Limits) -> Iterator[Part]:
    """Stacks that expose the same are told together."""
    together: dict[Exposure, list[str]] = {}
    for each in exposures:
        together.setdefault(each._replace(stack=""), []).append(each.stack)
    if not together:
        return
    yield Heading(3, [title])
    shown, more = first(list(together.items()), limits.rows, "exposure")
    rows = [
        Change(each.setting, each.from_, each.to, [*_names(stacks), ": ", *_why(each)])
        for each, stacks in shown
    ]
    yield Changes(("Setting", "Before", "After", "Stacks and reason"), (("", tuple(rows)),))
    yield from (Paragraph(line) for line in more)


def _why(exposure: Exposure) -> Line:
    if exposure.approval:
        return [exposure.reason, "; approved in ", Code(exposure.approval)]
    return [exposure.reason, "; no approval entry covers it"]


def _stack(change: StackChange, limits: Limits) -> Iterator[Part]:
    if change.how is How.REMOVED:
        yield Paragraph(["The stack ", *_names(change.stacks), " is removed."])
        return
    yield Heading(3, ["Settings in force of ", *_names(change.stacks), _OF_THE_STACK[change.how]])
    if change.against or change.was or change.hidden or change.unlisted or len(change.settings) != 1:
        yield Paragraph(_compared(change))
    rows, more = first(change.settings, limits.rows, "setting")
    told = _one_cause(change) is not None
    groups = [
        (str(group), tuple(_setting(one, told) for one in each))
        for group, each in groupby(rows, lambda one: one.group)
    ]
    if groups:
        yield Changes(("Setting", "Before", "After", "Origin"), tuple(groups))
    yield from (Paragraph(line) for line in more)


def _compared(change: StackChange) -> Line:
    """With what it was compared, and how many settings of each group differ."""
    line: list[str] = []
    if change.how is How.SERVES:
        line += ["Compared with ", Code(change.against or ""), ", which served before: "]
    elif change.against:
        line += ["Compared with ", Code(change.against), f", which it would replace ({change.because}): "]
    elif change.how is How.NEW:
        return [f"Compared with nothing: {change.because}. What it sets:"]
    elif change.was is not None:
        line += ["Its name was ", Code(change.was), ": "]
    if not change.settings:
        return [*line, "every setting in force is the same."]
    cause = _one_cause(change)
    line += [*counts(change), f": {cause}" if cause else ""]
    rest = ", ".join(f"{count} {group}" for group, count in change.unlisted.items())
    return [*line, f"; not listed: {rest}." if rest else "."]


def _one_cause(change: StackChange) -> str | None:
    """What moved all of it, where one thing did and no line of the diff says any of it."""
    causes = {each.cause for each in change.settings if each.hidden}
    return causes.pop() if len(causes) == 1 and change.hidden == len(change.settings) else None


def _setting(each: SettingChange, told: bool) -> Change:
    """`told` where the sentence above the table says what is not visible, and why."""
    origins = list(dict.fromkeys(text for text in (each.from_origin, each.to_origin) if text))
    remark: list[str] = [" -> ".join(origins)]
    if each.hidden and not told:
        # Two origins that differ say themselves what moved it.
        cause = f": {each.cause}" if each.cause and len(origins) == 1 else ""
        remark += ["; ", Strong("not visible in the diff"), cause]
    elif each.cause and not told:
        remark.append(f"; moved by {each.cause}")
    return Change(each.setting, each.from_, each.to, remark)


def _matrix(change: MatrixChange, limits: Limits) -> Iterator[Part]:
    if change.how is How.REMOVED:
        yield Paragraph(["The matrix ", Code(change.name), " is removed."])
        return
    was = [" (", Code(change.was), " before)"] if change.was else []
    yield Heading(3, ["Matrix ", Code(change.name), *was, " (new)" if change.how is How.NEW else ""])
    said = [f"; preserves {counted(change.preserved, 'setting')}"] if change.how is How.NEW else []
    said += [f"; {other}" for other in change.others]
    said += [] if change.rows or said else ["; its rows say what they said"]
    yield Paragraph([Code(change.parent), " -> ", Code(change.candidate), *said, "."])
    rows, more = first(change.rows, limits.rows, "row")
    shown = [
        Change(each.setting, each.before or "no row", each.after or "no row", _reason(each)) for each in rows
    ]
    if shown:
        yield Changes(("Setting", "Row before", "Row after", "Evidence or reason"), (("", tuple(shown)),))
    yield from (Paragraph(line) for line in more)


def _reason(row: RowChange) -> Line:
    parts: list[list[str]] = [[row.values]] if row.values else []
    if row.evidence:
        cited = row.evidence
        run = [", run ", Code(cited.run)] if cited.run else []
        number = [f": {cited.published}"] if cited.published else []
        parts.append([Code(cited.entry), f" ({cited.kind}", *run, ")", *number])
    elif row.unfounded:
        parts.append([Strong("no evidence")])
    if row.because:
        parts.append([f"“{row.because}”"])
    return [piece for number, part in enumerate(parts) for piece in (["; "] * bool(number) + part)]


def _statuses(statuses: Sequence[StatusChange], limits: Limits) -> Iterator[Part]:
    if statuses:
        yield Heading(3, ["Status"])
        shown, more = first(statuses, limits.rows, "status")
        rows = [
            Change(each.stack, each.before or "no stack", each.after or "removed", _lacks(each))
            for each in shown
        ]
        yield Changes(("Stack", "Before", "After", "Because, and what it lacks"), (("", tuple(rows)),))
        yield from (Paragraph(line) for line in more)


def _lacks(status: StatusChange) -> Line:
    return [status.why, *(["; lacks: ", "; ".join(status.missing)] if status.missing else [])]


def _added(title: str, level: int, added: Sequence[Added], limits: Limits) -> Iterator[Part]:
    if added:
        yield Heading(level, [title])
        shown, more = first(added, limits.rows, "document")
        yield Items((*map(_document, shown), *more))


def _document(added: Added) -> Line:
    says = [f"; {sentence}" if number else sentence for number, sentence in enumerate(added.says)]
    because = [f"; “{added.because}”"] if added.because else []
    return [Strong(added.kind), " ", Code(added.name), ": ", *says, *because]
