"""Credentials in lines of foreign files: by their looks, by the name of what has them as its value (contract 1.8).

Invariant: when in doubt it is one; a credential is shown nowhere, not even in the message about it.

Benchmarks keep what they were called with: command lines as text, as lists of words and as Python prints them, headers,
environments, whole configurations (vllm bench serve --header, SGLang's server_info, GuideLLM's backend arguments, AIPerf's
input_config).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hio_validate.settings.credentials import PLAIN, SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD, says_secret
from hio_validate.settings.withholding import scrubbed


class Secret(NamedTuple):
    """A credential; `value` is never to be shown."""

    what: str
    """What kind of credential it is, for a message."""
    value: str


_LOOKS = (
    "hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "xox", "eyJ", "-----BEGIN",
    "earer ", "Basic ",
)  # fmt: skip
"""Parts of everything that settings/credentials.py knows by its looks, a password in a URL aside: looked for first, since
a gigabyte is searched."""
_WORDS = (
    "token", "secret", "passw", "passphrase", "credential", "key", "bearer", "authoriz", "cookie", "creds", "pass", "pwd",
)  # fmt: skip
"""One of them stands in every name that says that its value is a secret (settings/secrets.py)."""
_BEFORE = re.compile(r"-{0,2}[\w.]?[\w.-]{0,60}\Z")
_QUOTE = r"\\*[\"']"
_SCHEME = r"(?:(?:Token|ApiKey|Key|Digest|Bearer|Basic)\s+)?"
"""What an Authorization header may say before the credential."""
_AFTER = re.compile(
    r"(?P<rest>[\w.-]{0,60})(?:"
    rf"{_QUOTE}\s*:\s*{_QUOTE}{_SCHEME}(?P<json>[^\"'\\]{{3,2000}})"
    rf"|{_QUOTE}\s*,\s*{_QUOTE}value{_QUOTE}\s*:\s*{_QUOTE}(?P<pair>[^\"'\\]{{3,2000}})"
    rf"|{_QUOTE}\s*,\s*{_QUOTE}(?P<next>[^\"'\\\s]{{3,2000}})"
    rf"|=\\*[\"']?{_SCHEME}(?P<set>[^\s\"'\\,;&)]{{3,2000}})"
    rf"|\s*:\s+{_SCHEME}(?P<head>[^\s\"'\\,;}})]{{3,2000}})"
    r"|:(?P<tight>[^\s\"'\\,;}/)]{6,2000})"
    r"|\s+(?:- +)?(?P<given>[^\s\"'\\,;]{3,2000}))"
)
"""What may follow a name and gives it a value: JSON and what Python prints; a pair of name and value; the next word of a
list; an assignment; a header or YAML; behind a flag a blank."""
_VALUE_BESIDE = re.compile(rf"{_QUOTE}\s*,\s*{_QUOTE}value{_QUOTE}\s*:")
"""What makes of the text under `key` the name of what is beside it, such as in a line of MLPerf's load generator."""
_STANDS_FOR_ONE = re.compile(
    r"<.*>|\$.*|\{.*\}|\**|x+|empty|none|null|dummy|redacted|withheld|not-needed|no-key-required|your[-_].*",
    re.IGNORECASE,
)
_ITS_OWN_NAME = re.compile(
    r"api_?key|passw|passphrase|secret|(hf|auth|access)_?token|access_?key|credential", re.IGNORECASE
)
"""Names that mean nothing but a secret: a short value of theirs is one, too."""
_OF_WORDS = re.compile(r"authoriz|passw|passphrase|cookie|bearer", re.IGNORECASE)
"""Names whose values may have blanks."""
_COUNTS = re.compile(
    r"tokens(?:_(?:diff|mean|avg|per|total|count|rate|std|median|min|max|p\d+)(?:_[a-z0-9]+)*)?\Z"
)
"""Ends a name that counts tokens, such as usage_completion_tokens_diff_pct."""
_SHORTEST, _SHORTEST_OTHERWISE = 3, 6
_A_WORD = re.compile(r"[a-z]+|[A-Z]?[a-z]+")

_ANY = re.compile("|".join(re.escape(part.lower()) for part in (*_LOOKS, *_WORDS, "@")))
"""One look at a short text, where looking for each part costs more."""
_SHORT = 256


def secret_in(line: str) -> str | None:
    """What kind of credential a line holds, without showing it; None where it holds none."""
    return next((each.what for each in secrets_in(line)), None)


def secrets_in(line: str) -> Iterator[Secret]:
    """Every credential of a line, what looks like one first; one that stands twice may come twice."""
    if len(line) < _SHORT and not _ANY.search(line.lower()):
        return
    looks = any(part in line for part in _LOOKS) or ("://" in line and "@" in line)
    if looks:
        for match in SECRET_VALUE.finditer(line):
            yield Secret("what looks like a credential", match[0])
    lower = line.lower()
    if len(lower) != len(line):  # a letter whose small form is longer moves all places
        lower = "".join(char.lower() if char.isascii() else char for char in line)
    for word in _WORDS:
        at = lower.find(word)
        while at >= 0:
            if (found := _given_at(line, at)) is not None:
                yield found
            at = lower.find(word, at + 1)


def without_credentials(text: str) -> str:
    """A text as it may be shown; nothing after what looks like a credential, since nobody knows where it ends."""
    if looks := SECRET_VALUE.search(text):
        text = text[: looks.start()] + WITHHELD
    return scrubbed(text, {each.value for each in secrets_in(text)}, shortest=1)


def waits_for_value(line: str) -> bool:
    """Whether a line ends in a name whose value may be the next line: a list or a mapping that is printed over several."""
    lower = line[-_SHORT:].lower()
    return any(word in lower for word in _WORDS)


def _given_at(line: str, at: int) -> Secret | None:
    """The value of the name around a place that says secret; None where it has none."""
    after = _AFTER.match(line, at)
    if after is None:
        return None
    before = _BEFORE.search(line, max(0, at - 60), at)
    name = (before[0] if before else "") + after["rest"]
    how = after.lastgroup or ""
    value = after[how].strip()
    is_flag = name.startswith("-")
    if how in ("next", "given") and (not is_flag or value.startswith("-")):
        return None
    bare = name.lstrip("-")
    if bare == "key" and how == "json" and _VALUE_BESIDE.match(line, after.end()):
        return None
    if how in ("head", "tight") and _is_prose(bare, value):
        return None
    return Secret(f"a value for {bare}", value) if _says_secret(bare) and is_one(bare, value) else None


@lru_cache(maxsize=4096)
def _says_secret(name: str) -> bool:
    return says_secret(name)


def _is_prose(name: str, value: str) -> bool:
    """Whether a colon is one of a sentence rather than of a header: `the key: understanding`."""
    return name.isalpha() and (name[0].isupper() or name.islower()) and _A_WORD.fullmatch(value) is not None


def is_one(name: str, value: str) -> bool:
    """Whether a text under a name that says secret is one, and no number, no place-holder and no piece of an answer."""
    shortest = _SHORTEST if _ITS_OWN_NAME.search(name) else _SHORTEST_OTHERWISE
    if len(value) < shortest or PLAIN.fullmatch(value) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    if any(map(str.isspace, value)) and not _OF_WORDS.search(name):
        return False
    lower = name.lower()
    return not _COUNTS.search(lower) and (lower != "token" or len(value) >= 16)
