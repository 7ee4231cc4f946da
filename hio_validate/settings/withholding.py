"""Lines of documents as they may be shown: without the values of secrets (contract 1.8).

Invariant: nothing that is returned for showing holds a secret that a rule or this module recognises; when in doubt
more is withheld. A document that cannot be read has no settings, so its lines are judged as they are spelt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hio_validate.settings.credentials import PLAIN, SECRET_VALUE, SHORTEST_SCRUBBED, is_unspoken
from hio_validate.settings.places import PLACE_HOLDER
from hio_validate.settings.secrets import WITHHELD, says_secret

_QUOTED = r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?"
_NAMED = re.compile(
    rf"""(?P<name>-{{0,2}}[A-Za-z_][\w.-]*)["']?(?P<between>\s*[:=,]\s*|\s+)(?P<value>{_QUOTED}|[^\s,\]}}#"'][^,\]}}#]*)"""
)
"""A name and what follows it: `--api-key x`, `"--api-key", "x"`, `HF_TOKEN: x`, `api-key=x`."""
_ENDS_IN_A_NAME = re.compile(r"""["']?(?P<name>-{0,2}[A-Za-z_][\w.-]*)["']?\s*[:,=]?\s*[|>]?[-+]?\s*$""")


class Shown(NamedTuple):
    """A line as it may be shown, and what was withheld from it."""

    line: str
    secrets: frozenset[str]


def without_secrets(lines: Sequence[str], number: int, stated: Iterable[tuple[int, str]]) -> Shown:
    """The line of a number (from 1); `stated` are lines and values of secrets that the document states."""
    line, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    found = {value for _, value in stated}
    spelt_otherwise = any(at == number and value not in line for at, value in stated)
    continues = _ENDS_IN_A_NAME.search(before.partition(" #")[0])
    if spelt_otherwise or (continues and _takes_secret(continues["name"]) and not PLACE_HOLDER.search(line)):
        return Shown(WITHHELD, frozenset({*found, line.strip(" -\"'[],")}))
    plain = PLACE_HOLDER.sub("$", line)
    found |= {match[0] for match in SECRET_VALUE.finditer(plain)}
    found |= set(_named(plain))
    return Shown(scrubbed(line, found, shortest=1), frozenset(found))


def _named(line: str) -> Iterable[str]:
    """What stands after the names of secrets in a line."""
    at = 0
    while match := _NAMED.search(line, at):
        at = match.start("value")
        value = match["value"].strip().strip("\"'")
        is_secret = _takes_secret(match["name"]) and (match["between"].strip() or match["name"][0] == "-")
        if is_secret and not PLAIN.fullmatch(value) and "$" not in value:
            yield value


def _takes_secret(name: str) -> bool:
    return is_unspoken(name) or says_secret(name)


def scrubbed(text: str, secrets: Iterable[str], shortest: int = SHORTEST_SCRUBBED) -> str:
    """A text without these secrets; one that is too short would be found in words of ours."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= shortest:
            text = text.replace(secret, WITHHELD)
    return text
