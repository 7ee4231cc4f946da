"""Two trees of documents: what changes in what serves, on which evidence, and what blocks it then.

Invariants: it compares meaning, never text; the same two trees always give the same review; nothing is read
from the work tree, the clock or the network (`now` is passed in).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate import engine, shards
from hio_validate.diagnostic import Report
from hio_validate.history import Objects
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Baseline, Deployment
from hio_validate.parents import Parents
from hio_validate.places import frozen
from hio_validate.repo import Item, documents_in, service_of
from hio_validate.review.changes import How, Renamed, Review, ServiceReview, StackChange, StatusChange, Unread
from hio_validate.review.exposure import approved, widened
from hio_validate.review.findings import compared, kept_quiet
from hio_validate.review.matrices import matrix_changes
from hio_validate.review.placed import Placed
from hio_validate.review.records import entries, records
from hio_validate.review.shared import shared
from hio_validate.review.stacks import Compare, Sides, alike
from hio_validate.review.trees import Side, Trees, trees
from hio_validate.settings.value import UNKNOWN
from hio_validate.status import statuses


def review(
    before: Parents,
    after: Objects,
    names: tuple[str, str],
    basis: str,
    now: str,
    only: str | None = None,
    gates: Sequence[str] = (),
) -> Review:
    """Review a change against the first of `before`; what any of them has frozen must stay.

    `now` is the time in UTC by which approvals expire, `only` the one service to tell of.
    """
    base = before.trees[0][1]
    both = trees(base, after)
    # What only another parent of a merge has, and the merge lets go of.
    dropped = frozenset(before.paths()) - base.ids.keys() - after.ids.keys()
    if not both.changed and not dropped:
        return Review(*names, basis, gates=tuple(gates))
    reports = _judged(both, before, gates)
    focus = both.focus | dropped
    found, resolved = compared(*reports, focus, both.renamed)
    quiet = kept_quiet(*reports, focus, both.renamed)
    services = [_service(both, service, now) for service in both.services if only in (None, service)]
    told = {None, only}
    return Review(
        *names,
        basis,
        tuple(each for each in services if _says_anything(each) or _record_or_unread(both, each.service)),
        tuple(shared(both)),
        tuple(each for each in found if only is None or each.service in told),
        tuple(each for each in resolved if only is None or each.service in told),
        tuple(each for each in quiet if only is None or each.service in told),
        tuple(_renamed(both)),
        tuple(_unread(both)),
        len(both.changed | dropped),
        tuple(gates),
        tuple(dict.fromkeys(why for report in reports for why in _incomplete(report))),
    )


def _judged(both: Trees, before: Parents, gates: Sequence[str]) -> tuple[Report, Report]:
    """Both sides judged: the base where the change concerns it, the head whole, so that no error is missed."""
    then = engine.run(both.before.repo, None, gates=gates, focus=both.focus)
    return then, shards.judge(both.after.repo.tree, before, gates)


def _incomplete(report: Report) -> Iterator[str]:
    yield from report.unreadable
    crashed = sorted({each.message for each in report.diagnostics if each.rule == "internal-error"})
    yield from crashed


def _service(both: Trees, service: str, now: str) -> ServiceReview:
    compare = Compare(both, service, Placed(both.before), Placed(both.after))
    serving = _serving(both.before, service), _serving(both.after, service)
    changes = list(compare.changes(serving))
    exposures = [
        approved(each, stack, service, both.after, now)
        for change, sides in changes
        if (stack := _stack_of(change, sides, both.after, service)) is not None
        for each in widened(sides, stack, compare.after.effective(stack))
    ]
    exposures += [
        approved(each._replace(from_=UNKNOWN), stack, service, both.after, now)
        for stack in _unread_before(both, service)
        for each in widened(None, stack, compare.after.effective(stack))
    ]
    stacks = alike([change for change, _ in changes if _matters(change)])
    return ServiceReview(
        service,
        _how(both, service),
        serving,
        tuple(stacks),
        tuple(
            change.stacks[0] for change, _ in changes if change.how is How.CHANGED and not _matters(change)
        ),
        tuple(dict.fromkeys(exposures)),
        tuple(matrix_changes(both, service)),
        tuple(entries(both, service)),
        tuple(records(both, service)),
        tuple(_statuses(both, service, {name for change, _ in changes for name in change.stacks})),
    )


def _unread_before(both: Trees, service: str) -> Iterator[Item]:
    """Stacks whose former settings nobody can read: what they expose now may be wider than what they did."""
    return (
        item
        for item in both.after.repo.of("stack/v1")
        if item.service == service
        and item.file in both.changed
        and not both.before.is_readable(both.file_before(item.file))
    )


def _statuses(both: Trees, service: str, touched: set[str]) -> Iterator[StatusChange]:
    """The stacks whose status would change, and the status of those that the change touches."""
    before, after = (
        {each.stack: each for each in statuses(side.view, service)} for side in (both.before, both.after)
    )
    names = {now.name: was.name for was, now in both.pairs("stack/v1", service) if was and now}
    gone = before.keys() - after.keys() - set(names.values())
    unread = {
        item.name
        for side in (both.before, both.after)
        for item in side.repo.items
        if item.model is None and item.service == service
    }
    for name in sorted((after.keys() | gone) - unread):
        was, now = before.get(names.get(name, name)), after.get(name)
        level, becomes = was.level if was else None, now.level if now else None
        if level != becomes or name in touched:
            yield StatusChange(
                name,
                str(level) if level else None,
                str(becomes) if becomes else None,
                now.why if now else "",
                now.missing if now else (),
            )


def _stack_of(change: StackChange, sides: Sides | None, after: Side, service: str) -> Item | None:
    if change.how is How.REMOVED:
        return None
    return sides.now if sides else after.repo.find("stack/v1", change.stacks[0], service)


def _matters(change: StackChange) -> bool:
    return change.how in (How.NEW, How.REMOVED, How.SERVES) or bool(change.settings) or change.was is not None


def _how(both: Trees, service: str) -> How:
    """Whether a service came, went or goes on, by the documents that stand in its folders."""
    sides = [
        any(service_of(path) == service for path in documents_in(side.repo.tree))
        for side in (both.before, both.after)
    ]
    return How.CHANGED if all(sides) else How.NEW if sides[1] else How.REMOVED


def _serving(side: Side, service: str) -> str | None:
    """The stack that the ledger says serves: deployed last, else the last baseline."""
    ledger: Ledger = side.view.ledger(service)
    deployment = ledger.deployment
    if deployment is not None:
        pins = deployment.model.pins
        pin: str | None = pins.candidate if isinstance(deployment.model, Deployment) else pins.stack
        return pin.partition("@")[0] if pin else None
    baselines = [item.model for item in ledger.as_of() if isinstance(item.model, Baseline)]
    return baselines[-1].pins.stack.partition("@")[0] if baselines else None


def _says_anything(service: ServiceReview) -> bool:
    return service.how is not How.CHANGED or any(
        (
            service.stacks,
            service.worded,
            service.exposures,
            service.matrices,
            service.entries,
            service.records,
        )
    )


def _record_or_unread(both: Trees, service: str) -> bool:
    """Whether the change touches a document of a service that was frozen, or that one side cannot read."""
    return any(
        service_of(file) == service
        and not (
            both.before.is_readable(file) and both.after.is_readable(file) and _is_new_or_free(both, file)
        )
        for file in both.changed
    )


def _is_new_or_free(both: Trees, file: str) -> bool:
    return frozen(file) is None or file not in both.before.by_file


def _renamed(both: Trees) -> Iterator[Renamed]:
    for now, was in sorted(both.renamed.items()):
        item = both.after.by_file[now]
        yield Renamed(item.kind.partition("/")[0], was, now)


_UNKNOWN = {
    "stack/v1": "its settings",
    "matrix/v1": "its rows",
    "entry/v1": "what it decides",
    "run/v1": "what it measured",
    "capture/v1": "what it observed",
    "plan/v1": "what it prespecifies",
    "fixture/v1": "what it asks",
    "engine/v1": "the defaults of that build",
    "site/v1": "where its services listen and find their files",
    "family/v1": "what its table adds to the help texts",
}


def _unread(both: Trees) -> Iterator[Unread]:
    """Documents in focus that a side cannot read, and what is not known because of it."""
    for word, side in (("before", both.before), ("after", both.after)):
        for item in side.repo.items:
            if item.model is None and item.file in both.focus:
                yield Unread(item.file, word, _UNKNOWN.get(item.kind, _by_room(item.file)))


def _by_room(file: str) -> str:
    rooms = {"/stacks/": "stack/v1", "matrix/": "matrix/v1", "ledger/": "entry/v1", "/runs/": "run/v1",
             "/plans/": "plan/v1", "/fixtures/": "fixture/v1",
             "/captures/": "capture/v1", "/sites/": "site/v1", "/family.yaml": "family/v1", "/engines/": "engine/v1"}  # fmt: skip
    return next((_UNKNOWN[kind] for room, kind in rooms.items() if room in file), "what it says")
