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

_NAME = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]++)["']?+(?P<between>\s*+[:=,]\s*+|\s++)""")
"""A name and what stands between it and what follows: `--api-key x`, `"--api-key", "x"`, `HF_TOKEN: x`, `api-key=x`.

No character is looked at twice, for a line may be as long as a document.
"""
_VALUE = re.compile(r""""(?:[^"\\]|\\.)*+"?|'(?:[^']|'')*+'?|[^\s,\]}#"'][^,\]}#]*+""")
_ENDS_IN_A_NAME = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]++)["']?\s*[:,=]?\s*[|>]?[-+]?\s*$""")
_LONGEST_NAME = 200


class Shown(NamedTuple):
    """A line as it may be shown, and what was withheld from it."""

    line: str
    secrets: frozenset[str]


def without_secrets(lines: Sequence[str], number: int, stated: Iterable[tuple[int, str]]) -> Shown:
    """The line of a number (from 1); `stated` are lines and values of secrets that the document states."""
    line, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    found = {value for _, value in stated}
    spelt_otherwise = any(at == number and value not in line for at, value in stated)
    continues = _ENDS_IN_A_NAME.search(before.partition(" #")[0][-_LONGEST_NAME:])
    if spelt_otherwise or (continues and _takes_secret(continues["name"]) and not PLACE_HOLDER.search(line)):
        return Shown(WITHHELD, frozenset({*found, line.strip(" -\"'[],")}))
    plain = PLACE_HOLDER.sub("$", line)
    found |= {match[0] for match in SECRET_VALUE.finditer(plain)}
    found |= set(_named(plain))
    return Shown(scrubbed(line, found, shortest=1), frozenset(found))


def difference_without_secrets(lines: Sequence[str]) -> list[str]:
    """The lines of a unified diff below its head as they may be shown: a file that was edited by hand may hold a key."""
    bare = [line[1:] for line in lines]
    return [line[:1] + without_secrets(bare, number, ()).line for number, line in enumerate(lines, 1)]


def _named(line: str) -> Iterable[str]:
    """What stands after the names of secrets in a line."""
    for match in _NAME.finditer(line):
        name = match["name"]
        if not (match["between"].strip() or name[0] == "-") or not _takes_secret(name):
            continue
        found = _VALUE.match(line, match.end())
        value = found[0].strip().strip("\"'") if found else ""
        if not PLAIN.fullmatch(value) and "$" not in value and any(map(str.isalnum, value)):
            yield value  # a bracket alone opens a mapping


def _takes_secret(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and (is_unspoken(name) or says_secret(name))


def scrubbed(text: str, secrets: Iterable[str], shortest: int = SHORTEST_SCRUBBED) -> str:
    """A text without these secrets; one that is too short would be found in words of ours."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= shortest:
            text = text.replace(secret, WITHHELD)
    return text
