"""The settings in force, each with its origin (contract 2.1).

Order of authority: build default < model metadata < environment < argv; what is decided at run time is taken
from an observation, else it is unknown. Invariant: a value is never guessed; `UNKNOWN` says so.

Presets (`sets-others` of a family) write settings that no help text lists. So while one is given, every
setting of its process that decides what is served and that nobody set is unknown, and follows the preset: it
lives in the preset's row. Where options act in the order they stand (llama.cpp runs each one's handler when
it meets it), what environment or argv set before the preset may have been overwritten and is unknown too. An
observation answers either. A preset given with its own default changes nothing.

An observation answers a setting only where the observed process was asked for the same: one that was started
with `on` says nothing of what `auto` becomes (contract 1.5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from hio_validate.diagnostic import Path
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import FollowsIf
from hio_validate.models.stack import Stack
from hio_validate.settings.argv import Given, Misread
from hio_validate.settings.captured import as_stack
from hio_validate.settings.catalogue import Option
from hio_validate.settings.credentials import holds_secret
from hio_validate.settings.defaults import Defaults, default_of
from hio_validate.settings.delta import delta_of
from hio_validate.settings.reading import Reading
from hio_validate.settings.remembered import Remembered
from hio_validate.settings.reported import observed_identity, observed_settings
from hio_validate.settings.secrets import WITHHELD
from hio_validate.settings.setting import Class, Effective, Knowledge, Origin, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN, normal, reported_text, text_of

_SERVES = frozenset({Class.TUNING, Class.ARTIFACT, Class.LOCATOR, Class.ENDPOINT})
"""What a preset may write."""


def resolve(
    stack: Stack,
    knowledge: Mapping[str, Knowledge],
    delta: Mapping[str, str] | None = None,
    builds: Builds | None = None,
) -> Effective:
    """The effective settings of every process of a stack; `delta` (setting -> value) is an arm's change to it.

    `builds` remembers the defaults of builds from one stack to the next.
    """
    builds = builds or Builds()
    settings: dict[str, Setting] = {}
    misread: list[Misread] = []
    for name in stack.processes:
        here = _Process(name, knowledge.get(name, Knowledge()), builds)
        misread += here.ask(stack, delta_of(name, delta or {}, stack, knowledge)).misread
        here.observe()
        here.identity()
        settings.update({setting.address: setting for setting in here.settings.values()})
    own = {name: known.catalogue for name, known in knowledge.items()}
    return Effective(
        settings,
        tuple(misread),
        {name: None if catalogue and catalogue.borrowed else catalogue for name, catalogue in own.items()},
        frozenset(name for name, known in knowledge.items() if known.observed),
    )


class Builds:
    """What is the same for every stack of a build, and for every arm that a process was captured for."""

    def __init__(self) -> None:
        self.defaults = Remembered(Defaults)
        self.reported = Remembered(observed_settings)
        self.identity = Remembered(observed_identity)
        self.asked = Remembered(self._asked)

    def _asked(self, observed: CapturedProcess, defaults: Defaults) -> dict[str, Setting]:
        """What an observed process was asked for, by factor; nothing that its unread environment may have set."""
        if observed.argv.value is None:
            return {}
        known = Knowledge(defaults.family, defaults.catalogue, observed=observed)
        here = _Process("observed", known, self)
        here.ask(as_stack({here.name: observed}, here.name))
        if observed.environ.how == "unknown":
            return {name: each for name, each in here.settings.items() if each.origin is Origin.ARGV}
        return here.settings


class _Process:
    def __init__(self, name: str, known: Knowledge, builds: Builds) -> None:
        self.name, self.known, self.builds = name, known, builds
        self.family, self.catalogue = known.family, known.catalogue
        self.defaults = builds.defaults(known.family, known.catalogue)
        self._changed = self.defaults.changed
        self.settings = dict(self.defaults.of(name))
        self.unsettled: set[str] = set()
        """What a preset may have written."""

    def ask(self, stack: Stack, changes: Mapping[str, str] | None = None) -> Reading:
        """What is asked for, in the order of authority; `changes` take the place of what the stack says."""
        changes = changes or {}
        reading = self.defaults.read(stack.processes[self.name], ("processes", self.name))
        said = stack.processes[self.name].facts
        facts = {fact: text_of(value) for fact, value in said.items() if fact not in changes}
        env = [each for each in reading.env if each.factor not in changes]
        argv = [each for each in reading.argv if each.factor not in changes]
        argv += [Given(factor, factor, value, ()) for factor, value in changes.items() if value != ABSENT]
        self.metadata()
        self.facts(facts, ("processes", self.name, "facts"))
        self.implicit(stack, but=changes.keys())
        self.give(env, Origin.ENV)
        self.give(argv, Origin.ARGV)
        self.unsettle([*env, *argv])
        self.follow()
        return reading

    def _option(self, factor: str) -> Option | None:
        return self.catalogue.find(factor) if self.catalogue else None

    def _put(self, factor: str, value: str, origin: Origin) -> None:
        self._set(factor, value, origin, "", (), self._option(factor))

    def _say(self, factor: str, text: str, origin: Origin, path: Path = ()) -> None:
        """A value that stands elsewhere than in the arguments, in the text that says it."""
        option = self._option(factor)
        self._set(factor, self._normal(text, factor, option), origin, text, path, option)

    def _set(
        self,
        factor: str,
        value: str,
        origin: Origin,
        declared: str,
        path: Path,
        option: Option | None,
        spelling: str = "",
    ) -> None:
        if self.defaults.class_of(factor) is Class.SECRET:
            value, declared = UNKNOWN, ""
        elif holds_secret(declared):
            value, declared = UNKNOWN, WITHHELD
        address = f"{self.name}.{factor}"
        self.settings[factor] = self.defaults.setting(
            address, factor, value, origin, declared, path=path, option=option, spelling=spelling
        )

    def _normal(self, text: str, factor: str, option: Option | None) -> str:
        return normal(text, factor, option, self.family)

    def metadata(self) -> None:
        """GGUF sampling defaults take the place of the build's (llama.cpp common_init_sampler_from_model)."""
        observed = self.known.observed
        model = observed.artifacts.get("model") if observed else None
        for key, factor in (self.family.metadata if self.family else {}).items():
            if model is not None and model.gguf and key in model.gguf:
                text = reported_text(model.gguf[key])
                self._say(factor, text, Origin.METADATA)

    def give(self, given: Sequence[Given], origin: Origin) -> None:
        repeatable = set(self.family.repeatable) if self.family else set()
        for each in given:
            value = self._normal(each.value, each.factor, each.option)
            before = self.settings.get(each.factor)
            if each.factor in repeatable and before and before.origin in (Origin.ENV, Origin.ARGV):
                value = f"{before.value},{value}" if before.known else UNKNOWN
            self._set(each.factor, value, origin, each.value, each.path, each.option, each.spelling)

    def unsettle(self, given: Sequence[Given]) -> None:
        """Make unknown what the presets among `given` may have written; see the head of this module."""
        in_order = self.family is not None and self.family.help == "llama"
        for index, each in enumerate(given):
            preset = self.settings.get(each.factor)
            if preset is None or not self._is_preset_in_force(each, preset):
                continue
            later = {other.factor for other in given[index + 1 :]}
            for factor, setting in list(self.settings.items()):
                overwritten = in_order and setting.origin in (Origin.ENV, Origin.ARGV) and factor not in later
                open_to_it = overwritten or not setting.set_by_a_person
                if factor != each.factor and open_to_it and setting.class_ in _SERVES:
                    self.settings[factor] = self._unsettled(setting, preset)

    def _is_preset_in_force(self, given: Given, preset: Setting) -> bool:
        if self.family is None or given.factor not in self.family.sets_others:
            return False
        default = default_of(given.option, self.family) if given.option else ABSENT
        return preset.value not in ("off", default)

    def _unsettled(self, setting: Setting, preset: Setting) -> Setting:
        self.unsettled.add(setting.factor)
        named = f"preset {preset.factor}" + ("" if preset.value == "on" else f" {preset.value}")
        if setting.set_by_a_person:
            declared = f"{setting.declared} or {named}" if setting.known else setting.declared
            return self._changed(setting, UNKNOWN, declared=declared)
        declared = f"{setting.value} or {named}" if setting.value not in (UNKNOWN, ABSENT) else named
        return self._changed(
            setting, UNKNOWN, origin=Origin.FOLLOWS, declared=declared, leader=preset.address
        )

    def facts(self, facts: Mapping[str, str], at: Path) -> None:
        for factor, text in facts.items():
            self._say(factor, text, Origin.FACT, (*at, factor))

    def implicit(self, stack: Stack, but: Collection[str]) -> None:
        for address, fact in stack.implicit.items():
            process, dot, factor = address.partition(".")
            if dot and process in stack.processes:
                mine = process == self.name
            else:
                mine, factor = len(stack.processes) == 1, address
            if mine and factor not in but:
                text = text_of(fact.value)
                self._say(factor, text, Origin.IMPLICIT, ("implicit", address, "value"))

    def follow(self) -> None:
        """A follower that nobody set takes its leader's value; a conditional one where its condition holds."""
        if self.catalogue is None or self.catalogue.borrowed:
            self._follow_by_family()
        unset = {
            factor: self.settings[factor]
            for factor in self.defaults.leaders
            if factor in self.settings and self._is_open(self.settings[factor])
        }
        leaders = self.defaults.leaders
        self._until_settled(list(unset), lambda factor: self._following(unset[factor], leaders[factor]))
        for factor, condition in (self.family.follows_if if self.family else {}).items():
            conditional = self.settings.get(factor)
            leader = self.settings.get(next(iter(condition.when)))
            if conditional and leader and self._is_open(conditional):
                self._follow_if(conditional, leader, condition)

    def _follow_by_family(self) -> None:
        """Where no help text gives defaults: the family's followers of what somebody set are in force, too."""
        waiting = dict(self.family.follows) if self.family else {}
        while ready := [factor for factor, leads in waiting.items() if self._leads(leads)]:
            for factor in ready:
                leader = self.settings[waiting.pop(factor)]
                if factor not in self.settings:
                    self._put(factor, leader.value, Origin.FOLLOWS)
                    self.settings[factor] = self._changed(
                        self.settings[factor], leader.value, origin=Origin.FOLLOWS, leader=leader.address
                    )

    def _leads(self, factor: str) -> bool:
        leader = self.settings.get(factor)
        return leader is not None and (leader.set_by_a_person or leader.origin is Origin.FOLLOWS)

    def _follow_if(self, unset: Setting, leader: Setting, condition: FollowsIf) -> None:
        """`otherwise` speaks where the help text gives prose, e.g. "enabled if number of slots is auto"."""
        holds = self._holds(condition.when)
        text = condition.value if holds else condition.otherwise
        if text is None or (not holds and unset.value in ("on", "off", ABSENT)):
            return
        value = self._normal(text, unset.factor, unset.option) if leader.known else UNKNOWN
        self.settings[unset.factor] = self._changed(
            unset, value, origin=Origin.FOLLOWS, leader=leader.address
        )

    def _is_open(self, setting: Setting) -> bool:
        """Whether neither a person nor a preset decided it."""
        return not setting.set_by_a_person and setting.factor not in self.unsettled

    def _following(self, unset: Setting, leads: str) -> Setting:
        leader, now = self.settings.get(leads), self.settings[unset.factor]
        if leader is None:
            return now
        declared = leader.declared if not leader.known else ""
        return self._changed(
            unset, leader.value, origin=Origin.FOLLOWS, declared=declared, leader=leader.address
        )

    def _until_settled(self, followers: Sequence[str], taken: Callable[[str], Setting]) -> None:
        """Let every follower take its value until none changes; in a circle, at most once for each of them."""
        for _ in followers:
            changed = False
            for factor in followers:
                now, then = self.settings[factor], taken(factor)
                self.settings[factor] = then
                changed = changed or then is not now
            if not changed:
                return

    def _holds(self, when: Mapping[str, str]) -> bool:
        return all(
            factor in self.settings
            and self.settings[factor].value == self._normal(value, factor, self.settings[factor].option)
            for factor, value in when.items()
        )

    def observe(self) -> None:
        """What a value asked for becomes at run time, from /props and the log; unknown where neither speaks."""
        reported = self._answers()
        sentinels = self.family.resolved_at_run_time if self.family else {}
        for factor in {*sentinels, *self.unsettled} & self.settings.keys():
            setting = self.settings[factor]
            asked = setting.declared or setting.value
            open_values = sentinels.get(factor, ())
            if factor in self.unsettled or asked in open_values or setting.value in open_values:
                seen = reported.get(factor)
                value = self._normal(seen[0], factor, setting.option) if seen else UNKNOWN
                value = UNKNOWN if value in open_values else value
                by_itself = setting.set_by_a_person or value == UNKNOWN
                origin = setting.origin if by_itself else Origin.OBSERVED
                self.settings[factor] = self._changed(setting, value, origin=origin, declared=asked)
        self._spread_to_followers(reported)

    def _answers(self) -> Mapping[str, tuple[str, str]]:
        """What the observed process reports of settings that it was asked for as this one is."""
        observed = self.known.observed
        reported = self.builds.reported(observed, self.family)
        if observed is None or self.known.is_its_own or not reported:
            return reported
        asked = self.builds.asked(observed, self.defaults)
        return {
            factor: said
            for factor, said in reported.items()
            if factor in self.settings and _asks_the_same(self.settings[factor], asked.get(factor))
        }

    def _spread_to_followers(self, reported: Mapping[str, tuple[str, str]]) -> None:
        """A follower has its leader's value, or what the process says of it where the leader's is unknown."""
        by_condition = self.family.follows_if if self.family else {}
        followers = [
            factor
            for factor in self.defaults.leaders
            if self._follows(factor) and factor not in by_condition and factor not in self.unsettled
        ]
        self._until_settled(followers, self._as_its_leader)
        for factor, (text, _) in reported.items():
            if self._follows(factor) and not self.settings[factor].known:
                setting = self.settings[factor]
                self.settings[factor] = self._changed(setting, self._normal(text, factor, setting.option))

    def _follows(self, factor: str) -> bool:
        return factor in self.settings and self.settings[factor].origin is Origin.FOLLOWS

    def _as_its_leader(self, factor: str) -> Setting:
        setting = self.settings[factor]
        leader = self.settings.get((setting.leader or "").partition(".")[2])
        return self._changed(setting, leader.value) if leader else setting

    def identity(self) -> None:
        """The build, libraries and artifacts as settings of their own, where they were observed or named."""
        if self.known.build:
            self._put("build", self.known.build, Origin.IDENTITY)
        for flag, value in self.known.flags.items():
            self._put(f"build.{flag}", value, Origin.IDENTITY)
        for factor, value in self.builds.identity(self.known.observed).items():
            self._put(factor, value, Origin.IDENTITY)


def _asks_the_same(mine: Setting, theirs: Setting | None) -> bool:
    """Whether a process was asked for what a stack asks; a fact of the stack is in force without being asked for."""
    if mine.origin in (Origin.IMPLICIT, Origin.FACT):
        return theirs is None or not theirs.set_by_a_person
    return theirs is not None and (mine.value, mine.known or mine.declared) == (
        theirs.value,
        theirs.known or theirs.declared,
    )
