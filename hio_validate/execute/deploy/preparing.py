"""A stack becomes the work of a deployment, or the reasons why it may not be deployed here and now.

Invariant: the same documents, host and moment give the same work; nothing is written, stopped or asked of a service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Literal

from hio_validate.command import Command, secrets_in
from hio_validate.execute.arms import Host, NotStartable, arm_work
from hio_validate.execute.deploy import deployments, found, gates, way_back
from hio_validate.execute.deploy.installing import digest_at
from hio_validate.execute.deploy.work import FileChange, Side, Work, with_contents
from hio_validate.execute.journaled import sha256
from hio_validate.execute.proof import serves_as
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.execute.work import ArmWork
from hio_validate.ledger import Ledger
from hio_validate.models.entry import Baseline, Deployment, Rollback
from hio_validate.models.plan import PlannedArm
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listening, owner_of
from hio_validate.render.bundle import CannotRender, File
from hio_validate.render.launch import launch_of
from hio_validate.render.rendering import render
from hio_validate.render.targets.systemd import unit_of
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View
from hio_validate.settings.places import place_of, start_s

KnownGood = Callable[[View, str, Item], Iterable[str]]
"""What is known of the model and violated by a stack, one sentence each."""

BackendName = Literal["local", "systemd", "systemd-user"]


@dataclass(frozen=True)
class Prepared:
    """The work, where there is one to speak of, and every reason against it, one sentence each."""

    work: Work | None
    reasons: tuple[str, ...] = ()


class NotDeployable(Exception):
    """A stack that cannot be deployed here; one sentence."""


def prepare(
    view: View, stack: Item, service: str, root: Path, state: Path, at: str, by: str, known_good: KnownGood,
    name: str | None = None,
) -> Prepared:  # fmt: skip
    """The deployment of a stack at a service's place, with the bytes it installs."""
    try:
        made = _Preparation(view, stack, service, root, state, at, by)
        return made.work(known_good, name or made.name())
    except CannotRender as error:
        return Prepared(None, error.reasons)
    except (NotDeployable, NotStartable, Unobservable, OSError) as error:
        return Prepared(None, (str(error),))


