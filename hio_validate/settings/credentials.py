"""Credentials in command lines and environments: which flags and variables take one, what one looks like.

Invariant: when in doubt a value is a secret. Which names take one: the family's table by every spelling, and names
that say so themselves (settings/secrets.py); a value that looks like a credential is one whatever its name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hio_validate.models.family import Family
from hio_validate.settings.catalogue import Catalogue, Option
from hio_validate.settings.secrets import WITHHELD, says_secret

PROCESS_SETTINGS = (
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_", "OMP_", "GOMP_", "KMP_",
    "MKL_", "OPENBLAS_", "BLIS_", "GGML_", "LLAMA_", "CUDA_", "NVIDIA_VISIBLE_DEVICES", "HIP_", "ROCR_",
    "HSA_", "ZE_", "SYCL_",
)  # fmt: skip
"""Variables that set something in any process, by prefix; a family adds its own."""

PLAIN = re.compile(r"([-+]?[0-9.]+[kKmMgG]?|true|false|on|off|none|null|auto|)", re.IGNORECASE)
"""Numbers and switches, which no secret is."""
SECRET_VALUE = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
    r"|\bAKIA[A-Z0-9]{16}|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY[^\"']*"
    r"|\b[Bb]earer +\S+|\bBasic +[A-Za-z0-9+/=]{8,}"
    r"|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+://[^/\s:@]*+:[^/\s@]++@"
)
"""What credentials look like, whatever they are called: a private key with its body, a JWT with its signature."""
_ASSIGNMENT = re.compile(r"(?<![\w.-])([\w.-]++)=([^&;,\s]++)")
_HEADER = re.compile(r"(?<![\w-])([\w-]++):[ \t]*+([^;,\s]++)")
_UNSPOKEN = {"hft": "hf-token", "hfrt": "hf-token"}
"""Short flags of the supported families whose name gives nothing away, for when no catalogue is at hand."""
SHORTEST_SCRUBBED = 6
"""A shorter secret would also be found in words that have nothing to do with it."""


class Grammar(NamedTuple):
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
            return option.factor in secret or (says_secret(option.factor) and not PLAIN.fullmatch(value))
        abbreviates = len(name) > 3 and any(factor.startswith(name) for factor in secret)
        return name in _UNSPOKEN or name in secret or abbreviates or says_secret(name)

    def is_secret_variable(self, name: str, value: str) -> bool:
        option = self.catalogue.find(name) if self.catalogue else None
        secret = self.secret_factors()
        if option:
            return option.factor in secret or (says_secret(name) and not PLAIN.fullmatch(value))
        dashed = name.lower().replace("_", "-")
        named = any(dashed == factor or dashed.endswith("-" + factor) for factor in secret)
        return named or says_secret(name)

    def is_setting_variable(self, name: str) -> bool:
        """Whether a variable sets something, so that its value may be kept."""
        if self.catalogue and self.catalogue.find(name):
            return True
        return name.startswith((*PROCESS_SETTINGS, *(self.family.env_prefix if self.family else ())))


def credentials_in(value: str) -> frozenset[str]:
    """The credentials inside a value that is no secret by its name: known shapes, URLs, assignments, JSON."""
    return _remembered(value) if len(value) <= _OFTEN_SEEN else _credentials_in(value)


_OFTEN_SEEN = 200
"""The same short values stand in every document of a repository; a longer one is looked at each time."""


@lru_cache(maxsize=4096)
def _remembered(value: str) -> frozenset[str]:
    return _credentials_in(value)


def _credentials_in(value: str) -> frozenset[str]:
    found = {match[0] for match in SECRET_VALUE.finditer(value)}
    pairs = [*_ASSIGNMENT.findall(value), *_HEADER.findall(value), *_json_pairs(value)]
    found |= {text for name, text in pairs if not PLAIN.fullmatch(text) and says_secret(name)}
    return frozenset(found | {value} if found else found)


def holds_secret(value: str) -> bool:
    """Whether a value is, refers to or once held a credential, so that it is unknown whatever it sets."""
    if "${secret:" in value or WITHHELD in value:
        return any(
            word == WITHHELD or word.endswith(f"={WITHHELD}") or "${secret:" in word for word in value.split()
        )
    return bool(credentials_in(value))


def _json_pairs(value: str) -> list[tuple[str, str]]:
    """Every (key, text) at any depth of a JSON object or array."""
    if not value.lstrip().startswith(("{", "[")):
        return []
    try:
        import json  # for a value that looks like JSON only

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


def is_unspoken(name: str) -> bool:
    """Whether a flag takes a secret although its name does not say so."""
    return name.lstrip("-") in _UNSPOKEN


def is_flag(word: str) -> bool:
    """Whether a word of a command line is a flag, not a negative number."""
    return len(word) > 1 and word.startswith("-") and not re.fullmatch(r"-[0-9.]+", word)
