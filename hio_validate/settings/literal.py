"""Secrets that a document states itself, where it should only say which secret is meant (contract 1.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models.site import Site
from hio_validate.models.stack import Process, Stack
from hio_validate.settings.catalogue import Arity
from hio_validate.settings.credentials import Grammar, credentials_in, is_flag
from hio_validate.settings.places import PLACE_HOLDER
from hio_validate.settings.secrets import WITHHELD, says_secret


class Literal(NamedTuple):
    """A secret's value in a document. `name` is what it is the value of; `value` is never to be shown."""

    path: Path
    name: str
    value: str


def literals_of_stack(stack: Stack, grammars: Mapping[str, Grammar]) -> Iterator[Literal]:
    """Every secret that a stack states; `grammars` say by process which flags and variables take one."""
    for role, process in stack.processes.items():
        grammar, at = grammars[role], ("processes", role)
        yield from _in_argv(process, grammar, (*at, "argv"))
        for name, value in process.env.items():
            yield from _of_name((*at, "env", name), name, value, grammar.is_secret_variable(name, value))
        for name, fact in process.facts.items():
            yield from _of_name((*at, "facts", name), name, str(fact), _is_secret(name, str(fact), grammar))
    for address, implicit in stack.implicit.items():
        name, text = address.rpartition(".")[2], str(implicit.value)
        yield from _of_name(("implicit", address, "value"), name, text, says_secret(name))


def literals_of_site(site: Site) -> Iterator[Literal]:
    """Every secret that a site states: a path is none, and where a secret is kept is none."""
    for service, place in site.services.items():
        at = ("services", service)
        for name, value in place.paths.items():
            is_secret = says_secret(name) and "/" not in value
            yield from _of_name((*at, "paths", name), name, value, is_secret)
        for name, value in place.secrets.items():
            yield from _of_name((*at, "secrets", name), name, value, False)


def _is_secret(name: str, value: str, grammar: Grammar) -> bool:
    return grammar.is_secret_flag(f"--{name}", value)


def _of_name(path: Path, name: str, value: str, is_secret: bool) -> Iterator[Literal]:
    stated = PLACE_HOLDER.sub("", value).strip(" ,")
    if stated and stated != WITHHELD and (is_secret or credentials_in(stated)):
        yield Literal(path, name, value)


def _in_argv(process: Process, grammar: Grammar, at: Path) -> Iterator[Literal]:
    words = [
        ((*at, row, column), word)
        for row, line in enumerate(process.argv)
        for column, word in enumerate(line)
    ]
    index = 0
    while index < len(words):
        path, word = words[index]
        name, equals, inline = word.partition("=")
        taken = 0 if equals else _secret_words(word, [text for _, text in words[index + 1 :]], grammar)
        if equals and is_flag(word):
            yield from _of_name(path, name, inline, grammar.is_secret_flag(name, inline))
        elif not taken:
            yield from _of_name(path, "a word", word, False)
        for own, value in words[index + 1 : index + 1 + taken]:
            yield from _of_name(own, word, value, True)
        index += 1 + taken


def _secret_words(flag: str, rest: Sequence[str], grammar: Grammar) -> int:
    """How many of the words after a flag are secrets that it takes."""
    option = grammar.option(flag)
    if not is_flag(flag) or not rest or (option and (option.boolean or flag in option.negations)):
        return 0
    if not grammar.is_secret_flag(flag, rest[0]) or grammar.option(rest[0]) is not None:
        return 0
    if option is not None and option.arity is not Arity.MANY:
        return 1
    return next((count for count, word in enumerate(rest) if count and is_flag(word)), len(rest))