class _Preparation:
    def __init__(
        self, view: View, stack: Item, service: str, root: Path, state: Path, at: str, by: str
    ) -> None:
        self.view, self.repo, self.stack, self.service = view, view.repo, stack, service
        self.root, self.state, self.at, self.by = root, state, at, by
        self.ledger = view.ledger(service)
        self.host = self._host()
        self.candidate = self._started(stack)
        self.parent = self._parent()

    def work(self, known_good: KnownGood, name: str) -> Prepared:
        asked = gates.Asked(
            self.service,
            self.parent,
            self.stack,
            self.host,
            self.candidate.command.program,
            self.at,
            self.by,
            name,
        )
        judged = gates.judged(self.view, asked, list(known_good(self.view, self.service, self.stack)))
        away, against = self._away()
        installed = self._installed()
        launch = launch_of(self.repo, self.stack, self.service, self.view.settings)
        command = launch.command
        files = tuple(self._changes(installed))
        made = Work(
            name=name, kind="deploy", at=self.at, by=self.by, root=str(self.root), service=self.service,
            backend=self._backend(), unit=None if self._backend() == "local" else unit_of(launch), address=self.host.place.host or "127.0.0.1",
            port=self.host.port, role=self.candidate.role, away=away,
            to=Side(self.candidate.stack, command), files=files, pins=judged.pins,
            secrets=self._secrets(command, away.command),
            found=found.look(self.host.port, [each.path for each in files], self.ledger),
            start_s=start_s(self.host.place),
        )  # fmt: skip
        contents = {sha256(each.content): each.content for each in installed}
        reasons = [*judged.reasons, *against]
        if not reasons:
            plan = way_back.file_of(made, str(deployments.folder_of(self.state) / name))
            reasons += gates.against_entry(self.view, asked, judged.pins, plan)
        return Prepared(with_contents(made, contents), tuple(dict.fromkeys(reasons)))

    def name(self) -> str:
        """The day, the stack, and a number from the second on: of the folder, the documents and the entry."""
        name = f"{self.at[:10]}-deploy-{self.stack.name}"
        taken = {item.name for item in self.repo.items if item.service == self.service}
        numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
        return next(
            each for each in numbered if each not in taken and deployments.find(self.state, each) is None
        )

    def _host(self) -> Host:
        site, _, model = self.service.partition("/")
        item, place = self.repo.find("site/v1", site), place_of(self.service, self.repo)
        if item is None or item.model is None or place is None:
            raise NotDeployable(
                f"nothing says where {self.service} runs: add services.{model} to manifests/sites/{site}.yaml"
            )
        if place.port is None:
            raise NotDeployable(f"no port is said: add services.{model}.port to manifests/sites/{site}.yaml")
        return Host(item.model, place, place.port)

    def _started(self, stack: Item) -> ArmWork:
        """How a stack's process is started at this place. Raises NotStartable."""
        return arm_work(PlannedArm(stack=stack.name), self.host, self.repo, self.view.settings, self.service)

    def _parent(self) -> Item:
        """The stack that serves by the ledger: what was deployed or gone back to last, else the newest baseline."""
        pin = serving_by(self.ledger)
        if pin is None:
            raise NotDeployable(
                f"the ledger of {self.service} is empty; it begins with a baseline: hio ledger append baseline"
            )
        item = self.repo.find("stack/v1", name_of(pin), self.service)
        if item is None or item.model is None:
            raise NotDeployable(f"the stack {name_of(pin)}, which serves by the ledger, cannot be read")
        return item

    def _away(self) -> tuple[Side, list[str]]:
        """What serves now, and why it could not be stopped and brought back."""
        if not listening(self.host.port):
            return Side(), []
        before = self._started(self.parent)
        pid = owner_of(self.host.port).pid
        try:
            differs = serves_as(revealed(before.command, self.host.place.secrets), pid)
        except Unresolvable as error:
            differs = str(error)
        against = (
            [
                f"what serves on port {self.host.port} (process {pid}) is not {self.parent.name}, which serves by the "
                f"ledger: {differs}; start it as its stack says, or record what serves (hio capture, hio ledger append "
                "baseline)"
            ]
            if differs
            else []
        )
        return Side(before.stack, before.command), against

    def _backend(self) -> BackendName:
        place = self.host.place
        return place.backend or ("systemd" if place.unit else "local")

    def _installed(self) -> list[File]:
        """The files that the backend needs on the host, each read back by who will read it. Raises CannotRender."""
        place = self.state / "services" / self.service if self._backend() == "local" else None
        target = "local" if place else "systemd"
        root = PurePosixPath(place) if place else None
        bundle = render(self.repo, self.stack, self.service, target, root=root, settings=self.view.settings)
        return [each for each in bundle.files if each.install is not None]

    def _changes(self, installed: Iterable[File]) -> Iterator[FileChange]:
        ours: Mapping[str, str | None] = deployments.written_by_hio(self.state, self.service)
        for each in installed:
            assert each.install is not None
            before = digest_at(each.install)
            after = sha256(each.content)
            strange = before is not None and before != after and before != ours.get(each.install)
            yield FileChange(each.install, each.mode, before, after, strange)

    def _secrets(self, *commands: Command | None) -> dict[str, str]:
        names = dict.fromkeys(name for each in commands if each for name in secrets_in(each))
        return {name: self.host.place.secrets[name] for name in names}


def serving_by(ledger: Ledger) -> str | None:
    """Pin of the stack that serves by the ledger; None where it knows of none."""
    said = ledger.deployment.model if ledger.deployment is not None else None
    match said:
        case Deployment():
            return said.pins.candidate
        case Rollback() if said.pins.stack:
            return said.pins.stack
    baselines = [item.model.pins.stack for item in ledger.as_of() if isinstance(item.model, Baseline)]
    return baselines[-1] if baselines else None


def why_not(work: Work, again: Prepared) -> list[str]:
    """Why a plan that was made may not be carried out now: `again` is what the repository and the host come to now."""
    now_ = again.work
    if now_ is None or (again.reasons and now_.found == work.found):
        return list(again.reasons)
    stale = list(found.differing(work.found, now_.found))
    if stale:
        return [f"the plan is stale: {'; '.join(stale)}; make it again"]
    same = {
        "name": work.name,
        "at": work.at,
        "by": work.by,
        "overwrite": work.overwrite,
        "contents": work.contents,
    }
    if replace(now_, **same) != work:  # type: ignore[arg-type]
        parts = [key for key, value in vars(work).items() if key not in same and value != getattr(now_, key)]
        return [f"the plan is not what these documents come to ({', '.join(parts)} differ): make it again"]
    return unsaid(work)


def unsaid(work: Work) -> list[str]:
    """Files that hio did not write, where nobody said that they may be replaced (contract 12.5)."""
    if work.overwrite:
        return []
    return [
        f"{each.path} has bytes that hio did not write; look at the difference, then say --overwrite (they are kept)"
        for each in work.foreign
    ]
