"""Reads a command line by the grammar of its family: which word sets what.

Invariant: every word is accounted for, as a setting, as the value of one, or as a finding; a finding never
shows a secret's value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models.family import Family
from hio_validate.settings.catalogue import Arity, Catalogue, Option
from hio_validate.settings.credentials import credentials_in
from hio_validate.settings.value import normal

_NEGATIVE_NUMBER = re.compile(r"-(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LEAST = {Arity.ONE: 1, Arity.TWO: 2, Arity.MANY: 1}
_MOST = {Arity.ONE: 1, Arity.TWO: 2, Arity.OPTIONAL: 1}


class Given(NamedTuple):
    """One setting as a command line or environment gives it."""

    factor: str
    spelling: str
    value: str
    path: Path
    option: Option | None = None
    negated: bool = False


class Misread(NamedTuple):
    """A word that the grammar or the build does not know; `rule` is the id it is reported under."""

    rule: str
    message: str
    help: str
    path: Path


class _Word(NamedTuple):
    text: str
    path: Path


class _Flag(NamedTuple):
    """A flag as the family spells it; `inline` is the value that stands in the same word."""

    spelling: str
    inline: str | None
    option: Option | None
    keys: tuple[str, ...] = ()
    """Of `--json-arg.a.b`: a, b."""


def read_argv(
    lines: Sequence[Sequence[str]], family: Family | None, catalogue: Catalogue | None, at: Path = ()
) -> tuple[list[Given], list[Misread]]:
    """The settings a command line gives, in order, and what in it is not understood.

    `lines` are the words after the program, one flag with its values a line; `at` is the symbolic path of
    the list in its document. Without a catalogue a flag is any word that starts with `-`. `--x.a.b v` sets
    one key of a JSON setting: all of them are one setting, given after all others, as vLLM's
    FlexibleArgumentParser passes them on.
    """
    words = [
        _Word(text, (*at, row, column)) for row, line in enumerate(lines) for column, text in enumerate(line)
    ]
    return _Reader(words, family, catalogue).read()


class _Reader:
    def __init__(self, words: list[_Word], family: Family | None, catalogue: Catalogue | None) -> None:
        self.words, self.family, self.catalogue = words, family, catalogue
        self.argparse = family is not None and family.help == "argparse"
        self.own = catalogue if catalogue and not catalogue.borrowed else None
        self.given: list[Given] = []
        self.misread: list[Misread] = []
        self.nested: dict[str, tuple[Given, dict[str, Any]]] = {}

    def read(self) -> tuple[list[Given], list[Misread]]:
        index = self._after_program()
        positional = self.family.positional if self.family else None
        while index < len(self.words):
            word = self.words[index]
            if self._is_flag(word.text):
                index = self._flag(index)
                continue
            if positional:
                option = self._find(positional)
                self.given.append(Given(positional, positional, word.text, word.path, option))
                positional = None
            else:
                self._stray(word)
            index += 1
        if self.nested:
            self._give_nested()
        return self.given, self.misread

    def _give_nested(self) -> None:
        import json  # only for dotted keys

        for first, data in self.nested.values():
            value = json.dumps(data)
            self.given.append(Given(first.factor, first.spelling, value, first.path, first.option))

    def _after_program(self) -> int:
        """Skip `vllm serve`, `serve`, `-m vllm.…`, or an interpreter and the script before the first option."""
        program = self.family.program if self.family else []
        if not program:
            return 0
        names = [word.text.rpartition("/")[2] for word in self.words[:4]]
        if len(names) > 1 and names[0] == "-m" and names[1].partition(".")[0] == program[0]:
            rest = program[1:]
            return 2 + len(rest) if names[2 : 2 + len(rest)] == rest else 2
        begin = 1 if names and names[0].startswith("python") else 0
        for skipped in range(len(program)):
            rest = program[skipped:]
            if names[begin : begin + len(rest)] == rest:
                return begin + len(rest)
        return 0

    def _find(self, spelling: str) -> Option | None:
        if self.catalogue is None:
            return None
        found = self.catalogue.find(spelling)
        return found or (self.catalogue.abbreviated(spelling) if self.argparse else None)

    def _is_flag(self, text: str) -> bool:
        if not text.startswith("-") or len(text) == 1 or _NEGATIVE_NUMBER.fullmatch(text):
            return False
        return not (self.argparse and " " in text.partition("=")[0])

    def _parsed(self, text: str) -> _Flag:
        """A word that is a flag, taken apart: underscores, `=`, glued values, dotted keys."""
        for short, factor in (self.family.attached if self.family else {}).items():
            rest = text.removeprefix(short)
            if rest != text and (rest or self._find(short) is None):
                option = self._find(factor) or self._find(short)
                return _Flag(f"--{factor}", rest.removeprefix("=") if rest else None, option)
        spelling, equals, value = text.partition("=")
        inline = value if equals else None
        base, *keys = spelling.split(".") if self.argparse else [spelling]
        if base.startswith("--") and self.family and self.family.underscores:
            base = base.replace("_", "-")
        whole = ".".join([base, *keys])
        option = self._find(whole)
        if option is None and keys and all(keys):
            return _Flag(base, inline, self._find(base), tuple(keys))
        glued = self._find(text[:2]) if self.argparse and option is None and text[1] != "-" else None
        if glued and glued.arity is not Arity.NONE:
            return _Flag(text[:2], text[2:].removeprefix("="), glued)
        return _Flag(whole, inline, option)

    def _flag(self, index: int) -> int:
        word = self.words[index]
        flag = self._parsed(word.text)
        option = flag.option
        if self.own and option is None:
            self._unknown(flag.spelling, word)
            return self._skip_values(index + 1)
        if self.own and option and option.removed is not None:
            message = f"{flag.spelling} was removed from this build"
            self._finding("removed-setting", message, option.removed or "remove it", word)
            return self._skip_values(index + 1)
        if flag.keys:
            return self._dotted(index, flag)
        if flag.inline is not None:
            self._inline(flag, flag.inline, word)
            return index + 1
        return self._separate(index, flag.spelling, option)

    def _inline(self, flag: _Flag, value: str, word: _Word) -> None:
        option, spelling = flag.option, flag.spelling
        if self.family and not self.family.equals:
            self._finding(
                "unknown-setting",
                f"{self.family.name} does not read {spelling}=value",
                "write the flag and its value as two words",
                word,
            )
        elif option and option.arity is Arity.NONE:
            self._finding("unknown-setting", f"{spelling} takes no value", "remove what follows =", word)
        negated = self._negates(spelling, option)
        if negated or (option and option.arity is Arity.NONE and self.argparse):
            value = "off" if negated else "on"
        self.given.append(
            Given(self._factor(spelling, option, negated), spelling, value, word.path, option, negated)
        )

    def _dotted(self, index: int, flag: _Flag) -> int:
        """One key of a JSON setting: `--x.a.b 1` is {"a": {"b": 1}}, `--x.a+ 1` adds to the list a."""
        word, used = self.words[index], 1
        text = flag.inline
        if text is None:
            if index + 1 == len(self.words):
                return self._no_value(".".join((flag.spelling, *flag.keys)), word, index + 1)
            word, used = self.words[index + 1], 2
            text = word.text
        factor = self._factor(flag.spelling, flag.option)
        first = Given(factor, flag.spelling, "", word.path, flag.option)
        _, data = self.nested.setdefault(factor, (first, {}))
        *outer, last = flag.keys
        value: Any = text.split(",") if last.endswith("+") else _loose_json(text)
        for key in reversed([*outer, last.removesuffix("+")]):
            value = {key: value}
        _merge(data, value)
        return index + used

    def _separate(self, index: int, spelling: str, option: Option | None) -> int:
        word = self.words[index]
        negated = self._negates(spelling, option)
        values = self._values(index + 1, option, negated)
        if option and not negated and len(values) < _LEAST.get(option.arity, 0):
            return self._no_value(spelling, word, index + 1 + len(values), option.arity)
        path = values[0].path if values else word.path
        value = " ".join(each.text for each in values) if values else ("off" if negated else "on")
        factor = self._factor(spelling, option, negated)
        self.given.append(Given(factor, spelling, value, path, option, negated))
        return index + 1 + len(values)

    def _negates(self, spelling: str, option: Option | None) -> bool:
        if option:
            return spelling in option.negations
        name = spelling.lstrip("-")
        own = self.family.not_a_negation if self.family else []
        return name.startswith("no-") and name not in own

    def _factor(self, spelling: str, option: Option | None, negated: bool = False) -> str:
        if option:
            return option.factor
        name = spelling.lstrip("-").removeprefix("no-" if negated else "")
        return self.family.aliases.get(name, name) if self.family else name

    def _values(self, index: int, option: Option | None, negated: bool) -> list[_Word]:
        if negated or (option and option.arity is Arity.NONE):
            return []
        most = _MOST.get(option.arity) if option else None
        taken: list[_Word] = []
        while index < len(self.words) and (most is None or len(taken) < most):
            word = self.words[index]
            if self._is_flag(word.text) and not self._is_value(word.text, option):
                break
            taken.append(word)
            index += 1
        return taken

    def _is_value(self, text: str, option: Option | None) -> bool:
        """Whether a word that looks like a flag is a value: arg.cpp takes whatever follows, argparse never."""
        if self.argparse or option is None or option.arity not in (Arity.ONE, Arity.TWO):
            return False
        return self._parsed(text).option is None

    def _skip_values(self, index: int) -> int:
        while index < len(self.words) and not self._is_flag(self.words[index].text):
            index += 1
        return index

    def _no_value(self, spelling: str, word: _Word, then: int, arity: Arity = Arity.ONE) -> int:
        needed = "two values" if arity is Arity.TWO else "a value"
        self._finding("unknown-setting", f"{spelling} needs {needed}", f"give {needed} after the flag", word)
        return then

    def _unknown(self, spelling: str, word: _Word) -> None:
        near = self.catalogue.nearest(spelling) if self.catalogue else None
        advice = f"did you mean {near}?" if near else "this build's --help does not list it"
        self._finding("unknown-setting", f"{spelling} is no setting of this build", advice, word)

    def _stray(self, word: _Word) -> None:
        """A word that belongs to no flag; after a secret it may be the rest of it and is not shown."""
        secret = self.family.classes.get("secret", ()) if self.family else ()
        hidden = bool(self.given) and self.given[-1].factor in secret
        named = "a word" if hidden or credentials_in(word.text) else repr(word.text)
        self._finding("unknown-setting", f"{named} belongs to no flag", "quote it or remove it", word)

    def _finding(self, rule: str, message: str, help: str, word: _Word) -> None:
        self.misread.append(Misread(rule, message, help, word.path))


def _loose_json(text: str) -> Any:
    """A value of a dotted key as vLLM reads it: JSON, else an integer such as 80g, else text."""
    import json  # only for a dotted key

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        family = Family(hio="family/v1", name="vllm", integers="suffixed")
        number = normal(text, "", None, family)
        return int(number) if number.isdigit() else text


def _merge(data: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        before = data.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            _merge(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            data[key] = before + value
        else:
            data[key] = value
