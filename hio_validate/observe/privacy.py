"""What of a command line and an environment may be kept (contract 1.8).

Invariant: a secret's value is in no part of what is kept. Which names are secret: the family's table by every
spelling, and names that say so themselves (API_KEY, ...TOKEN, PASSWORD); values that look like credentials
are withheld whatever their name. When in doubt a value is withheld and thereby unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hio_validate.models.family import Family
from hio_validate.settings.catalogue import Arity, Catalogue, Option
from hio_validate.settings.secrets import WITHHELD, says_secret

PROCESS_SETTINGS = (
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_", "OMP_", "GOMP_", "KMP_",
    "MKL_", "OPENBLAS_", "BLIS_", "GGML_", "LLAMA_", "CUDA_", "NVIDIA_VISIBLE_DEVICES", "HIP_", "ROCR_",
    "HSA_", "ZE_", "SYCL_",
)  # fmt: skip
"""Variables that set something in any process, by prefix; a family adds its own."""

_PLAIN = re.compile(r"([-+]?[0-9.]+[kKmMgG]?|true|false|on|off|none|null|auto|)", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
    r"|\bAKIA[A-Z0-9]{16}|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b[Bb]earer +\S+|\bBasic +[A-Za-z0-9+/=]{8,}"
    r"|[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"
)
_ASSIGNMENT = re.compile(r"([A-Za-z][\w.-]*)=([^&;,\s]+)")
_HEADER = re.compile(r"([A-Za-z][\w-]*):[ \t]*([^;,\s]+)")
_UNSPOKEN = {"hft": "hf-token", "hfrt": "hf-token"}
"""Short flags of the supported families whose name gives nothing away, for when no catalogue is at hand."""
_SHORTEST_SCRUBBED = 6
"""A shorter secret would also be found in words that have nothing to do with it."""


@dataclass(frozen=True)
class Kept:
    """What may be kept, and the secret values themselves, which leave this module only to be scrubbed."""

    argv: list[list[str]]
    argv_withheld: list[str]
    names: list[str]
    values: dict[str, str]
    environ_withheld: list[str]
    secrets: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Grammar:
    """How one engine spells its settings; both parts may be missing."""

    family: Family | None
    catalogue: Catalogue | None

    def option(self, spelling: str) -> Option | None:
        if self.catalogue is None:
            return None
        dashed = spelling.replace("_", "-") if spelling.startswith("--") else spelling
        return self.catalogue.find(spelling) or self.catalogue.find(dashed)

    def secret_factors(self) -> frozenset[str]:
        return frozenset(self.family.classes.get("secret", ()) if self.family else ())

    def is_secret_flag(self, flag: str, value: str) -> bool:
        """Whether the value of a flag is to be withheld, by the flag's class or name."""
        option, name = self.option(flag), flag.lstrip("-").replace("_", "-")
        secret = self.secret_factors()
        if option:
            return option.factor in secret or (says_secret(option.factor) and not _PLAIN.fullmatch(value))
        abbreviates = len(name) > 3 and any(factor.startswith(name) for factor in secret)
        return name in _UNSPOKEN or name in secret or abbreviates or says_secret(name)

    def is_secret_variable(self, name: str, value: str) -> bool:
        option = self.catalogue.find(name) if self.catalogue else None
        secret = self.secret_factors()
        if option:
            return option.factor in secret or (says_secret(name) and not _PLAIN.fullmatch(value))
        dashed = name.lower().replace("_", "-")
        named = any(dashed == factor or dashed.endswith("-" + factor) for factor in secret)
        return named or says_secret(name)

    def is_setting_variable(self, name: str) -> bool:
        """Whether a variable sets something, so that its value may be kept."""
        if self.catalogue and self.catalogue.find(name):
            return True
        return name.startswith((*PROCESS_SETTINGS, *(self.family.env_prefix if self.family else ())))


def keep(argv: Sequence[str], environ: Mapping[str, str], grammar: Grammar) -> Kept:
    """Sorts out a command line (the program first) and an environment."""
    secrets: set[str] = set()
    cleaned = [_clean_line(line, grammar, secrets) for line in grouped(argv, grammar)]
    values, environ_withheld = {}, []
    for name, value in sorted(environ.items()):
        found = {value} if grammar.is_secret_variable(name, value) else _secrets_in(value)
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
        if _is_flag(argv[start]):
            end += _values_after(argv[start], argv[start + 1 :], grammar)
        lines.append(list(argv[start:end]))
        start = end
    return lines


def _values_after(flag: str, rest: Sequence[str], grammar: Grammar) -> int:
    """How many of the following words belong to a flag."""
    certain, most = _arity(flag, rest, grammar)
    count = min(certain, len(rest))
    while count < min(most, len(rest)) and not _is_flag(rest[count]):
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
        is_secret = grammar.is_secret_flag(name, inline) if _is_flag(flag) else says_secret(name)
        found = {inline} if is_secret else _secrets_in(inline)
        if found - {""}:
            secrets |= found
            return [f"{name}={WITHHELD}", *values], name
        return list(line), None
    if not _is_flag(flag):
        found = _secrets_in(flag)
        secrets |= found
        return ([WITHHELD] if found else [flag]), (WITHHELD if found else None)
    clean = []
    for value in values:
        found = {value} if grammar.is_secret_flag(flag, value) else _secrets_in(value)
        secrets |= found
        clean.append(WITHHELD if found else value)
    return [flag, *clean], flag if clean != values else None


def _secrets_in(value: str) -> set[str]:
    """The credentials inside a value that is no secret by its name: known shapes, URLs, assignments, JSON."""
    found = {match[0] for match in _SECRET_VALUE.finditer(value)}
    pairs = [*_ASSIGNMENT.findall(value), *_HEADER.findall(value), *_json_pairs(value)]
    found |= {text for name, text in pairs if not _PLAIN.fullmatch(text) and says_secret(name)}
    return found | {value} if found else found


def _json_pairs(value: str) -> list[tuple[str, str]]:
    """Every (key, text) at any depth of a JSON object or array."""
    if not value.lstrip().startswith(("{", "[")):
        return []
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return []
    pairs, waiting = [], [("", data)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.items()
        elif isinstance(item, list):
            waiting += [(key, each) for each in item]
        elif isinstance(item, str):
            pairs.append((key, item))
    return pairs


def scrubbed(data: Any, secrets: Iterable[str]) -> Any:
    """The same plain data with every text that contains a secret replaced, as a last line of defence."""
    long = [secret for secret in secrets if len(secret) >= _SHORTEST_SCRUBBED]
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


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not re.fullmatch(r"-[0-9.]+", word)
