"""A plan becomes the work of a job, or the reasons why it may not run; nothing is changed before that is clear.

Invariant: the same documents, job and moment give the same work, and all reasons are found before any side
effect. What is in the work is pinned by the bytes that were read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from hio_validate import engine
from hio_validate.command import secrets_in
from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import has_answered
from hio_validate.execute import bench
from hio_validate.execute.approvals import given
from hio_validate.execute.arms import Host, NotStartable, arm_work
from hio_validate.execute.questions import NotAskable, questions
from hio_validate.execute.tasks import task_set
from hio_validate.execute.work import ArmWork, Ceilings, Question, Service, Work
from hio_validate.models.plan import Limits, Plan, PlannedArm
from hio_validate.repo import Item, references
from hio_validate.rules.base import View
from hio_validate.settings.places import place_of
from hio_validate.settings.request import DIALECTS, LLAMA
from hio_validate.size import bytes_of

Made = TypeVar("Made")


def prepare(view: View, plan: Item, root: Path, job: str, now: str) -> Work | list[str]:
    """The work of `job`, a run of a valid plan at `now` (UTC, ends in Z); else every reason against it, one sentence each."""
    return _Preparation(view, plan, root, job, now).result()


class _Preparation:
    def __init__(self, view: View, plan: Item, root: Path, job: str, now: str) -> None:
        self.view, self.repo, self.plan, self.root, self.job, self.now = view, view.repo, plan, root, job, now
        self.model: Plan = plan.model
        self.reasons: list[str] = []

    def result(self) -> Work | list[str]:
        self.reasons += self._errors()
        self.reasons += self._repetition()
        approvals, missing = given(self.plan, self.view.ledger(self.plan.service), self.now)
        self.reasons += missing
        host = self._tried(lambda: self._host(self.plan.service, self.model.port), None)
        arms = self._arms(host) if host else {}
        asked, fixtures = self._questions()
        tasks = self._tried(lambda: task_set(self.plan, self.repo), None)
        ceilings = self._tried(lambda: _ceilings(self.model.limits), None)
        serving = self._tried(lambda: self._serving(host), None) if host else None
        respect = tuple(each for name in self.model.respect if (each := self._respected(name)))
        if self.reasons or host is None or ceilings is None:
            return list(dict.fromkeys(self.reasons))
        return replace(
            self._said(host, ceilings), arms=arms, questions=asked, tasks=tasks, fixtures=fixtures, approvals=approvals,
            serving=serving, respect=respect, secrets=_secrets(arms, serving, host),
        )  # fmt: skip

    def _said(self, host: Host, ceilings: Ceilings) -> Work:
        """What the plan itself says, without what had to be looked up."""
        return Work(
            job=self.job,
            root=str(self.root),
            service=self.plan.service or "",
            plan=self.plan.pin,
            arms={},
            order=tuple(self.model.order),
            restart=self.model.restart,
            method=self.model.method,
            host=host.place.host or "127.0.0.1",
            port=host.port,
            questions=(),
            ceilings=ceilings,
            approvals=(),
            cache=self.model.cache,
            during=self.model.serving.during,
            bench=self.model.bench.model_dump() if self.model.bench else {},
        )

    @property
    def _over_http(self) -> bool:
        return self.model.method == "http"

    def _questions(self) -> tuple[tuple[Question, ...], tuple[str, ...]]:
        nothing: tuple[tuple[Question, ...], tuple[str, ...]] = ((), ())
        return self._tried(lambda: questions(self.plan, self.repo), nothing) if self._over_http else nothing

    def _tried(self, make: Callable[[], Made], otherwise: Made) -> Made:
        """What could be made, else the reason is noted."""
        try:
            return make()
        except (NotStartable, NotAskable, ValueError) as error:
            self.reasons.append(str(error))
            return otherwise

    def _errors(self) -> Iterator[str]:
        """What the validator has against the plan and all that it names."""
        cited = [self.repo.find(each.kind, each.name, self.plan.service) for each in references(self.plan)]
        files = frozenset({self.plan.file, *(item.file for item in cited if item)})
        report = engine.run(self.repo, focus=files)
        for found in report.of(Severity.ERROR):
            help_ = f" ({found.help})" if found.help else ""
            yield f"{found.location.file}:{found.location.line}: {found.message}{help_} [{found.rule}]"

    def _repetition(self) -> Iterator[str]:
        """A completed experiment is not repeated without a stated question (contract 4.8)."""
        if self.model.again is not None:
            return
        for item in self.repo.of("run/v1"):
            if item.service == self.plan.service and has_answered(item, self.plan, self.repo):
                yield (
                    f"{item.name} has completed the same comparison: read it with hio verdict {item.name}, "
                    f"or say in the plan what it left open (again: {{run: {item.name}, question: ...}})"
                )

    def _host(self, service: str | None, port: int | None) -> Host:
        site, _, model = (service or "").partition("/")
        item = self.repo.find("site/v1", site)
        place = place_of(service, self.repo)
        if item is None or item.model is None or place is None:
            raise NotStartable(
                f"nothing says where {service} runs: add services.{model} to manifests/sites/{site}.yaml"
            )
        chosen = port or place.port
        if chosen is None:
            raise NotStartable(
                f"no port is said: give the plan a port, or services.{model}.port in the site {site}"
            )
        return Host(item.model, place, chosen)

    def _arms(self, host: Host) -> dict[str, ArmWork]:
        made: dict[str, ArmWork] = {}
        for name, planned in self.model.arms.items():
            arm = self._tried(lambda planned=planned: self._arm(planned, host), None)  # type: ignore[misc]
            if arm is not None:
                made[name] = arm
        unknown = [name for name in dict.fromkeys(self.model.order) if name not in self.model.arms]
        self.reasons += [f"the order names the arm {name}, which the plan does not have" for name in unknown]
        return made

    def _arm(self, planned: PlannedArm, host: Host) -> ArmWork:
        arm = arm_work(planned, host, self.repo, self.view.settings, self.plan.service or "")
        known = DIALECTS if self._over_http else (LLAMA,)
        if arm.family not in known:
            raise NotStartable(
                f"the stack {planned.stack} is of {arm.family}; over {self.model.method} hio run measures "
                f"{', '.join(known)}"
            )
        if self._over_http:
            return arm
        return bench.arm_of(arm, self.model, self.view.settings, self.repo, self.plan.service or "")

    def _serving(self, host: Host) -> Service | None:
        """The service that is stopped, with the stack that it comes back as."""
        said = self.model.serving
        if said.during == "leave" and self._over_http and host.port == host.place.port:
            raise NotStartable(
                f"the service keeps serving on port {host.port}: give the plan a port of its own for the trial"
            )
        if said.during != "stop":
            return None
        if said.restore is None:
            raise NotStartable(
                "the plan stops the service and does not say what serves again: add serving.restore"
            )
        own = self._host(self.plan.service, None)
        back = arm_work(
            PlannedArm(stack=said.restore), own, self.repo, self.view.settings, self.plan.service or ""
        )
        return Service(
            name=self.plan.service or "",
            host=own.place.host or "127.0.0.1",
            port=own.port,
            stack=back.stack,
            command=back.command,
        )

    def _respected(self, name: str) -> Service | None:
        host = self._tried(lambda: self._host(name, None), None)
        return Service(name, host.place.host or "127.0.0.1", host.port) if host else None


def _secrets(arms: Mapping[str, ArmWork], serving: Service | None, host: Host) -> dict[str, str]:
    """Where the secrets are kept that any command names."""
    commands = [each.command for each in arms.values()]
    commands += [serving.command] if serving and serving.command else []
    return {name: host.place.secrets[name] for each in commands for name in secrets_in(each)}


def _ceilings(limits: Limits) -> Ceilings:
    """The limits in bytes and seconds. Raises ValueError."""
    return Ceilings(
        memory=bytes_of(limits.memory),
        available=bytes_of(limits.available),
        swap=bytes_of(limits.swap),
        start_s=limits.start_s,
        leg_s=limits.leg_s,
        total_s=limits.total_s,
        sample_s=limits.sample_s,
        gap_s=limits.gap_s,
        others_cpu=limits.others_cpu,
        device_memory=None if limits.device_memory is None else bytes_of(limits.device_memory),
        temperature_c=limits.temperature_c,
    )
