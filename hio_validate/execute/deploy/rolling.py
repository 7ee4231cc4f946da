"""Taking a deployment back: which one is meant, and the work of going its way back.

Invariant: it is carried out on the host it was written on, once, and only over the files that the deployment installed
or with a word (contract 12.2, 12.5).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

from hio_validate.execute.deploy import deployments, found, preparing
from hio_validate.execute.deploy.installing import digest_at
from hio_validate.execute.deploy.work import FileChange, Work
from hio_validate.execute.journal import now
from hio_validate.execute.journaled import Unreadable
from hio_validate.models.entry import Deployment, Rollback
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View


class CannotRollBack(Exception):
    """A deployment that cannot be taken back here and now; one sentence."""


def deployed(view: View, named: str | None) -> Item:
    """The entry of the deployment that is meant: by its service, by its name, or the only one. Raises CannotRollBack."""
    current = {
        service: ledger.standing for service, ledger in view.ledgers.items() if ledger.standing is not None
    }
    if named is not None and named not in view.ledgers:
        item = next((each for each in view.repo.of("entry/v1") if named in (each.name, each.full_name)), None)
        if item is None or not isinstance(item.model, Deployment):
            raise CannotRollBack(
                f"no deployment and no service is called {named}; hio ledger show lists the entries"
            )
        entry = current.get(item.service or "")
        if entry is not item:
            later = entry.name if entry is not None else "nothing"
            raise CannotRollBack(
                f"{item.name} is not what serves by the ledger any more: {later} came after it"
            )
        return _standing(item)
    if named is not None:
        current = {named: current[named]} if named in current else {}
    if not current:
        raise CannotRollBack("the ledger knows of no deployment" + (f" of {named}" if named else ""))
    if len(current) > 1:
        raise CannotRollBack(f"several services are deployed: say which of {', '.join(sorted(current))}")
    return _standing(next(iter(current.values())))


def _standing(item: Item) -> Item:
    """A deployment that was not taken back yet."""
    if isinstance(item.model, Rollback):
        undone = name_of(item.model.undoes or "the deployment")
        raise CannotRollBack(
            f"{undone} was taken back already, by {item.name}: there is no deployment to take back"
        )
    return item


def prepare(view: View, entry: Item, root: Path, state: Path, at: str, by: str, overwrite: bool) -> Work:
    """The work of taking a deployment back. Raises CannotRollBack, Unobservable, OSError."""
    plan = _plan_of(view, entry)
    if plan.model.host != found.machine():
        raise CannotRollBack(f"{entry.name} was carried out on another machine: roll it back there")
    done = deployments.find(state, plan.name)
    if done is None:
        raise CannotRollBack(
            f"{state / 'deployments' / plan.name} is not there: the bytes of before are gone, so only a person can go "
            f"back; {plan.file} says how"
        )
    try:
        work = done.work
    except Unreadable as error:
        raise CannotRollBack(str(error)) from None
    files = tuple(_as_installed(each) for each in work.files)
    if work.to.stack != plan.model.takes_back or work.away.stack != plan.model.restores:
        raise CannotRollBack(f"{plan.file} and {done.folder} are not about the same deployment")
    return replace(
        work, name=_name(view, entry, state, at), kind="rollback", at=at, by=by, root=str(root), files=files,
        found=found.look(work.port, [each.path for each in files], view.ledger(entry.service)),
        undoes=entry.name, deployment=work.name, overwrite=overwrite, contents={}, pins={},
    )  # fmt: skip


def _plan_of(view: View, entry: Item) -> Item:
    pin = entry.model.pins.rollback_plan
    item = view.repo.find("rollback/v1", name_of(pin), entry.service) if pin else None
    if item is None or item.model is None:
        said = f"its rollback plan {name_of(pin)} cannot be read" if pin else "it pins no rollback plan"
        raise CannotRollBack(f"{entry.name} cannot be taken back by hio: {said}")
    if item.pin != pin:
        raise CannotRollBack(f"{item.file} has other bytes than those that {entry.name} pins: restore it")
    return item


def _as_installed(change: FileChange) -> FileChange:
    """A file of the deployment; foreign where it has other bytes by now than the deployment put there."""
    return replace(change, foreign=digest_at(change.path) not in (change.after, change.before))


def _name(view: View, entry: Item, state: Path, at: str) -> str:
    name = f"{at[:10]}-rollback-{name_of(entry.model.pins.candidate)}"
    taken = {item.name for item in view.repo.items if item.service == entry.service}
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(each for each in numbered if each not in taken and deployments.find(state, each) is None)


def why_not(work: Work, view: View, state: Path) -> list[str]:
    """Why a rollback that was shown may not be carried out now."""
    try:
        entry = deployed(view, f"{work.service}/{work.undoes}")
        again = prepare(view, entry, Path(work.root), state, now(), work.by, work.overwrite)
    except CannotRollBack as error:
        return [str(error)]
    stale = list(found.differing(work.found, again.found))
    if stale:
        return [f"the page is stale: {'; '.join(stale)}; look at it again"]
    return preparing.unsaid(again)
