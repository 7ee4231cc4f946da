"""A foreign process becomes a draft of a stack: words in lines, places and secrets as references, what is open as comments.

Invariants: no value of a secret is in what leaves here; a word that is no place and no secret is kept byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from hio_validate.importing.configurations.command import engine_of
from hio_validate.importing.configurations.found import Found, Open, Started, quoted
from hio_validate.models import reader
from hio_validate.models.stack import Stack
from hio_validate.observe.privacy import grouped
from hio_validate.recording import modeline, place_holder, with_place_holders
from hio_validate.settings.credentials import SECRET_VALUE, SHORTEST_SCRUBBED, Grammar, credentials_in
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.literal import literals_of_stack
from hio_validate.settings.places import PLACE_HOLDER, SECRET
from hio_validate.settings.secrets import WITHHELD
from hio_validate.source.dump import dump

_WIDEST = 78
"""Characters of a comment line."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_LONGEST = 300
"""Characters of a remark or a value in a comment."""


@dataclass(frozen=True)
class Draft:
    """A stack as it may be written, with what its site has to say and what stays open."""

    name: str
    data: dict[str, Any]
    """The stack document."""
    places: Mapping[str, str]
    """What its place-holders stand for; `secret:NAME` -> where it is kept."""
    open: tuple[Open, ...]
    origin: str
    """File and line that it was read from."""

    def content(self, file: str) -> bytes:
        """The document's bytes for a file of a repository, with what is open as comments."""
        return dump(self.data, head="\n".join([modeline("stack", file), *self.remarks()]))

    def remarks(self) -> list[str]:
        """What a person has to know before this is a stack, one remark a line."""
        said = _wrapped(f"Draft of hio import, from {_one_line(self.origin)}.")
        if self.open:
            said.append("Open:")
            for each in self.open:
                said += _wrapped(f"- {_one_line(str(each))}")
        if self.places:
            said.append("Its place, for the site:")
            said += [f"  {name}: {_one_line(value)}" for name, value in sorted(self.places.items())]
        return said


def drafts(found: Sequence[Found], settings: Settings, engine: str | None = None) -> list[Draft]:
    """A draft for each of them, their names made unique. `engine` is the family where no program names one."""
    taken: set[str] = set()
    return [_draft(each, settings, engine, taken) for each in found]


def _draft(found: Found, settings: Settings, engine: str | None, taken: set[str]) -> Draft:
    name = _unique(_name(found.name), taken)
    places: dict[str, str] = {}
    hidden: set[str] = set()
    processes = {
        role: _process(started, found, settings, engine, places, hidden)
        for role, started in found.processes.items()
    }
    data = {"hio": "stack/v1", "name": name, "processes": processes}
    reader("stack/v1").validate_python(data)
    open_ = tuple(Open(each.file, each.line, _scrubbed(each.what, hidden)) for each in found.open)
    origin = f"{found.file}:{found.line}" if found.line > 1 else found.file
    return Draft(name, data, places, open_, origin)


def _process(
    started: Started,
    found: Found,
    settings: Settings,
    engine: str | None,
    places: dict[str, str],
    hidden: set[str],
) -> dict[str, Any]:
    named = engine_of(started)
    by_image = named is not None and started.image is not None and not _is_program(started, named)
    family = named or engine or "unknown"
    words = started.words if by_image or not started.words else started.words[1:]
    if named is None and started.words and engine is None:
        found.leave_open(
            found.line,
            f"the program {quoted(started.words[0])} is of no engine that hio knows: engine is {family}",
        )
    grammar = Grammar(settings.family(family), settings.borrowed(family))
    lines = grouped([family, *words], grammar)[1:]
    env = {name: value for name, value in started.env.items() if _VARIABLE.fullmatch(name)}
    for name in started.env.keys() - env.keys():
        found.leave_open(found.line, f"{quoted(name)} is no name of a variable that a stack can set")
    for reference, kept in started.places.items():
        places.setdefault(reference, kept)
    lines = _without_secrets(lines, env, grammar, places, hidden)
    lines = with_place_holders(lines, grammar.family, grammar.catalogue, places)
    _places_of_env(env, grammar, places)
    for word in (word for line in lines for word in line):
        _note_broken_json(word, found)
    process: dict[str, Any] = {"engine": family}
    if started.launcher:
        found.leave_open(found.line, "hio capture, on its host, says what the launcher really starts")
        process["launcher"] = {"file": started.launcher, "sha256": "unknown"}
    return process | {key: value for key, value in (("argv", lines), ("env", env)) if value}


