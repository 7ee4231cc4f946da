"""What is known of a model, held against a stack: a deployment that violates it fails closed (contract 8.6).

Invariants: what is judged are effective settings, never text; an unknown value, build or model satisfies nothing, and
is told apart from a violation; a stack about whose model nothing is recorded says so. What is only preferred
binds nobody: it is told as a note, and a registry of nothing else leaves nothing undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, NamedTuple

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.models.known_good import Artifact, KnownGood, Requirement
from hio_validate.models.stack import Stack
from hio_validate.moment import moment
from hio_validate.repo import Item, Repo
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.places import filled, place_of, values
from hio_validate.settings.setting import Class, Effective, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN, normal, same, text_of

SEVERITIES = ("boot-blocker", "crash-at-concurrency", "correctness", "performance")
"""What happens otherwise, the worst first."""
SERVING = "serving"
"""The phase of a deployment."""
_NAMES_THE_MODEL = ("model", "hf-repo", "hf-file", "model-url", "alias", "served-model-name")
_OPEN = re.compile(r"\$[{(A-Za-z_]|\{\{|%[A-Za-z]\b")
"""A place-holder that no site fills, or what a shell, a template or systemd would fill in."""
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*")


class Violation(NamedTuple):
    """A requirement that a stack does not meet, or of which nobody can say that it does."""

    verdict: Literal["violated", "unknown"]
    stack: str
    process: str
    registry: Item | None
    """None where the model itself is unknown, so that no registry was asked."""
    number: int
    """Of the requirement among the settings of the registry, from 0."""
    requirement: Requirement | None
    factor: str
    found: str
    """The value in force, with its origin, or what is unknown."""
    wanted: str

    @property
    def severity(self) -> str:
        """The requirement's; of an unknown model, the worst."""
        return self.requirement.severity if self.requirement else SEVERITIES[0]

    @property
    def message(self) -> str:
        """One sentence: the setting, both values, and what happens otherwise."""
        if self.requirement is None or self.registry is None:
            return f"{self.process}: {self.found}"
        because = self.requirement.because.rstrip(".")
        return (
            f"{self.process}.{self.factor} is {self.found}; {self.registry.name} wants {self.wanted} "
            f"({self.severity}: {because})"
        )


class Judgement(NamedTuple):
    """All that the registries say of one stack."""

    stack: str
    violations: tuple[Violation, ...]
    registries: tuple[str, ...]
    """Those that are about its models."""
    notes: tuple[str, ...]
    """What was not asked, because nothing is recorded about it; and what is preferred, and not in force."""

    @property
    def violated(self) -> tuple[Violation, ...]:
        return tuple(each for each in self.violations if each.verdict == "violated")

    @property
    def unknown(self) -> tuple[Violation, ...]:
        return tuple(each for each in self.violations if each.verdict == "unknown")


def violations(
    repo: Repo, service: str | None, stack: Item, settings: Settings | None = None
) -> list[Violation]:
    """What speaks against deploying a valid stack as a service, the worst first; empty: nothing does."""
    return list(judge(repo, service, stack, settings).violations)


def judge(
    repo: Repo,
    service: str | None,
    stack: Item,
    settings: Settings | None = None,
    *,
    model: str | None = None,
    phase: str = SERVING,
    captures: Sequence[Item] | None = None,
) -> Judgement:
    """A valid stack against every registry of its models.

    `captures` are those that are believed, the latest last; None: all of the service. `model` says which model it is (the name of a registry, or of the model itself) where documents do not.
    """
    here = _Judging(repo, service, stack, settings or Settings(repo), model, phase, captures)
    found = [violation for role in here.stack.processes for violation in here.process(role)]
    order = {"violated": 0, "unknown": 1}
    found.sort(key=lambda each: (SEVERITIES.index(each.severity), order[each.verdict]))
    return Judgement(stack.name, tuple(found), tuple(dict.fromkeys(here.asked)), tuple(here.notes))


class Known(NamedTuple):
    """What is known of the model that a process serves."""

    names: frozenset[str]
    sha256: frozenset[str]
    """Of its bytes, wherever they were seen; empty: nobody hashed them."""

    def matches(self, registry: KnownGood) -> bool | None:
        """Whether a registry is about it; None where only bytes that nobody hashed could tell."""
        answers = {self._is(artifact) for artifact in registry.models}
        return True if True in answers else None if None in answers else False

    def _is(self, artifact: Artifact) -> bool | None:
        if artifact.sha256 and artifact.sha256 in self.sha256:
            return True
        if artifact.name:
            pattern = artifact.name.lower()
            return any(fnmatchcase(name.lower(), _star_only(pattern)) for name in self.names)
        return None if artifact.sha256 and not self.sha256 else False


def _star_only(pattern: str) -> str:
    """A pattern in which only * means more than itself."""
    return re.sub(r"[\[?]", lambda match: f"[{match[0]}]", pattern)


