"""The settings in force, each with its origin (contract 2.1).

Order of authority: build default < model metadata < environment < argv; what is decided at run time is taken
from an observation, else it is unknown. Invariant: a value is never guessed; `UNKNOWN` says so.

Presets (`sets-others` of a family) write settings that no help text lists. So while one is given, every
setting of its process that decides what is served and that nobody set is unknown, and follows the preset: it
lives in the preset's row. Where options act in the order they stand (llama.cpp runs each one's handler when
it meets it), what environment or argv set before the preset may have been overwritten and is unknown too. An
observation answers either. A preset given with its own default changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hio_validate.diagnostic import Path
from hio_validate.models.family import Family, FollowsIf
from hio_validate.models.stack import Stack
from hio_validate.settings.argv import Given, Misread, read_argv
from hio_validate.settings.catalogue import Option
from hio_validate.settings.delta import delta_of
from hio_validate.settings.environment import read_environment
from hio_validate.settings.reported import observed_identity, observed_settings
from hio_validate.settings.setting import Class, Effective, Knowledge, Origin, Setting, class_of
from hio_validate.settings.value import ABSENT, UNKNOWN, normal, reported_text, text_of

_SERVES = frozenset({Class.TUNING, Class.LOCATOR, Class.ENDPOINT})
"""What a preset may write."""


def resolve(
    stack: Stack, knowledge: Mapping[str, Knowledge], delta: Mapping[str, str] | None = None
) -> Effective:
    """The effective settings of every process of a stack; `delta` (setting -> value) is an arm's change to it."""
    settings: dict[str, Setting] = {}
    misread: list[Misread] = []
    for name, process in stack.processes.items():
        known = knowledge.get(name, Knowledge())
        at: Path = ("processes", name)
        given, wrong = read_environment(process.env, known.family, known.catalogue, (*at, "env"))
        argued, wrong_too = read_argv(process.argv, known.family, known.catalogue, (*at, "argv"))
        misread += wrong + wrong_too + _conflicts(given, argued, known.family)
        changes = delta_of(name, delta or {}, stack, knowledge)
        given = [each for each in given if each.factor not in changes]
        argued = [each for each in argued if each.factor not in changes]
        argued += [Given(factor, factor, value, ()) for factor, value in changes.items() if value != ABSENT]
        here = _Process(name, known)
        here.defaults()
        here.metadata()
        facts = {fact: text_of(value) for fact, value in process.facts.items() if fact not in changes}
        here.facts(facts, (*at, "facts"))
        here.implicit(stack, but=changes.keys())
        here.give(given, Origin.ENV)
        here.give(argued, Origin.ARGV)
        here.unsettle([*given, *argued])
        here.follow()
        here.observe()
        here.identity()
        settings.update({setting.address: setting for setting in here.settings.values()})
    own = {name: known.catalogue for name, known in knowledge.items()}
    return Effective(
        settings,
        tuple(misread),
        {name: None if catalogue and catalogue.borrowed else catalogue for name, catalogue in own.items()},
    )


def _conflicts(env: Sequence[Given], argv: Sequence[Given], family: Family | None) -> list[Misread]:
    """A setting given twice with different values: the last argument, or argv over environment, silently wins."""
    repeatable = set(family.repeatable) if family else set()
    found: list[Misread] = []
    seen: dict[str, Given] = {}
    for given in [*env, *argv]:
        before = seen.get(given.factor)
        value = normal(given.value, given.factor, given.option, family)
        if before is not None and given.factor not in repeatable:
            other = normal(before.value, before.factor, before.option, family)
            if other != value:
                found.append(_conflict(given, before, (other, value), class_of(given.factor, family)))
        seen[given.factor] = given
    return found


def _conflict(given: Given, before: Given, values: tuple[str, str], class_: Class) -> Misread:
    first, second = ("another value", "its own") if class_ is Class.SECRET else values
    last = "the last one" if before.spelling == given.spelling else given.spelling
    return Misread(
        "env-argv-conflict",
        f"{given.factor} is set twice: {before.spelling} gives {first}, {given.spelling} gives {second}",
        f"keep one; the engine takes {last}",
        given.path,
    )


