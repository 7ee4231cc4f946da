"""Runs the legs of one job, then brings the host back. A process with one thread that owns all it starts.

Invariants: nothing is measured that the preflight does not allow, and it is asked again before every leg; whatever
ends the trial ends only the trial, after which the job is concluded by this same process.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hio_validate.execute import ceilings as limits
from hio_validate.execute import cgroup, closing, owned, programs, service
from hio_validate.execute.closing import Parts
from hio_validate.execute.jobs import LEG_ENDED, Job, places_left
from hio_validate.execute.journal import Journal, JournalLost, now
from hio_validate.execute.service import CannotStop
from hio_validate.execute.watch import Abort, Watch, samples_table
from hio_validate.execute.work import Service, Work
from hio_validate.moment import moment
from hio_validate.observe.readings import HostReadings, Readings
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import holders_of, listening

SAMPLES = "samples.tsv"
_SETTLE_S = 2.0


def main(arguments: Sequence[str], parts: Parts | None = None, readings: Readings | None = None) -> int:
    """`FOLDER --death FD`: run the job in FOLDER; the guardian lives as long as FD stays open at its end."""
    parser = argparse.ArgumentParser(prog="supervisor")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--death", type=int, required=True)
    given = parser.parse_args(arguments)
    os.set_inheritable(given.death, False)
    owned.become_subreaper()
    supervisor = Supervisor(given.folder, given.death, parts or closing.real_parts(), readings)
    return 0 if supervisor.run() else 1


class Supervisor:
    """One job, from the preflight to its conclusion."""

    def __init__(self, folder: Path, death: int, parts: Parts, readings: Readings | None) -> None:
        self.folder, self.parts = folder, parts
        self.job = Job(folder)
        self.work: Work = self.job.work
        self.journal = Journal(folder)
        self.group = cgroup.make(folder)
        self.watch = Watch(
            self.job.mark,
            self.work.ceilings,
            readings or _readings(self.work),
            death=death,
            group=self.group,
            seconds=self.work.ceilings.total_s,
            alone=True,
            started=self._note_process,
            marks={owned.CAMPAIGN: self.work.campaign["id"]} if self.work.campaign else {},
        )
        self.watch.listen_to_signals()

    def run(self) -> bool:
        """Whether the job is closed at the end."""
        outcome, why, resumable = "completed", "all legs ran", False
        try:
            self._begin()
            for place in places_left(self.job):
                self._leg(place)
        except Abort as abort:
            outcome, why, resumable = abort.outcome, abort.why, abort.resumable
        except JournalLost as lost:
            outcome, why = "failed", str(lost)
        except Exception as error:  # a fault of ours must not keep the service from coming back
            outcome, why = "failed", f"hio itself failed ({type(error).__name__}: {error})"
        try:
            self.watch.end_all()
        except Abort as abort:
            self._note_quietly("left", why=abort.why)
            return False
        return closing.conclude(self.folder, self.parts, outcome, why, resumable)

    def _begin(self) -> None:
        who = owned.identity_of(os.getpid())
        self.journal.write(
            "started",
            supervisor=who.as_data() if who else None,
            cgroup=str(self.group.folder)
            if self.group
            else None,  # None: this host does not let hio make one
        )
        if not self.job.work_is_as_prepared:
            raise Abort("failed", "the work of the job has other bytes than those that were prepared")
        self._check_approvals()
        self._check_that_limits_are_seen()
        self.programs = self._programs()
        self.journal.write("programs", sha256=self.programs)
        serving = self.work.serving if self.work.during == "stop" else None
        if serving is None or serving.port != self.work.port:
            self._check_port()
        if serving is not None:
            self._stop(serving)

    def _stop(self, serving: Service) -> None:
        """Look at the service, keep what it was, then stop it. What cannot be restored is not stopped."""
        try:
            serving = service.with_secrets(serving, self.work.secrets)
            keeper = service.keeper_of(serving, self.folder.parent.parent)
            before = service.look_before(serving, self.work.ceilings.start_s, keeper)
            closing.keep_before(self.folder, before)
            self.watch.tick()
            self._check_approvals()
            self.journal.write("service-stopping", who=before.who.as_data(), ticks=service.ticks_now())
            service.stop(serving, before.who, keeper if before.kept else None)
        except CannotStop as error:
            raise Abort("failed", str(error)) from None
        except OSError as error:
            raise Abort("failed", f"what serves now cannot be kept: {error.strerror}") from None
        self.journal.write("service-stopped", service=serving.name)

    def _leg(self, place: int) -> None:
        number = 1 + sum(each.event == "leg-started" for each in Job(self.folder).events)
        arm = self.work.order[place - 1]
        self._preflight()
        self.journal.write("leg-started", number=number, place=place, arm=arm)
        record: dict[str, Any] | None = None
        try:
            self.watch.begin_leg()
            record = self.parts.leg(self.work, place, number, self.watch, self.folder)
            self.watch.end_leg(keeping=self.work.restart == "never")
        except Abort as abort:
            self._note_quietly(LEG_ENDED, number=number, place=place, arm=arm, record=None, why=abort.why)
            raise
        finally:
            self._keep_samples(number)
        self.journal.write(LEG_ENDED, number=number, place=place, arm=arm, record=record)

    def _preflight(self) -> None:
        """What must hold before every leg: approvals, ceilings, programs, a free port (contract 5.1, 5.5)."""
        self.watch.tick()
        self._check_readings()
        replaced = programs.replaced(self.programs, self._programs())
        if replaced:
            raise Abort("failed", f"a program of the trial was replaced since it began: {replaced}")
        self._check_port()
        self._check_approvals()  # last, since all before takes time

    def _check_port(self) -> None:
        if self._foreign_listener() is None:
            return
        service.settled(self.work.port, _SETTLE_S)
        self.watch.look_at_children()
        foreign = self._foreign_listener()
        if foreign:
            raise Abort("failed", f"port {self.work.port} is not free: {foreign}")

    def _foreign_listener(self) -> str | None:
        """Who listens on the trial's port and is none of the trial, in words."""
        for each in listening(self.work.port):
            holders = holders_of({each.inode}).get(each.inode, set())
            if not holders or holders - set(self.watch.members()):
                holder = f"process {min(holders)}" if holders else "a process that cannot be seen"
                return f"{holder} listens on {each}"
        return None

    def _check_approvals(self) -> None:
        for each in self.work.approvals:
            if moment(each.until) <= moment(now()):
                raise Abort(
                    "failed",
                    f"the approval {each.entry.partition('@')[0]} ({each.approves}) expired at {each.until}",
                )

    def _check_that_limits_are_seen(self) -> None:
        reading = self.watch.readings.read(())
        unseen = limits.unseen(self.work.ceilings, reading)
        if unseen:
            raise Abort("failed", f"a limit of the plan could never end the trial here: {'; '.join(unseen)}")

    def _check_readings(self) -> None:
        over = limits.passed(self.work.ceilings, [self.watch.readings.read(self.watch.members())])
        if over:
            raise Abort("aborted", f"before the leg began: {over}")

    def _programs(self) -> dict[str, str]:
        try:
            return programs.digests(self.work)
        except Unobservable as error:
            raise Abort("failed", f"a program of the trial cannot be read: {error.reason}") from None

    def _keep_samples(self, number: int) -> None:
        """Samples of a leg go where the leg keeps its files, also when it was given up."""
        folder = self.folder / "legs" / str(number)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / SAMPLES).write_text(samples_table(self.watch.samples))
        except OSError as error:
            self._note_quietly("samples-lost", number=number, why=str(error.strerror))

    def _note_process(self, role: str, who: owned.Identity) -> None:
        self.journal.write("process", role=role, who=who.as_data())

    def _note_quietly(self, event: str, **data: Any) -> None:
        """Note something on the way to an end that has its own reason; a lost journal shows when the job is closed."""
        try:
            self.journal.write(event, **data)
        except JournalLost:
            return


def _readings(work: Work) -> HostReadings:
    respected = [(each.name, each.port) for each in work.respect]
    return HostReadings(respected, device=work.ceilings.device_memory is not None)


if __name__ == "__main__":
    import sys  # only where this module is the program

    raise SystemExit(main(sys.argv[1:]))