class _Judging:
    def __init__(
        self,
        repo: Repo,
        service: str | None,
        stack: Item,
        settings: Settings,
        model: str | None,
        phase: str,
        captures: Sequence[Item] | None,
    ) -> None:
        self.repo, self.service, self.item, self.settings = repo, service, stack, settings
        place = place_of(service, repo)
        self.stack: Stack = filled(stack.model, values(place)) if place else stack.model
        self.model, self.phase = model, phase
        self.believed = captures
        self.asked: list[str] = []
        self.notes: list[str] = []

    @cached_property
    def captures(self) -> list[Item]:
        """Those that are believed, the latest last."""
        if self.believed is not None:
            return [each for each in self.believed if each.model is not None]
        own = [each for each in self.repo.of("capture/v1") if each.service == self.service]
        return sorted(own, key=lambda capture: moment(capture.model.at))

    @cached_property
    def effective(self) -> Effective:
        """The settings in force, with what the latest capture of this stack saw."""
        seen = [each for each in self.captures if each.model.stack == self.item.name]
        return self.settings.resolve_processes(self.stack, seen[-1].model.processes if seen else {})

    def process(self, role: str) -> Iterator[Violation]:
        """What the registries say of one process."""
        engine = self.stack.processes[role].engine
        registries = [
            each for each in self.repo.of("known-good/v1") if engine in (each.model.engine, UNKNOWN)
        ]
        if not registries:
            self.notes.append(f"{role}: nothing is recorded of any model on {engine}")
            return
        if engine == UNKNOWN:
            if any(map(_binds, registries)):
                yield self._undecided(role, "its engine is unknown, so that no registry can be asked")
            return
        known = self._model_of(role)
        if not known.names and not known.sha256 and self.model is None:
            if any(map(_binds, registries)):
                said = "which model it serves is unknown, so that no registry can be asked"
                yield self._undecided(role, said)
            return
        yield from self._asked_of(role, known, registries)

    def _asked_of(self, role: str, known: Known, registries: Sequence[Item]) -> Iterator[Violation]:
        about = False
        for registry in registries:
            matches = self._is_named(registry) or known.matches(registry.model)
            if matches is None and self.model is None and _binds(registry):
                said = f"whether it serves the model of {registry.name} is unknown: nobody hashed its file"
                yield self._undecided(role, said)
            if matches:
                about = True
                self.asked.append(registry.name)
                yield from self._held_against(role, registry)
        if not about:
            names = ", ".join(sorted(known.names)) or self.model
            self.notes.append(f"{role}: nothing is recorded of {names}")

    def _is_named(self, registry: Item) -> bool:
        """Whether --model names the registry, or a model that it is about."""
        if self.model is None:
            return False
        named = Known(_spellings(self.model), frozenset())
        return self.model == registry.name or named.matches(registry.model) is True

    def _undecided(self, role: str, why: str) -> Violation:
        return Violation(
            "unknown", self.item.name, role, None, 0, None, "model", why, "a model that is known"
        )

    def _model_of(self, role: str) -> Known:
        given = [self.effective.settings.get(f"{role}.{factor}") for factor in _NAMES_THE_MODEL]
        said = [each for each in given if each is not None and each.set_by_a_person and each.known]
        names = frozenset(
            name for each in said if not _OPEN.search(each.value) for name in _spellings(each.value)
        )
        paths = {each.value for each in said if each.class_ is Class.ARTIFACT}
        return Known(names, frozenset(self._hashes(role, paths)))

    def _hashes(self, role: str, paths: set[str]) -> Iterator[str]:
        """SHA-256 of the model, from every capture of the service that served this very file.

        Where no site says which file that is, from those that claim to be this stack.
        """
        is_open = any(_OPEN.search(path) for path in paths)
        for capture in (each.model for each in self.captures):
            process = capture.processes.get(role)
            model = process.artifacts.get("model") if process else None
            if process is None or model is None or model.sha256 is None:
                continue
            claimed = is_open and capture.stack == self.item.name
            if claimed or paths & {model.path, *_words(process)}:
                yield model.sha256

    def _held_against(self, role: str, registry: Item) -> Iterator[Violation]:
        for index, requirement in enumerate(registry.model.settings):
            affected = self._is_affected(role, requirement)
            if affected is False:
                continue
            setting = _if_certain(find(self.effective, role, requirement.factor))
            met = self._met(role, requirement, setting, registry)
            if met is True:
                continue
            if requirement.must == "preferred":
                self.notes.append(self._preference(role, requirement, setting, registry))
                continue
            verdict: Literal["violated", "unknown"] = "violated" if met is False and affected else "unknown"
            found = _shown(setting, self.effective, role, requirement.factor)
            if affected is None:
                found += f", and whether its build is affected ({', '.join(requirement.builds)}) is unknown"
            yield Violation(
                verdict, self.item.name, role, registry, index, requirement, requirement.factor, found,
                wanted(requirement),
            )  # fmt: skip

    def _preference(
        self, role: str, requirement: Requirement, setting: Setting | None, registry: Item
    ) -> str:
        found = _shown(setting, self.effective, role, requirement.factor)
        scope = f" in {requirement.scope}" if requirement.scope else ""
        return (
            f"{role}.{requirement.factor} is {found}; {registry.name} prefers {wanted(requirement)}{scope}: "
            f"{requirement.because}"
        )

    def _is_affected(self, role: str, requirement: Requirement) -> bool | None:
        """Whether the build of a process is one that a requirement is about; None where nobody knows the build."""
        if not requirement.builds:
            return True
        build = self.effective.settings.get(f"{role}.build")
        return build.value in requirement.builds if build is not None and build.known else None

    def _met(
        self, role: str, requirement: Requirement, setting: Setting | None, registry: Item
    ) -> bool | None:
        if requirement.must == "required" and not requirement.values and _bounded(requirement):
            return _within(requirement, setting)
        family = self.settings.family(registry.model.engine)
        in_force = _in_force(requirement, setting, family, self._are_defaults_known(role, requirement.factor))
        if requirement.must in ("required", "preferred"):
            return in_force
        if requirement.must == "opt-in" and self._is_opted_in(requirement, registry):
            return True
        if requirement.must == "phase-limited" and {role, self.phase} & set(requirement.phases):
            return True
        return None if in_force is None else not in_force

    def _is_opted_in(self, requirement: Requirement, registry: Item) -> bool:
        return any(
            self.repo.find("stack/v1", name, self.service) is self.item
            for each in registry.model.opted_in
            if each.factor == requirement.factor
            for name in each.stacks
        )

    def _are_defaults_known(self, role: str, factor: str) -> bool:
        """Whether what nobody set is known to be absent: a variable always, a flag where the build's help is here."""
        process = self.stack.processes[role]
        if _VARIABLE.fullmatch(factor) and (process.argv or process.env):
            return True
        return self.effective.catalogues.get(role) is not None and bool(process.argv or not process.facts)