class _Process:
    def __init__(self, name: str, known: Knowledge) -> None:
        self.name, self.known = name, known
        self.family, self.catalogue = known.family, known.catalogue
        self.settings: dict[str, Setting] = {}
        self.unsettled: set[str] = set()
        """What a preset may have written."""

    def _put(self, factor: str, value: str, origin: Origin, **more: Any) -> None:
        more.setdefault("option", self.catalogue.find(factor) if self.catalogue else None)
        class_ = class_of(factor, self.family)
        if class_ is Class.SECRET and origin is not Origin.DEFAULT:
            value, more["declared"] = UNKNOWN, ""
        self.settings[factor] = Setting(f"{self.name}.{factor}", factor, value, origin, class_, **more)

    def _normal(self, text: str, factor: str, option: Option | None) -> str:
        return normal(text, factor, option, self.family)

    def defaults(self) -> None:
        if self.catalogue is None or self.catalogue.borrowed:
            return
        for option in self.catalogue:
            if option.removed is None:
                self._put(
                    option.factor,
                    self._default(option),
                    Origin.DEFAULT,
                    declared=option.default or "",
                    option=option,
                )

    def _default(self, option: Option) -> str:
        if option.default is None:
            return "off" if option.boolean and not option.negations else ABSENT
        words = option.default.split()
        if option.boolean and words and words[-1] in ("enabled", "disabled"):
            return self._normal(words[-1], option.factor, option)
        return self._normal(option.default, option.factor, option)

    def metadata(self) -> None:
        """GGUF sampling defaults take the place of the build's (llama.cpp common_init_sampler_from_model)."""
        observed = self.known.observed
        model = observed.artifacts.get("model") if observed else None
        for key, factor in (self.family.metadata if self.family else {}).items():
            if model is not None and model.gguf and key in model.gguf:
                text = reported_text(model.gguf[key])
                self._put(factor, self._normal(text, factor, None), Origin.METADATA, declared=text)

    def give(self, given: Sequence[Given], origin: Origin) -> None:
        repeatable = set(self.family.repeatable) if self.family else set()
        for each in given:
            value = self._normal(each.value, each.factor, each.option)
            before = self.settings.get(each.factor)
            if each.factor in repeatable and before and before.origin in (Origin.ENV, Origin.ARGV):
                value = f"{before.value},{value}"
            self._put(
                each.factor, value, origin, declared=each.value, path=each.path, option=each.option,
                spelling=each.spelling,
            )  # fmt: skip

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
        default = self._default(given.option) if given.option else ABSENT
        return preset.value not in ("off", default)

    def _unsettled(self, setting: Setting, preset: Setting) -> Setting:
        self.unsettled.add(setting.factor)
        named = f"preset {preset.factor}" + ("" if preset.value == "on" else f" {preset.value}")
        if setting.set_by_a_person:
            declared = f"{setting.declared} or {named}" if setting.known else setting.declared
            return replace(setting, value=UNKNOWN, declared=declared)
        return replace(setting, value=UNKNOWN, declared=named, origin=Origin.FOLLOWS, leader=preset.address)

    def facts(self, facts: Mapping[str, str], at: Path) -> None:
        for factor, text in facts.items():
            self._put(
                factor, self._normal(text, factor, None), Origin.FACT, declared=text, path=(*at, factor)
            )

    def implicit(self, stack: Stack, but: Collection[str]) -> None:
        for address, fact in stack.implicit.items():
            process, dot, factor = address.partition(".")
            if dot and process in stack.processes:
                mine = process == self.name
            else:
                mine, factor = len(stack.processes) == 1, address
            if mine and factor not in but:
                text = text_of(fact.value)
                self._put(
                    factor, self._normal(text, factor, None), Origin.IMPLICIT, declared=text,
                    path=("implicit", address, "value"),
                )  # fmt: skip

    def follow(self) -> None:
        """A follower that nobody set takes its leader's value; a conditional one where its condition holds."""
        followers = {factor: setting for factor, setting in self.settings.items() if self._leader(setting)}
        for _ in followers:
            for factor, setting in followers.items():
                leader = self.settings.get(self._leader(setting) or "")
                if leader:
                    self.settings[factor] = replace(
                        setting, value=leader.value, origin=Origin.FOLLOWS, leader=leader.address,
                        declared=leader.declared if not leader.known else "",
                    )  # fmt: skip
        for factor, condition in (self.family.follows_if if self.family else {}).items():
            unset = self.settings.get(factor)
            leader = self.settings.get(next(iter(condition.when)))
            if unset and leader and not unset.set_by_a_person and factor not in self.unsettled:
                self._follow_if(unset, leader, condition)

    def _follow_if(self, unset: Setting, leader: Setting, condition: FollowsIf) -> None:
        """`otherwise` speaks where the help text gives prose, e.g. "enabled if number of slots is auto"."""
        holds = self._holds(condition.when)
        text = condition.value if holds else condition.otherwise
        if text is None or (not holds and unset.value in ("on", "off", ABSENT)):
            return
        value = self._normal(text, unset.factor, unset.option) if leader.known else UNKNOWN
        self.settings[unset.factor] = replace(
            unset, value=value, origin=Origin.FOLLOWS, leader=leader.address
        )

    def _leader(self, setting: Setting) -> str | None:
        if setting.set_by_a_person or setting.factor in self.unsettled:
            return None
        named = self.family.follows.get(setting.factor) if self.family else None
        named = named or (setting.option.follows if setting.option else None)
        option = self.catalogue.find(named) if named and self.catalogue else None
        return option.factor if option else named

    def _holds(self, when: Mapping[str, str]) -> bool:
        return all(
            factor in self.settings
            and self.settings[factor].value == self._normal(value, factor, self.settings[factor].option)
            for factor, value in when.items()
        )

    def observe(self) -> None:
        """What a value asked for becomes at run time, from /props and the log; unknown where neither speaks."""
        reported = observed_settings(self.known.observed, self.family)
        sentinels = self.family.resolved_at_run_time if self.family else {}
        for factor, setting in list(self.settings.items()):
            asked = setting.declared or setting.value
            open_values = sentinels.get(factor, ())
            if factor in self.unsettled or asked in open_values or setting.value in open_values:
                seen = reported.get(factor)
                value = self._normal(seen[0], factor, setting.option) if seen else UNKNOWN
                value = UNKNOWN if value in open_values else value
                by_itself = setting.set_by_a_person or value == UNKNOWN
                origin = setting.origin if by_itself else Origin.OBSERVED
                self.settings[factor] = replace(setting, value=value, declared=asked, origin=origin)
        self._spread_to_followers(reported)

    def _spread_to_followers(self, reported: Mapping[str, tuple[str, str]]) -> None:
        """A follower has its leader's value, or what the process says of it where the leader's is unknown."""
        by_condition = self.family.follows_if if self.family else {}
        followers = [
            factor
            for factor, setting in self.settings.items()
            if setting.origin is Origin.FOLLOWS
            and factor not in by_condition
            and factor not in self.unsettled
        ]
        for _ in followers:
            for factor in followers:
                setting = self.settings[factor]
                leader = self.settings.get((setting.leader or "").partition(".")[2])
                if leader:
                    self.settings[factor] = replace(setting, value=leader.value)
        for factor, setting in list(self.settings.items()):
            if setting.origin is Origin.FOLLOWS and not setting.known and factor in reported:
                value = self._normal(reported[factor][0], factor, setting.option)
                self.settings[factor] = replace(setting, value=value)

    def identity(self) -> None:
        """The build, libraries and artifacts as settings of their own, where they were observed or named."""
        if self.known.build:
            self._put("build", self.known.build, Origin.IDENTITY)
        for flag, value in self.known.flags.items():
            self._put(f"build.{flag}", value, Origin.IDENTITY)
        for factor, value in observed_identity(self.known.observed).items():
            self._put(factor, value, Origin.IDENTITY)
