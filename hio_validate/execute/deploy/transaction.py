"""The switch itself: step by step, each on record, to one proven service and a ledger that tells the truth.

Invariants: every step can be done again, and what is to be done is read from the journal alone; the old service has
ended and its port is free before the new one is started, in both directions; up to the event `proven` whatever goes
wrong is taken back, from there on it is finished. Worker, guardian and recovery all come here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hio_validate.execute import closing, owned, service
from hio_validate.execute.backends import Backend, CannotSwitch
from hio_validate.execute.backends.local import Local
from hio_validate.execute.backends.systemd import LOG, Systemd
from hio_validate.execute.deploy import deployments, installing
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.work import Work
from hio_validate.execute.journal import Journal, JournalLost
from hio_validate.execute.proof import PASSED, Before, Restoration, owner
from hio_validate.execute.service import CannotStop
from hio_validate.models.capture import CapturedProcess

PROVEN, RESTORED = "proven.json", "restored.json"

FORWARD = (
    "checked", "saved", "installing", "installed", "stopping", "stopped", "starting", "begun", "running", "ready",
    "proven", "recording", "entered", "recorded", "closed",
)  # fmt: skip
"""The events of a deployment that stands, in order."""
BACK = (
    "failed",
    "taken-away",
    "put-back",
    "restoring",
    "restored",
    "recording",
    "entered",
    "recorded",
    "closed",
)
"""The events of one that is taken back, in order; `restoring` only where what served had ended."""


class Failed(Exception):
    """A step that did not come to its end; whatever was changed is taken back."""

    def __init__(self, step: str, found: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {each}" for name, each in found.items()))
        self.step, self.found = step, dict(found)


class Verify(Protocol):
    """Every check of the new service."""

    def __call__(self, work: Work, who: owned.Identity, deployment: Deployment) -> Restoration: ...


class Record(Protocol):
    """Writes what happened into the repository."""

    def __call__(self, deployment: Deployment, journal: Journal) -> str:
        """The file of the entry. Raises whatever keeps it from being written."""
        ...


@dataclass(frozen=True)
class Parts:
    """What judges, proves and records: the tests bring their own."""

    reasons: Callable[[Work, Path], list[str]]
    """Why the work may not be done now; the second is the state folder."""
    verify: Verify
    record: Record


def backend_of(work: Work, folder: Path) -> Backend:
    """What starts and stops the service of a deployment."""
    if work.backend == "local":
        return Local(folder.parent.parent / "services" / work.service)
    return Systemd(work.unit or "", user=work.backend == "systemd-user", record=folder / LOG)


@dataclass
class Transaction:
    """One deployment or rollback, begun or taken up again."""

    folder: Path
    parts: Parts
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder)
        self.work = Deployment(self.folder).work
        self.backend = backend_of(self.work, self.folder)

    @property
    def now(self) -> Deployment:
        return Deployment(self.folder)

    def run(self) -> bool:
        """From the beginning; whether it is closed at the end."""
        try:
            self._check()
            if self.work.kind == "deploy":
                self._switch()
        except Failed as failed:
            self._noted("failed", step=failed.step, found=failed.found)
        except JournalLost as lost:
            self._noted("failed", step="journal", found={"journal": str(lost)})
        except Exception as error:  # a fault of ours must not keep the host from coming back
            self._noted("failed", step="hio", found={"hio": f"{type(error).__name__}: {error}"})
        return self.conclude()

    def conclude(self, why: str = "its worker died") -> bool:
        """Finish what is proven, take back everything else; whether it is closed. Never raises."""
        now = self.now
        if now.has("closed"):
            return True
        touched = now.has("installing") or now.has("going-back")
        if not (now.has("proven") or now.has("failed")) and (self.work.kind == "deploy" or not touched):
            self._noted("failed", step=_step(now), found={"interrupted": why})
        if not touched:
            return self._close("refused")
        try:
            if not now.has("proven"):
                self._back()
            self._record()
        except (CannotSwitch, CannotStop, JournalLost, OSError, ValueError) as error:
            self._noted("left-open", why=str(error))
            return False
        except Exception as error:  # it stays open, which makes the host unsafe, and says so
            self._noted("left-open", why=f"{type(error).__name__}: {error}")
            return False
        if self.journal.lost is not None:
            return False
        return self._close("deployed" if self.now.has("proven") else "rolled-back")

    def _check(self) -> None:
        """Everything once more, immediately before the work (contract 5.1)."""
        if not self.now.work_is_as_prepared:
            raise Failed("check", {"work": "it has other bytes than those that were prepared"})
        reasons = self.parts.reasons(self.work, self.folder.parent.parent)
        if reasons:
            raise Failed("check", {f"reason {n}": each for n, each in enumerate(reasons, 1)})
        self.journal.write("checked")
        if self.work.kind == "rollback":
            installing.save(self.now, self.work.files)
            self.journal.write("going-back", ticks=service.ticks_now())

    def _switch(self) -> None:
        before = self._save()
        self.journal.write("installing")
        files = installing.install(self.now, self.work.files)
        self.journal.write("installed", service=self.work.service, files=files)
        self.journal.write("stopping", ticks=service.ticks_now())
        self._stop_old(before)
        self.journal.write("stopped")
        who = self._start_new()
        self._wait_until_ready(who)
        self.journal.write("ready")
        self._prove(who)

    def _save(self) -> Before | None:
        """Keep what serves and every file, before anything is touched."""
        before = None
        try:
            if self.work.away.command is not None:
                old = service.with_secrets(self.work.serving(self.work.away), self.work.secrets)
                before = service.look_before(old, self.work.start_s, self.backend)
                closing.keep_before(self.folder, before)
            elif self.backend.is_kept():
                raise Failed(
                    "save", {"keeper": f"{self.work.service} is kept and does not serve: hio rollback first"}
                )
            installing.save(self.now, self.work.files)
        except (CannotStop, CannotSwitch, OSError) as error:
            raise Failed("save", {"what serves": str(error)}) from None
        self.journal.write("saved", served=before.who.as_data() if before else None)
        return before

    def _stop_old(self, before: Before | None) -> None:
        old = self.work.serving(self.work.away)
        try:
            if before is not None:
                service.stop(old, before.who, self.backend if before.kept else None)
            else:
                service.prove_free(old)
        except CannotStop as error:
            raise Failed("stop", {"port": str(error)}) from None

    def _start_new(self) -> owned.Identity:
        self.journal.write("starting", ticks=service.ticks_now())
        try:
            who = self.backend.start(lambda begun: self.journal.write("begun", who=begun.as_data()))
        except CannotSwitch as error:
            raise Failed("start", {"start": str(error)}) from None
        self.journal.write("running", who=who.as_data())
        return who

    def _wait_until_ready(self, who: owned.Identity) -> None:
        new = self.work.serving(self.work.to)
        service.waited(lambda: service.is_ready(new, who) or not owned.is_alive(who), self.work.start_s)
        if not owned.is_alive(who):
            raise Failed("readiness", {"readiness": f"process {who.pid} ended before it was ready"})
        if not service.is_ready(new, who):
            alone = owner(new, who)
            said = f"/health does not answer 200 within {self.work.start_s:g} s" if alone == PASSED else alone
            raise Failed("readiness", {"readiness": said})

    def _prove(self, who: owned.Identity) -> None:
        proof = self.parts.verify(self.work, who, self.now)
        wrong = {name: each for name, each in proof.checks.items() if each != PASSED}
        if not proof.proven:
            raise Failed("verification", wrong or {"verification": "nothing was checked"})
        deployments.write(self.folder / PROVEN, json.dumps(proof.as_data(), indent=1).encode())
        self.journal.write("proven", who=who.as_data(), checks=proof.checks)

    def _back(self) -> None:
        """Stop the new one, put the files back, start the old one, prove it. Raises CannotStop and others."""
        now, before = self.now, self._before()
        if not now.has("taken-away"):
            if now.has("stopping") or now.has("going-back"):
                self._take_away(now, before)
            self._noted("taken-away")
        if not now.has("put-back"):
            back = [each.back for each in self.work.files]
            installing.save(now, back)
            self._noted("put-back", service=self.work.service, files=installing.install(self._kept(), back))
        found = self._restored(now, before)
        deployments.write(self.folder / RESTORED, json.dumps(found.as_data(), indent=1).encode())
        if not found.proven:
            wrong = {name: each for name, each in found.checks.items() if each != PASSED}
            raise CannotStop(
                "; ".join(f"{name}: {each}" for name, each in wrong.items()) or "nothing was checked"
            )
        self._noted("restored", checks=found.checks)

    def _take_away(self, now: Deployment, before: Before | None) -> None:
        """End whatever the backend runs, and an old service that was about to be stopped; then the port is free."""
        self.backend.stop(_who(now.last("begun")))
        if before is not None and not before.kept and self.work.kind == "deploy":
            service.stop(self.work.serving(self.work.away), before.who)
        else:
            service.prove_free(self.work.serving(self.work.to))

    def _restored(self, now: Deployment, before: Before | None) -> Restoration:
        old = self.work.serving(self.work.away)
        if before is None:
            service.prove_free(old)
            return Restoration(None, {"nothing serves, as before": PASSED})
        began = now.last("stopping") or now.last("going-back") or {"ticks": 0}
        return service.restore(
            service.with_secrets(old, self.work.secrets),
            before,
            self.folder.parent.parent / "services" / f"{self.work.service}.log",
            self.work.start_s,
            stopped_ticks=int(began["ticks"]),
            begun=_who(now.last("restoring")),
            announce=lambda who: self._announce("restoring", who),
            backend=self.backend,
        )

    def _announce(self, event: str, who: owned.Identity) -> None:
        """A service comes back also where nothing can be written any more; then the deployment stays open."""
        self._noted(event, who=who.as_data())

    def _kept(self) -> Deployment:
        """Where the bytes of before are: with the deployment that is taken back."""
        return Deployment(self.folder.parent / (self.work.deployment or self.work.name))

    def _before(self) -> Before | None:
        if self.work.away.command is None:
            return None
        with suppress(FileNotFoundError):
            return closing.kept_before(self._kept().folder)
        raise ValueError(f"{self._kept().folder} does not say any more what served before")

    def _record(self) -> None:
        if not self.now.has("recorded"):
            try:
                entry = self.parts.record(self.now, self.journal)
            except Exception as error:
                self._noted("not-recorded", why=f"{type(error).__name__}: {error}")
                raise
            self.journal.write("recorded", entry=entry)

    def _close(self, outcome: str) -> bool:
        return self._noted("closed", outcome=outcome)

    def _noted(self, event: str, **data: Any) -> bool:
        """Write an event; False where the journal is lost, which keeps the deployment open."""
        with suppress(JournalLost):
            self.journal.write(event, **data)
            return True
        return False


def _who(data: Mapping[str, Any] | None) -> owned.Identity | None:
    return owned.identity_from(data["who"]) if data else None


def _step(now: Deployment) -> str:
    """After which event it was interrupted."""
    return now.events[-1].event if now.events else "the beginning"


def process_of(deployment: Deployment) -> CapturedProcess | None:
    """The process that was proven last, as it was captured."""
    for name in (PROVEN,) if deployment.has("proven") else (RESTORED,):
        with suppress(OSError):
            seen = json.loads((deployment.folder / name).read_text())["process"]
            return CapturedProcess.model_validate(seen) if seen else None
    return None


def identity_of_this_process() -> dict[str, str | int] | None:
    """Who we are, for the journal."""
    who = owned.identity_of(os.getpid())
    return who.as_data() if who else None