def _binds(registry: Item) -> bool:
    """Whether a deployment can violate a registry: one of nothing but preferences it cannot."""
    model: KnownGood = registry.model
    return not model.settings or any(each.must != "preferred" for each in model.settings)


def _spellings(text: str) -> frozenset[str]:
    """A model's names in the text that says it: whole, and its last part."""
    return frozenset(name for name in (text, text.rpartition("/")[2]) if name)


def _words(process: CapturedProcess) -> set[str]:
    return {word for line in process.argv.value or [] for word in line}


def find(effective: Effective, role: str, factor: str) -> Setting | None:
    """The setting that a registry names, by any of its spellings."""
    exact = effective.settings.get(f"{role}.{factor}")
    if exact is not None:
        return exact
    bare = factor.lstrip("-")
    mine = (each for address, each in effective.settings.items() if address.startswith(f"{role}."))
    return next((each for each in mine if bare in each.bare_names), None)


def _if_certain(setting: Setting | None) -> Setting | None:
    """The setting; unknown where something else would still fill its value in."""
    if setting is None or not _OPEN.search(setting.value):
        return setting
    return setting._replace(value=UNKNOWN, declared=setting.declared or setting.value)


def _bounded(requirement: Requirement) -> bool:
    return requirement.at_least is not None or requirement.at_most is not None


def _within(requirement: Requirement, setting: Setting | None) -> bool | None:
    """Whether a number lies within the bounds; None for what is unknown or no number."""
    try:
        number = float(setting.value) if setting is not None else None
    except ValueError:
        return None
    if number is None or number != number:
        return None
    low, high = requirement.at_least, requirement.at_most
    return (low is None or number >= low) and (high is None or number <= high)


def _in_force(
    requirement: Requirement, setting: Setting | None, family: Family | None, defaults_known: bool
) -> bool | None:
    """Whether the meant value is in force; None where that is unknown."""
    value = ABSENT if setting is None and defaults_known else UNKNOWN if setting is None else setting.value
    if value == UNKNOWN:
        return None
    if requirement.values:
        option, factor = (setting.option, setting.factor) if setting else (None, requirement.factor)
        meant = [text_of(each) for each in requirement.values]
        return any(same(each, value) or normal(each, factor, option, family) == value for each in meant)
    by_a_person = setting is not None and setting.set_by_a_person
    return value not in ("off", ABSENT, "") and (by_a_person or value == "on")


def wanted(requirement: Requirement) -> str:
    """What a requirement asks for, in words."""
    said = " or ".join(text_of(value) for value in requirement.values)
    if requirement.must in ("required", "preferred"):
        bounds = [
            f"{word} {text_of(bound)}"
            for word, bound in (("at least", requirement.at_least), ("at most", requirement.at_most))
            if bound is not None
        ]
        return said or " and ".join(bounds) or "it set"
    if requirement.must == "forbidden":
        return f"anything but {said}" if said else "it not set"
    limit = "only for stacks that opted in"
    if requirement.must == "phase-limited":
        limit = f"only in {', '.join(requirement.phases) or 'no phase'}"
    return f"{said or 'it'} {limit}"


def _shown(setting: Setting | None, effective: Effective, role: str, factor: str) -> str:
    if setting is not None:
        return f"{setting.shown} ({setting.origin})"
    if effective.catalogues.get(role) is None and not _VARIABLE.fullmatch(factor):
        return "unknown (set nowhere, and the defaults of its build are unknown)"
    return "absent"
