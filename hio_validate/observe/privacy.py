"""What of a command line and an environment may be kept (contract 1.8).

Invariant: a secret's value is in no part of what is kept. Which values are secret says settings/credentials.py;
when in doubt a value is withheld and thereby unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hio_validate.settings.catalogue import Arity
from hio_validate.settings.credentials import SHORTEST_SCRUBBED, Grammar, credentials_in, is_flag
from hio_validate.settings.secrets import WITHHELD, says_secret


@dataclass(frozen=True)
class Kept:
    """What may be kept, and the secret values themselves, which leave this module only to be scrubbed."""

    argv: list[list[str]]
    argv_withheld: list[str]
    names: list[str]
    values: dict[str, str]
    environ_withheld: list[str]
    secrets: frozenset[str] = field(repr=False)


def keep(argv: Sequence[str], environ: Mapping[str, str], grammar: Grammar) -> Kept:
    """Sorts out a command line (the program first) and an environment."""
    secrets: set[str] = set()
    cleaned = [_clean_line(line, grammar, secrets) for line in grouped(argv, grammar)]
    values, environ_withheld = {}, []
    for name, value in sorted(environ.items()):
        found = {value} if grammar.is_secret_variable(name, value) else credentials_in(value)
        secrets |= found
        if found and (grammar.is_setting_variable(name) or value in found):
            environ_withheld.append(name)
        elif grammar.is_setting_variable(name):
            values[name] = value
    return Kept(
        argv=[line for line, _ in cleaned],
        argv_withheld=list(dict.fromkeys(flag for _, flag in cleaned if flag)),
        names=sorted(environ),
        values=values,
        environ_withheld=environ_withheld,
        secrets=frozenset(secrets | {part for secret in secrets for part in _keys_of_a_list(secret)}),
    )


def _keys_of_a_list(secret: str) -> list[str]:
    """The single keys of a list of them (`--api-key a,b`); a JSON text is no such list."""
    return [] if secret.startswith(("{", "[")) else secret.split(",")


def grouped(argv: Sequence[str], grammar: Grammar) -> list[list[str]]:
    """The same words in the same order, one flag with its values a line; the program has the first line."""
    lines = [list(argv[:1])] if argv else []
    start = 1
    while start < len(argv):
        end = start + 1
        if is_flag(argv[start]):
            end += _values_after(argv[start], argv[start + 1 :], grammar)
        lines.append(list(argv[start:end]))
        start = end
    return lines


def _values_after(flag: str, rest: Sequence[str], grammar: Grammar) -> int:
    """How many of the following words belong to a flag."""
    certain, most = _arity(flag, rest, grammar)
    count = min(certain, len(rest))
    while count < min(most, len(rest)) and not is_flag(rest[count]):
        count += 1
    return count


def _arity(flag: str, rest: Sequence[str], grammar: Grammar) -> tuple[int, int]:
    """(words that are its values whatever they look like, most words it takes)."""
    many = len(rest)
    option = grammar.option(flag)
    if "=" in flag and option is None:
        return 0, 0
    if option is None:
        takes_next = bool(rest) and grammar.is_secret_flag(flag, rest[0]) and grammar.option(rest[0]) is None
        return int(takes_next), many
    if flag in option.negations:
        return 0, 0
    return {
        Arity.NONE: (0, 0),
        Arity.ONE: (1, 1),
        Arity.TWO: (2, 2),
        Arity.OPTIONAL: (0, 1),
        Arity.MANY: (0, many),
    }[option.arity]


def _clean_line(line: Sequence[str], grammar: Grammar, secrets: set[str]) -> tuple[list[str], str | None]:
    """A line without its secrets, and the flag (or the word before `=`) they were given to."""
    flag, values = line[0], list(line[1:])
    name, equals, inline = flag.partition("=")
    if equals:
        is_secret = grammar.is_secret_flag(name, inline) if is_flag(flag) else says_secret(name)
        found = {inline} if is_secret else credentials_in(inline)
        if found - {""}:
            secrets |= found
            return [f"{name}={WITHHELD}", *values], name
        return list(line), None
    if not is_flag(flag):
        found = credentials_in(flag)
        secrets |= found
        return ([WITHHELD] if found else [flag]), (WITHHELD if found else None)
    clean = []
    for value in values:
        found = {value} if grammar.is_secret_flag(flag, value) else credentials_in(value)
        secrets |= found
        clean.append(WITHHELD if found else value)
    return [flag, *clean], flag if clean != values else None


def scrubbed(data: Any, secrets: Iterable[str]) -> Any:
    """The same plain data with every text that contains a secret replaced, as a last line of defence."""
    long = [secret for secret in secrets if len(secret) >= SHORTEST_SCRUBBED]
    return _scrubbed(data, long) if long else data


_VOCABULARY = frozenset({"how", "family", "build", "sha256", "id", "at"})
"""Keys whose values are words of ours or digests, never a text of the process."""


def _scrubbed(data: Any, secrets: Sequence[str]) -> Any:
    if isinstance(data, dict):
        own = _VOCABULARY
        return {key: value if key in own else _scrubbed(value, secrets) for key, value in data.items()}
    if isinstance(data, list):
        return [_scrubbed(item, secrets) for item in data]
    if isinstance(data, str) and any(secret in data for secret in secrets):
        return WITHHELD
    return data
