"""The answer of a review: the verdict, and for each service one line on what changes in what serves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hio_validate.diagnostic import Severity
from hio_validate.quantity import counted
from hio_validate.report.page import Code, Items, Line, Strong
from hio_validate.review.changes import Finding, How, Review, ServiceReview, StackChange
from hio_validate.settings.difference import Group

_MOST_STACKS = 3


def verdict(review: Review) -> Items:
    """What blocks merging, what blocks deployment, what needs an approval."""
    errors = [each for each in review.findings if each.severity is Severity.ERROR]
    gates = [each for each in review.findings if each.severity is Severity.GATE]
    said: list[Line] = [[Strong("The review is not complete"), f": {why}"] for why in review.incomplete]
    if errors:
        said.append([Strong("Merging: blocked"), f" by {_new_and_old(errors, 'error')}."])
    else:
        said.append([Strong("Merging: nothing blocks it"), "."])
    reasons = _reasons(review, errors, gates)
    if reasons:
        said.append([Strong("Deployment: blocked"), f" by {_and(reasons)}."])
    else:
        said.append([Strong("Deployment: no error, no open gate, no missing approval"), "."])
    return Items(tuple(said))


def _and(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), words[-1]])


def _reasons(review: Review, errors: Sequence[Finding], gates: Sequence[Finding]) -> list[str]:
    """What blocks deployment."""
    reasons: list[str] = []
    if errors:
        reasons.append("that error" if len(errors) == 1 else "these errors")
    if gates:
        reasons.append(_new_and_old(gates, "gate"))
    needed = {each._replace(stack="") for service in review.services for each in service.needs_approval}
    if needed:
        reasons.append(f"{counted(len(needed), 'wider exposure')} without an approval")
    return reasons


def _new_and_old(found: Sequence[Finding], noun: str) -> str:
    new = sum(each.new for each in found)
    old = len(found) - new
    if not new:
        return f"{counted(old, noun)} that {'was' if old == 1 else 'were'} there before"
    return f"{new} new {noun if new == 1 else noun + 's'}" + (f" beside {old} from before" if old else "")


def answer(review: Review, service: ServiceReview) -> Line:
    """What changes in what serves, and what blocks, also in what all services share."""
    words: list[str] = []
    for severity, noun, what in (
        (Severity.ERROR, "error", "merging"),
        (Severity.GATE, "gate", "deployment"),
    ):
        count = sum(len(review.blocking(each, severity)) for each in (service.service, None))
        if count:
            words.append(f"{counted(count, noun)} {'blocks' if count == 1 else 'block'} {what}")
    needed = len({each._replace(stack="") for each in service.needs_approval})
    if needed:
        words.append(f"{counted(needed, 'wider exposure')} {'needs' if needed == 1 else 'need'} an approval")
    blocks = _and(words) if words else "No error and no gate stands against it"
    return [*_change(service), f" {blocks}."]


def capitalised(line: Line) -> Line:
    """The line with a capital letter at its beginning, unless it begins with a name."""
    head, *rest = line
    return line if isinstance(head, Code | Strong) else [head[:1].upper() + head[1:], *rest]


def _change(service: ServiceReview) -> Line:
    before, after = service.serving
    if service.how is How.REMOVED:
        return ["the service is gone", *([", ", Code(before), " served"] if before else []), "."]
    line: list[str] = ["the service is new; "] if service.how is How.NEW else []
    serving = next((each for each in service.stacks if _is_of_what_serves(each, after)), None)
    if after is None:
        line.append("the ledger does not say what serves")
    elif before != after:
        line += [Code(after), Strong(" serves now"), *([", ", Code(before), " before"] if before else [])]
    elif serving is None:
        line += [Code(after), " serves and stays as it is"]
    else:
        line += [Code(after), ", which serves, ", Strong("changes")]
    if serving is not None and serving.settings:
        line += [": ", *what(serving)]
    others = [each for each in service.stacks if each is not serving]
    for each in others[:_MOST_STACKS]:
        line += ["; ", *_stack(each)]
    if len(others) > _MOST_STACKS:
        line.append(f"; {counted(len(others) - _MOST_STACKS, 'more change')} of stacks")
    return [*line, "."]


def _is_of_what_serves(change: StackChange, serving: str | None) -> bool:
    """Whether it says what changes in what serves; a new stack is compared with what it would replace."""
    own = change.how in (How.CHANGED, How.UNTOUCHED) and serving in change.stacks
    return change.how is How.SERVES or own


def _stack(change: StackChange) -> Line:
    line: list[str] = [Code(change.stacks[0])]
    if len(change.stacks) > 1:
        line.append(f" and {counted(len(change.stacks) - 1, 'other')}")
    if change.was is not None:
        line += [" (", Code(change.was), " before)"]
    if change.how is How.REMOVED:
        return [*line, " is removed"]
    if change.how is How.NEW:
        line += [" is new", *([", against ", Code(change.against)] if change.against else [])]
    elif change.settings:
        line.append(" changes")
    return [*line, *([": ", *what(change)] if change.settings else [])]


_MOST_NAMED = 3


def what(change: StackChange) -> Line:
    """The settings by name where they are few, beside those that only follow; else how many of each group."""
    led = [each for each in change.settings if each.group is not Group.FOLLOWED]
    if not 0 < len(led) <= _MOST_NAMED:
        return counts(change)
    line: list[str] = []
    for each in led:
        line += [", "] * bool(line) + [Code(each.setting), " ", Code(each.from_), " -> ", Code(each.to)]
    followed = len(change.settings) - len(led)
    return [*line, *([f", {followed} followed"] if followed else []), *_hidden(change)]


def counts(change: StackChange) -> Line:
    """`1 changed by you, 3 followed, 2 moved by the build (2 not visible in the diff)`."""
    groups = groupby(change.settings, lambda one: str(one.group))
    text = ", ".join(f"{len(list(each))} {group}" for group, each in groups)
    return [text, *_hidden(change)]


def _hidden(change: StackChange) -> Line:
    return [" (", Strong(f"{change.hidden} not visible in the diff"), ")"] if change.hidden else []
