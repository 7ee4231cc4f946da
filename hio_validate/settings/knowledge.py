"""What the repository knows about each stack: its families, its builds' catalogues, its observations.

Invariant: a default is taken from the build that a document names, never from another one (a borrowed
catalogue would teach spelling, and here it would be believed).
"""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.engine import Engine
from hio_validate.models.family import Family
from hio_validate.models.stack import Process, Stack
from hio_validate.repo import Item, Repo
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import Catalogue, UnreadableHelp
from hio_validate.settings.difference import Difference, difference
from hio_validate.settings.resolve import Builds, resolve
from hio_validate.settings.setting import Effective, Knowledge
from hio_validate.settings.value import UNKNOWN, text_of


class Settings:
    """Resolves the stacks of one repository, remembering what it learned."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._catalogues: dict[str, Catalogue | UnreadableHelp | None] = {}
        self._borrowed: dict[str, Catalogue | None] = {}
        self._families: dict[str, Family | None] = {}
        self._builds = Builds()
        self._differences: dict[tuple[Effective, Effective], Difference] = {}
        self._resolved: dict[tuple[object, ...], tuple[Mapping[str, Knowledge], Effective]] = {}
        """With what was known, so that no identity in a key ever means two things."""
        self._effective: dict[tuple[object, ...], Effective] = {}

    def family(self, name: str) -> Family | None:
        """The packaged table of a family, with the repository's own on top."""
        if name not in self._families:
            own = self.repo.find("family/v1", name)
            self._families[name] = families.extended(families.packaged(name), own.model if own else None)
        return self._families[name]

    def learned(self, engine: Item) -> Catalogue | UnreadableHelp | None:
        """The catalogue in an engine document's help text, why there is none in it, or None without a text."""
        if engine.file not in self._catalogues:
            self._catalogues[engine.file] = self._learn(engine)
        return self._catalogues[engine.file]

    def _learn(self, item: Item) -> Catalogue | UnreadableHelp | None:
        engine: Engine = item.model
        family = self.family(engine.family)
        raw = self.repo.beside(item, engine.help.file) if engine.help else None
        if raw is None or family is None:
            return None
        try:
            return families.learn(raw.decode("utf-8", errors="replace"), family)
        except UnreadableHelp as error:
            return error

    def borrowed(self, family: str) -> Catalogue | None:
        """The largest catalogue of the same family: it teaches how settings are spelt, and nothing else."""
        if family not in self._borrowed:
            learned = [
                self.learned(engine) for engine in self.repo.of("engine/v1") if engine.model.family == family
            ]
            own = [each for each in learned if isinstance(each, Catalogue)]
            largest = max(own, key=lambda each: len(each.options), default=None)
            self._borrowed[family] = largest.lent() if largest else None
        return self._borrowed[family]

    def effective(
        self, stack: Item, capture: Item | None = None, delta: Mapping[str, str] | None = None
    ) -> Effective:
        """The settings of a stack in force; a capture adds what was observed, a delta what an arm changes."""
        key = (stack.file, capture.file if capture else None, tuple(sorted((delta or {}).items())))
        if key not in self._effective:
            observed = capture.model.processes if capture else {}
            self._effective[key] = self._resolve(stack.model, self.knowledge(stack.model, observed), delta)
        return self._effective[key]

    def _resolve(
        self, stack: Stack, known: Mapping[str, Knowledge], delta: Mapping[str, str] | None = None
    ) -> Effective:
        """Resolve once what says the same of processes of which the same is known, under whatever name."""
        sources = tuple((id(each.observed), id(each.catalogue), each.is_its_own) for each in known.values())
        key = (_said(stack), sources, tuple((delta or {}).items()))
        if key not in self._resolved:
            self._resolved[key] = known, resolve(stack, known, delta, self._builds)
        return self._resolved[key][1]

    def difference(self, parent: Effective, candidate: Effective) -> Difference:
        """How two sides of this repository differ, remembered for as long as both are."""
        key = (parent, candidate)
        if key not in self._differences:
            self._differences[key] = difference(parent, candidate)
        return self._differences[key]

    def resolve_capture(
        self, stack: Stack, capture: Capture, learned: Mapping[str, Catalogue | None] | None = None
    ) -> Effective:
        """The settings of a stack that a capture shows (settings/captured.py), with what was observed.

        `learned` are catalogues of running executables that are no recorded build, by process. Where nobody could read the arguments, any default may have been overridden: none is taken for known.
        """
        known = self.knowledge(stack, capture.processes)
        for name in known.keys() & capture.processes.keys():
            catalogue = (learned or {}).get(name) or known[name].catalogue
            if catalogue and capture.processes[name].argv.value is None:
                catalogue = catalogue.lent()
            known[name] = known[name]._replace(catalogue=catalogue, is_its_own=True)
        return self._resolve(stack, known)

    def resolve_processes(self, stack: Stack, observed: Mapping[str, CapturedProcess]) -> Effective:
        """The settings of a stack with what was observed of its processes."""
        return self._resolve(stack, self.knowledge(stack, observed))

    def build_of(self, seen: CapturedProcess) -> str | None:
        """The recorded build that a process is: the running executable and every library that both know have its bytes."""
        return next((item.name for item in self.repo.of("engine/v1") if runs(seen, item.model)), None)

    def knowledge(self, stack: Stack, observed: Mapping[str, CapturedProcess]) -> dict[str, Knowledge]:
        """What is known of each process: by its `build:`, else by the build a capture recognised."""
        return {
            name: self._of_process(process, observed.get(name)) for name, process in stack.processes.items()
        }

    def _of_process(self, process: Process, observed: CapturedProcess | None) -> Knowledge:
        build = process.build or (observed.build if observed else None)
        engine = self.repo.find("engine/v1", build) if build else None
        readable = engine is not None and engine.model is not None
        learned = self.learned(engine) if engine and readable else None
        source = engine.model.source if engine and readable else None
        flags = dict(source.flags) if source else {}
        if source and source.compiler:
            flags["compiler"] = source.compiler
        return Knowledge(
            family=self.family(process.engine),
            catalogue=learned if isinstance(learned, Catalogue) else self.borrowed(process.engine),
            build=build,
            flags=flags,
            observed=observed,
        )


def runs(seen: CapturedProcess, engine: Engine) -> bool:
    """Whether a process has the recorded bytes of a build."""
    identity = engine.identity
    if identity is None or identity.executable != seen.executable.sha256:
        return False
    shared = identity.libraries.keys() & seen.libraries.keys()
    return bool(shared) and all(seen.libraries[name].sha256 == identity.libraries[name] for name in shared)


def runs_another(seen: CapturedProcess, engine: Engine) -> bool:
    """Whether some byte that was observed is not the recorded build's; what nobody hashed says nothing."""
    identity = engine.identity
    if identity is None:
        return False
    pairs = [(identity.executable, seen.executable.sha256)]
    pairs += [
        (sha256, seen.libraries[name].sha256)
        for name, sha256 in identity.libraries.items()
        if name in seen.libraries
    ]
    return any(UNKNOWN not in (one, other) and one and other and one != other for one, other in pairs)


def _said(stack: Stack) -> tuple[object, ...]:
    """All that a stack says of its settings; its own name says nothing."""
    processes = (
        (
            name,
            process.engine,
            process.build,
            tuple(map(tuple, process.argv)),
            tuple(process.env.items()),
            tuple((fact, text_of(value)) for fact, value in process.facts.items()),
        )
        for name, process in stack.processes.items()
    )
    implicit = ((address, text_of(fact.value)) for address, fact in stack.implicit.items())
    return (*processes, *implicit)
