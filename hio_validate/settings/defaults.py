"""What every process of one build begins with: the build's defaults as settings, and which of them follow others.

Invariant: computed once for a build and shared, so that a setting which two stacks leave alone is one and the
same object, and whatever is derived here depends on family and catalogue only.
"""

from __future__ import annotations

from functools import cached_property

from hio_validate.diagnostic import Path
from hio_validate.models.family import Family
from hio_validate.models.stack import Process
from hio_validate.settings.catalogue import Catalogue, Option
from hio_validate.settings.reading import Reading, read_process
from hio_validate.settings.setting import Class, Origin, Setting, class_of
from hio_validate.settings.value import ABSENT, normal


class Defaults:
    """The defaults of one build; a borrowed catalogue has none (it teaches spelling)."""

    def __init__(self, family: Family | None, catalogue: Catalogue | None) -> None:
        self.family, self.catalogue = family, catalogue
        self._settings: dict[tuple[object, ...], Setting] = {}
        self._beginnings: dict[str, dict[str, Setting]] = {}
        self._classes: dict[str, Class] = {}
        self._readings: dict[tuple[object, ...], Reading] = {}

    def of(self, process: str) -> dict[str, Setting]:
        """Factor -> the setting that a process of this name begins with. Shared: not to be changed."""
        if process not in self._beginnings:
            self._beginnings[process] = {
                factor: self.setting(
                    f"{process}.{factor}", factor, value, Origin.DEFAULT, option.default or "", option=option
                )
                for factor, (value, option) in self._values.items()
            }
        return self._beginnings[process]

    def setting(
        self,
        address: str,
        factor: str,
        value: str,
        origin: Origin,
        declared: str = "",
        leader: str | None = None,
        path: Path = (),
        option: Option | None = None,
        spelling: str = "",
    ) -> Setting:
        """One setting of this build; equal ones are one object, whichever stack they are of."""
        # An option is told by its identity: the catalogue keeps it alive, and its hash would cost more than it saves.
        key = (address, factor, value, origin, declared, leader, path, id(option), spelling)
        if key not in self._settings:
            class_ = self.class_of(factor)
            self._settings[key] = Setting(
                address, factor, value, origin, class_, declared, leader, path, option, spelling
            )
        return self._settings[key]

    def changed(
        self,
        setting: Setting,
        value: str,
        *,
        origin: Origin | None = None,
        declared: str | None = None,
        leader: str | None = None,
    ) -> Setting:
        """A setting with another value; what is not given stays as it was."""
        return self.setting(
            setting.address,
            setting.factor,
            value,
            origin or setting.origin,
            setting.declared if declared is None else declared,
            leader or setting.leader,
            setting.path,
            setting.option,
            setting.spelling,
        )

    @cached_property
    def _values(self) -> dict[str, tuple[str, Option]]:
        if self.catalogue is None or self.catalogue.borrowed:
            return {}
        return {
            option.factor: (default_of(option, self.family), option)
            for option in self.catalogue
            if option.removed is None
        }

    def class_of(self, factor: str) -> Class:
        if factor not in self._classes:
            self._classes[factor] = class_of(factor, self.family)
        return self._classes[factor]

    @cached_property
    def leaders(self) -> dict[str, str]:
        """Factor -> the factor it follows, of everything that can be in force without a person setting it.

        In the order in which settings come into being: the build's defaults, then the model's metadata.
        """
        metadata = self.family.metadata.values() if self.family else ()
        named = ((factor, self._leader(factor)) for factor in (*self._values, *metadata))
        return {factor: leader for factor, leader in named if leader}

    def _leader(self, factor: str) -> str | None:
        own = self._values[factor][1] if factor in self._values else self._found(factor)
        named = (self.family.follows.get(factor) if self.family else None) or (own.follows if own else None)
        option = self._found(named) if named else None
        return option.factor if option else named

    def _found(self, spelling: str) -> Option | None:
        return self.catalogue.find(spelling) if self.catalogue else None

    def read(self, process: Process, at: Path) -> Reading:
        """The settings that a process's environment and arguments give, read once for equal ones."""
        key = (at, tuple(process.env.items()), tuple(map(tuple, process.argv)))
        if key not in self._readings:
            self._readings[key] = read_process(process, self.family, self.catalogue, at)
        return self._readings[key]


def default_of(option: Option, family: Family | None) -> str:
    """The value in force where nobody sets an option, in normal form."""
    if option.default is None:
        return "off" if option.boolean and not option.negations else ABSENT
    words = option.default.split()
    if option.boolean and words and words[-1] in ("enabled", "disabled"):
        return normal(words[-1], option.factor, option, family)
    return normal(option.default, option.factor, option, family)
