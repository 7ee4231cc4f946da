"""The settings one build of an engine knows, learned from its own --help (contract 2.2).

Invariant: every spelling (flag, negation, environment name) leads to exactly one option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from hio_validate.spelling import nearest

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
"""A plain number as engines print and read it."""


class Arity(StrEnum):
    """How many values an option takes on the command line."""

    NONE = "none"
    ONE = "one"
    OPTIONAL = "optional"
    TWO = "two"
    MANY = "many"


class Option(NamedTuple):
    """One option as a help text states it.

    `factor` is the setting's name: the first long flag without its dashes. `default` is the text the help
    gives, None where it gives none; `follows` is the factor whose value it takes when unset.
    """

    factor: str
    flags: tuple[str, ...]
    negations: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    arity: Arity = Arity.ONE
    choices: tuple[str, ...] = ()
    default: str | None = None
    follows: str | None = None
    removed: str | None = None
    """What the help says instead of a description once the option is gone, e.g. its successor's name."""
    line: int = 0
    """The line of the help text, from 1."""
    metavar: str = ""
    """What the help text calls its value, e.g. N or FNAME, where that says what kind of value it is."""

    @property
    def bare_names(self) -> tuple[str, ...]:
        """Its flags and variables without dashes."""
        return _without_dashes(self.flags + self.env)

    @property
    def boolean(self) -> bool:
        return self.arity is Arity.NONE

    @property
    def numeric(self) -> bool:
        """Whether its value is a number, by what the help calls it or by its default."""
        return self.metavar == "N" or _is_number(self.default)


@cache
def _is_number(default: str | None) -> bool:
    return bool(default and NUMBER.fullmatch(default.split()[0]))


@cache
def _without_dashes(spellings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(spelling.lstrip("-") for spelling in spellings)


class UnreadableHelp(ValueError):
    """A help text that is not one we can learn from; says the line (from 1) and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason = line, reason


class Catalogue:
    """All options of one build, found by any of their spellings.

    `positional` is the factor that a bare first argument sets (`vllm serve MODEL`), if the engine takes one.
    `borrowed` is one of another build: it teaches spelling, never defaults, and never says that a setting is unknown.
    """

    def __init__(
        self, options: tuple[Option, ...], positional: str | None = None, borrowed: bool = False
    ) -> None:
        self.options, self.positional, self.borrowed = options, positional, borrowed
        self._by_spelling: dict[str, Option] = {}
        for option in options:
            for spelling in spellings(option):
                if spelling in self._by_spelling:
                    first = self._by_spelling[spelling]
                    raise UnreadableHelp(option.line, f"{spelling} is already an option on line {first.line}")
                self._by_spelling[spelling] = option

    def lent(self) -> Catalogue:
        """The same for another build of the family."""
        return Catalogue(self.options, self.positional, borrowed=True)

    def __iter__(self) -> Iterator[Option]:
        return iter(self.options)

    def find(self, spelling: str) -> Option | None:
        """The option of a flag (`-t`, `--threads`), environment name or factor (`threads`)."""
        known = self._by_spelling
        return known.get(spelling) or known.get("--" + spelling) or known.get("-" + spelling)

    def abbreviated(self, spelling: str) -> Option | None:
        """The one option whose long flags begin like this, as argparse reads an abbreviation."""
        if len(spelling) < 3 or not spelling.startswith("--"):
            return None
        meant = [flag for flag in self._by_spelling if flag.startswith(spelling)]
        return self._by_spelling[meant[0]] if len(meant) == 1 else None

    def nearest(self, spelling: str) -> str | None:
        """The known spelling most like an unknown one, for "did you mean"."""
        return nearest(spelling, self._by_spelling, 0.7) or None


def spellings(option: Option) -> Iterable[str]:
    """Every way to name an option outside its own factor."""
    yield from option.flags
    yield from option.negations
    yield from option.env
