"""What a setting in force is: its value, its origin, its class, and what was known when it was resolved.

Invariant: `UNKNOWN` is a value of its own and is never shown as anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.settings.argv import Misread
from hio_validate.settings.catalogue import Catalogue, Option
from hio_validate.settings.secrets import says_secret
from hio_validate.settings.value import UNKNOWN


class Origin(StrEnum):
    """Where a value comes from."""

    DEFAULT = "build default"
    METADATA = "model metadata"
    ENV = "environment"
    ARGV = "argv"
    IMPLICIT = "implicit"
    FACT = "declared fact"
    FOLLOWS = "follows"
    OBSERVED = "observed"
    IDENTITY = "identity"


SET_BY_A_PERSON = frozenset({Origin.ENV, Origin.ARGV, Origin.IMPLICIT, Origin.FACT})


class Class(StrEnum):
    """What kind of setting it is; only tuning and identity need evidence."""

    TUNING = "tuning"
    ARTIFACT = "artifact"
    """Names a file whose bytes decide what is served: a model, a draft, a projector, a template."""
    LOCATOR = "locator"
    ENDPOINT = "endpoint"
    OBSERVABILITY = "observability"
    SECRET = "secret"


class Setting(NamedTuple):
    """One setting in force. `value` is in normal form; `declared` is what was written or the default's text."""

    address: str
    factor: str
    value: str
    origin: Origin
    class_: Class = Class.TUNING
    declared: str = ""
    leader: str | None = None
    path: Path = ()
    option: Option | None = None
    spelling: str = ""

    @property
    def known(self) -> bool:
        return self.value != UNKNOWN

    @property
    def set_by_a_person(self) -> bool:
        return self.origin in SET_BY_A_PERSON

    @property
    def bare_names(self) -> tuple[str, ...]:
        """What names it within its process: the factor, the spelling, every flag and variable, without dashes."""
        names = (self.factor, self.spelling.lstrip("-"))
        return names + self.option.bare_names if self.option else names

    @property
    def shown(self) -> str:
        """The value as a person should see it, with what was asked for where that is not what runs."""
        if self.declared and not self.known:
            return f"unknown ({self.declared})"
        return self.value


class Knowledge(NamedTuple):
    """What is known about one process beside its stack: grammar, defaults, observation."""

    family: Family | None = None
    catalogue: Catalogue | None = None
    build: str | None = None
    flags: Mapping[str, str] = MappingProxyType({})
    """Build flags as a person recorded them (declared)."""
    observed: CapturedProcess | None = None
    is_its_own: bool = False
    """The stack is the one that the observed process shows, so that nothing else was asked of it."""


class Effective:
    """All settings of a stack in force, by address, and what its documents got wrong.

    Equal is only what was resolved in one go: comparing the settings is what a difference is for.
    """

    def __init__(
        self,
        settings: dict[str, Setting],
        misread: tuple[Misread, ...] = (),
        catalogues: Mapping[str, Catalogue | None] = MappingProxyType({}),
        observed: frozenset[str] = frozenset(),
    ) -> None:
        self.settings, self.misread, self.catalogues, self.observed = settings, misread, catalogues, observed
        """`catalogues`: process -> its build's catalogue; None = its defaults are unknown. `observed`: processes whose
        files were observed, so that an unknown hash of one of them is a gap and not a wish."""

    def showing(self, settings: dict[str, Setting], observed: frozenset[str]) -> Effective:
        """The same stack with other settings in force."""
        return Effective(settings, self.misread, self.catalogues, observed)

    @cached_property
    def shows_artifacts(self) -> bool:
        """Whether any artifact (model, draft, projector) was observed."""
        return any(setting.factor.startswith("artifact.") for setting in self.settings.values())

    @cached_property
    def processes(self) -> frozenset[str]:
        """The processes that have any setting."""
        return frozenset(address.partition(".")[0] for address in self.settings)


def class_of(factor: str, family: Family | None) -> Class:
    """The class a family gives a factor; secret where its own name says so, else tuning.

    The factor of a variable or flag that no catalogue knows is its own spelling, e.g. `VLLM_API_KEY`.
    """
    for name, factors in (family.classes if family else {}).items():
        if factor in factors:
            return Class(name)
    return Class.SECRET if says_secret(factor) else Class.TUNING
