"""Runs the cells of a campaign one after the other, each as a job of its own, and writes the record at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from hio_validate import writing
from hio_validate.campaigns.prospect import CampaignProspect, CellProspect
from hio_validate.cli import run_plan
from hio_validate.cli.following import follow
from hio_validate.cli.shared import as_json, show, stop, width
from hio_validate.execute import campaigns, closing, jobs, launch, lock, preflight, recovery
from hio_validate.execute.campaigns import Begun, Standing
from hio_validate.execute.jobs import Job
from hio_validate.execute.journal import Journal, JournalLost, now
from hio_validate.execute.journaled import Unreadable
from hio_validate.execute.work import Work
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.report import campaign as page


class _Halt(Exception):
    """Nothing more is started; one sentence with what to do."""


def run(seen: CampaignProspect, root: Path, format_: str) -> int:
    """Run what is left of a campaign; the exit code."""
    state = jobs.state_folder()
    begun = _begun(seen, state, root)
    try:
        campaigns.hold(begun)
    except (campaigns.Watched, OSError) as error:
        stop(str(error), 1)
    if seen.begun is not None:
        _note(begun, "resumed")
    for number, each in enumerate(seen.cells, 1):
        standing = campaigns.standing(state, begun.run_id, each.name)
        try:
            said = _one(each, standing, begun, root, state, format_, (number, len(seen.cells)))
        except _Halt as halt:
            click.echo(f"hio: {halt}", err=True)
            break
        except SystemExit as left:
            click.echo(f"hio campaign run {seen.item.name} --yes goes on with what is left", err=True)
            raise left
        if format_ == "text" and said:
            show(page.progress_line(number, len(seen.cells), standing, said))
    return finish(replace(seen, begun=Begun(begun.folder)), root, format_, only_if_over=True)


def _begun(seen: CampaignProspect, state: Path, root: Path) -> Begun:
    if seen.begun is not None:
        return seen.begun
    try:
        return campaigns.begin(state, seen.run_id, seen.item, root)
    except FileExistsError:
        stop(f"a campaign is called {seen.run_id} already on this host", 1)
    except (OSError, JournalLost) as error:
        stop(f"the campaign cannot be written down in {state}: {error}")


def _one(
    each: CellProspect,
    standing: Standing,
    begun: Begun,
    root: Path,
    state: Path,
    format_: str,
    at: tuple[int, int],
) -> str:
    """Bring one cell to its end; how it ended, in words. Raises _Halt where no further cell may begin."""
    if standing.state == "completed":
        return "completed before; it is not repeated"
    if not standing.is_open:
        return f"{standing.state} before: {standing.why}"
    if standing.state in ("unsafe", "unrecorded"):
        raise _Halt(_recover_first(standing))
    if format_ == "text":
        show(page.progress_line(*at, standing, f"{_VERB[standing.state]} as {standing.run}"))
    quiet = "text" if format_ == "text" else "none"
    if standing.state == "running":
        follow(Job(state / "jobs" / standing.run), quiet)
    elif standing.state == "to-run":
        refused = _start(each, standing, begun, root, state, quiet)
        if refused:
            _note(begun, "refused", cell=each.name, why=refused)
            return f"refused: {refused}"
    else:
        _go_on(Job(state / "jobs" / standing.run), quiet)
    return _ended(campaigns.standing(state, begun.run_id, each.name))


_VERB = {
    "to-run": "begins",
    "running": "runs already and is watched",
    "prepared": "begins",
    "resumable": "goes on",
}


def _ended(now_: Standing) -> str:
    if now_.state in ("unsafe", "unrecorded"):
        raise _Halt(_recover_first(now_))
    if now_.state == "stopped" or now_.why.startswith("stopped"):
        raise _Halt(f"the cell {now_.cell} was stopped, so no further one begins")
    return now_.state if not now_.why else f"{now_.state}: {now_.why}"


def _recover_first(standing: Standing) -> str:
    what = "left this host unsafe" if standing.state == "unsafe" else "is not recorded"
    return f"the cell {standing.cell} {what}: hio runs --recover {standing.run} comes first"


def _start(
    each: CellProspect, standing: Standing, begun: Begun, root: Path, state: Path, format_: str
) -> str:
    """Begin a cell and follow it; why it may not begin, or nothing. The repository is read anew: earlier cells wrote into it."""
    found = load(Folder(root))
    plan = found.find("plan/v1", each.cell.plan, begun.data["service"])
    if plan is None or plan.model is None:
        return f"the plan {each.cell.plan} cannot be read"
    made = run_plan.prepared(found, plan, root, standing.run)
    if not isinstance(made, Work):
        return "; ".join(made)
    work = replace(made, campaign=_of(begun, each.name))
    reason = preflight.refused(state) or preflight.occupied(work)
    if reason:
        return reason
    taken = _lock()
    try:
        job = jobs.create(state, work, preflight.preflight(state, found, work.service))
    except (OSError, JournalLost) as error:
        taken.close()
        return f"its job cannot be written down in {state}: {error}"
    _launch(job, taken, format_)
    return ""


def _of(begun: Begun, cell: str) -> Mapping[str, str]:
    return {"campaign": begun.data["campaign"], "id": begun.run_id, "cell": cell}


def _go_on(job: Job, format_: str) -> None:
    """Take up a cell that was interrupted, as hio run --resume does. Raises _Halt."""
    try:
        why_not = recovery.why_not_resumable(job, closing.real_parts())
    except Unreadable as error:
        raise _Halt(str(error)) from None
    if why_not:
        raise _Halt(f"{job.name} does not go on: {why_not}")
    reason = preflight.refused(job.folder.parent.parent) or preflight.occupied(job.work)
    if reason:
        raise _Halt(reason)
    taken, seen = _lock(), len(job.events)
    try:
        recovery.resume(job)
    except JournalLost as error:
        raise _Halt(str(error)) from None
    _launch(Job(job.folder), taken, format_, seen)


def _lock() -> lock.Lock:
    try:
        return lock.take()
    except lock.Taken as error:
        raise _Halt(str(error)) from None


def _launch(job: Job, taken: lock.Lock, format_: str, seen: int = 0) -> None:
    try:
        guardian = launch.start(job.folder, taken)
    except OSError as error:
        raise _Halt(f"the guardian cannot be started: {error.strerror}") from None
    finally:
        taken.close()
    follow(job, format_, guardian, seen)


def finish(seen: CampaignProspect, root: Path, format_: str, only_if_over: bool = False) -> int:
    """Write the record where every cell is over, or whatever it stands at; tell how it ended. The exit code."""
    state, begun = jobs.state_folder(), seen.begun
    assert begun is not None
    stands = list(campaigns.standings(state, begun.run_id, seen.model.cells))
    over = not any(each.is_open for each in stands)
    record = _record(seen, begun, root, state) if over or not only_if_over else None
    stands = [
        replace(each, state="refused", why=why)
        if each.state == "to-run" and (why := begun.refused(each.cell))
        else each
        for each in stands
    ]
    code = _exit_code(state, stands, record)
    if format_ == "json":
        show(as_json(page.outcome_shape(begun.run_id, seen.item.name, stands, record, code)))
    else:
        show(page.outcome(begun.run_id, seen.model, stands, record, width()))
        after = (
            f"hio champion {seen.item.name}" if record else f"hio campaign run {seen.item.name} --yes goes on"
        )
        show(f"next: {after}\n")
    return code


def _record(seen: CampaignProspect, begun: Begun, root: Path, state: Path) -> str:
    file, content = campaigns.record_of(begun, seen.item, load(Folder(root)), state, now())
    try:
        writing.create(root / file, content)
    except FileExistsError:
        stop(f"{file} exists and stays as it is", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    _note(begun, "recorded", file=file)
    return file


def _note(begun: Begun, event: str, **data: str) -> None:
    try:
        Journal(begun.folder).write(event, **data)
    except JournalLost as error:
        stop(str(error), 1)


def _exit_code(state: Path, stands: list[Standing], record: str | None) -> int:
    """0 all completed and recorded; 3 no leg of any cell counts; 1 otherwise."""
    found = [job for each in stands if (job := jobs.find(state, each.run)) is not None]
    if not any(not leg["record"].get("invalid") for job in found for leg in job.legs):
        return 3
    return 0 if record and all(each.state == "completed" for each in stands) else 1