def _is_program(started: Started, family: str) -> bool:
    from hio_validate.settings.family import recognised  # beside engine_of, which asks it first

    return recognised(started.words) == family


def _without_secrets(
    lines: list[list[str]], env: dict[str, str], grammar: Grammar, places: dict[str, str], hidden: set[str]
) -> list[list[str]]:
    """The lines with references in the place of secrets; `env` is changed in place."""
    stack: Stack = reader("stack/v1").validate_python(
        {
            "hio": "stack/v1",
            "name": "draft",
            "processes": {"server": {"engine": "any", "argv": lines, "env": env}},
        }
    )
    written = [list(line) for line in lines]
    for literal in literals_of_stack(stack, {"server": grammar}):
        hidden.add(literal.value)
        hidden |= credentials_in(literal.value)
        reference = f"${{{_reference(literal.name, places)}}}"
        match literal.path:
            case (_, _, "argv", int(row), int(column)):
                word = written[row][column]
                written[row][column] = word.removesuffix(literal.value) + reference
            case (_, _, "env", name):
                env[str(name)] = reference
    for name, value in env.items():
        is_filled_in = value.startswith("$") and SECRET not in value
        if is_filled_in and grammar.is_secret_variable(name, value):
            env[name] = f"${{{_reference(name, places)}}}"
    return written


def _reference(name: str, places: dict[str, str]) -> str:
    """`secret:NAME`, with a place in the site to say where it is kept."""
    key = f"{SECRET}{_name(name.lstrip('-').lower().replace('_', '-')) or 'secret'}"
    places.setdefault(key, "say where it is kept")
    return key


def _places_of_env(env: dict[str, str], grammar: Grammar, places: dict[str, str]) -> None:
    """Paths, hosts and ports in variables; the endpoint's own are host and port."""
    for name, value in env.items():
        if PLACE_HOLDER.search(value) or "$" in value:
            continue
        option = grammar.catalogue.find(name) if grammar.catalogue else None
        factor = option.factor if option else _factor(name, grammar)
        is_place = value.startswith(("/", "~/", "./", "../")) or re.search(r"(^|_)(HOST|PORT)$", name)
        if value and is_place:
            env[name] = f"${{{place_holder(factor, value, places)}}}"


def _factor(name: str, grammar: Grammar) -> str:
    """The setting of a variable that no catalogue knows, as its family spells it; else the name in dashes."""
    aliases = grammar.family.aliases if grammar.family else {}
    if name in aliases:
        return aliases[name]
    return name.removeprefix("LLAMA_ARG_").lower().replace("_", "-")


def _note_broken_json(word: str, found: Found) -> None:
    text = word.partition("=")[2] if word.startswith("-") else word
    if not re.match(r"\{\s*[\"\w]+\s*:|\{$", text):
        return
    import json  # for a word that looks like JSON only

    try:
        json.loads(text)
    except (ValueError, RecursionError):
        found.leave_open(
            found.line, f"{quoted(text)} looks like JSON and is none: blanks or quotes were lost"
        )


def _scrubbed(text: str, hidden: set[str]) -> str:
    for secret in sorted(hidden, key=len, reverse=True):
        if len(secret) >= SHORTEST_SCRUBBED:
            text = text.replace(secret, WITHHELD)
    return SECRET_VALUE.sub(WITHHELD, text)


def _wrapped(text: str) -> list[str]:
    return wrap(text, _WIDEST, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _name(text: str) -> str:
    """A text as the name of a document."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")[:80] or "imported"


def _unique(name: str, taken: set[str]) -> str:
    number, made = 2, name
    while made.lower() in taken:
        made, number = f"{name}-{number}", number + 1
    taken.add(made.lower())
    return made


def _one_line(text: str) -> str:
    """A remark without line ends and hidden characters."""
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]+", " ", text)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
