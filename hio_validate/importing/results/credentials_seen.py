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

from hio_validate.importing.results.credentials_hidden import cut_before, hidden, is_word
from hio_validate.settings.credentials import PLAIN, SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD, says_secret


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
_SCHEME = re.compile(r"(?:Token|ApiKey|Key|Digest|Bearer|Basic)\s+")
"""What an Authorization header may say before the credential."""
_AFTER = re.compile(
    r"(?P<rest>[\w.-]{0,60})(?:"
    rf"{_QUOTE}\s*:\s*b?(?P<json>{_QUOTE})"
    rf"|{_QUOTE}\s*,\s*{_QUOTE}value{_QUOTE}\s*:\s*(?P<pair>{_QUOTE})"
    rf"|{_QUOTE}\s*,\s*b?(?P<next>{_QUOTE})"
    rf"|=(?P<set>{_QUOTE}|(?=[^\s\\]))"
    rf"|(?:\s*:|\s+=)\s+(?P<head>{_QUOTE}|(?=[^\s\\,;}})]))"
    rf"|:(?P<tight>{_QUOTE}|(?=[^\s\\,;}}/)]))"
    rf"|\s+(?:- +)?(?P<given>{_QUOTE}|(?=[^\s\\,;])))"
)
"""What may follow a name and gives it a value, up to the value or the quote that opens it: JSON and what Python prints; a
pair of name and value; the next word of a list; an assignment; a header, YAML or TOML; behind a flag a blank."""
_BARE = re.compile(r"[^\s\"'\\]{0,2000}")
_LINE_OF_WORDS = re.compile(r"[^\"'\\\n]{0,2000}")
_FIRST_PART = re.compile(r"[^,;&)}\]]*")
"""A bare value may be one of several, as in `api_key=x&n=1`: then its first part is the credential."""
_LONGEST = 2000
_OPENS_PAIR = re.compile(rf"(?:\A|[\[(])\s*b?{_QUOTE}\Z")
_CLOSES_PAIR = re.compile(rf"{_QUOTE}\s*(?:,?\s*[\])]|\Z)")
_VALUE_BESIDE = re.compile(rf"{_QUOTE}\s*,\s*{_QUOTE}value{_QUOTE}\s*:")
"""What makes of the text under `key` the name of what is beside it, such as in a line of MLPerf's load generator."""
_STANDS_FOR_ONE = re.compile(
    r"<.*>|\$.*|\{.*\}|\**|x+|empty|none|null|dummy|redacted|withheld|not-needed|no-key-required|your[-_].*"
    r"|vllm|sglang|ollama|lm-?studio|llama[._-]?cpp",
    re.IGNORECASE,
)
_ITS_OWN_NAME = re.compile(
    r"api[_-]?key|passw|passphrase|secret|(hf|auth|access)[_-]?token|credential"
    r"|(access|private|auth|signing|master|encryption)[_-]?key",
    re.IGNORECASE,
)
"""Names that mean nothing but a secret: a short value of theirs is one, too."""
_MAY_MEAN_OTHERWISE = re.compile(r"(?:keys?|pass)\Z", re.IGNORECASE)
"""Ends names that perhaps mean a secret, such as sort_key: a word of the language is none there."""
_OF_WORDS = re.compile(r"authoriz|cookie|bearer", re.IGNORECASE)
"""Names whose values may have blanks, as those of names that mean nothing but a secret."""
_OF_ALL_THAT_FOLLOWS = re.compile(r"authoriz|cookie", re.IGNORECASE)
"""Headers whose value has several parts, each of them secret."""
_CLOSING = {quote: re.compile(rf"\\*{quote}") for quote in "\"'"}
_COUNTS = re.compile(
    r"tokens(?:_(?:diff|mean|avg|per|total|count|rate|std|median|min|max|p\d+)(?:_[a-z0-9]+)*)?\Z"
)
"""Ends a name that counts tokens, such as usage_completion_tokens_diff_pct."""
_SHORTEST, _SHORTEST_OTHERWISE = 3, 6
_SHORTEST_OF = {"head": 3, "tight": 6}
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
            yield from _given_at(line, at)
            at = lower.find(word, at + 1)


def without_credentials(text: str) -> str:
    """A text as it may be shown; nothing after what looks like a credential, since nobody knows where it ends."""
    if looks := SECRET_VALUE.search(text):
        text = text[: looks.start()] + WITHHELD
    found = {each.value for each in secrets_in(text)}
    without = hidden(text, found)
    return cut_before(text, found) if without is None else without


def waits_for_value(line: str) -> bool:
    """Whether a line ends in a name whose value may be the next line: a list or a mapping that is printed over several."""
    lower = line[-_SHORT:].lower()
    return any(word in lower for word in _WORDS)


def _given_at(line: str, at: int) -> Iterator[Secret]:
    """The value of the name around a place that says secret; of one that may be several values the first one, too."""
    after = _AFTER.match(line, at)
    if after is None:
        return
    before = _BEFORE.search(line, max(0, at - 60), at)
    start = before.start() if before else at
    name = line[start:at] + after["rest"]
    bare, how = name.lstrip("-"), after.lastgroup or ""
    if not _says_secret(bare):
        return
    value, end = _value(line, after, bare)
    is_pair = how == "next" and _is_pair(line, start, bare, value, end)
    if how in ("next", "given") and not is_pair and (value.startswith("-") or name == bare):
        return
    if bare == "key" and how == "json" and _VALUE_BESIDE.match(line, end):
        return
    if how in ("head", "tight") and (_is_prose(bare, value) or len(value) < _SHORTEST_OF[how]):
        return
    if is_one(bare, value):
        yield from _parts(f"a value for {bare}", value, is_bare=not after[how])


def _parts(what: str, value: str, is_bare: bool) -> Iterator[Secret]:
    yield Secret(what, value)
    first = _FIRST_PART.match(value)
    if is_bare and first and first[0] != value and len(first[0]) >= _SHORTEST_OTHERWISE:
        yield Secret(what, first[0])


def _value(line: str, after: re.Match[str], name: str) -> tuple[str, int]:
    """What is given, without its scheme, and where it ends: at its own quote, or bare at a blank or any quote."""
    quote, at = after[after.lastgroup or ""], after.end()
    scheme = _SCHEME.match(line, at)
    at = scheme.end() if scheme else at
    if quote:
        end = _own_quote(line, at, quote)
    else:
        way = _LINE_OF_WORDS if not scheme and _OF_ALL_THAT_FOLLOWS.search(name) else _BARE
        found = way.match(line, at)
        end = found.end() if found else at
    return line[at:end].strip(), end


def _own_quote(line: str, at: int, quote: str) -> int:
    """Where the text ends that a quote has opened; a quote with more backslashes stands inside it.

    Text in JSON has 1 backslash before its quotes, JSON in JSON has 3: a run of n opens, and n + k * 2(n + 1) close.
    """
    opening = len(quote) - 1
    most = min(len(line), at + _LONGEST)
    for each in _CLOSING[quote[-1]].finditer(line, at, most):
        run = each.end() - each.start() - 1
        if run >= opening and (run - opening) % (2 * (opening + 1)) == 0:
            return each.end() - 1 - opening
    return most


def _is_pair(line: str, start: int, name: str, value: str, end: int) -> bool:
    """Whether a name and a text are all that stands between brackets, such as a header: ["x-api-key", "..."]."""
    if not _OPENS_PAIR.search(line, max(0, start - 20), start) or not _CLOSES_PAIR.match(line, end):
        return False
    return not is_word(value) or _ITS_OWN_NAME.search(name) is not None


@lru_cache(maxsize=4096)
def _says_secret(name: str) -> bool:
    return says_secret(name)


def _is_prose(name: str, value: str) -> bool:
    """Whether a colon is one of a sentence rather than of a header: `the key: understanding`."""
    word = value.split(" ", 1)[0]
    return name.isalpha() and (name[0].isupper() or name.islower()) and _A_WORD.fullmatch(word) is not None


def _may_mean_otherwise(name: str) -> bool:
    return _MAY_MEAN_OTHERWISE.search(name) is not None and not _ITS_OWN_NAME.search(name)


def is_one(name: str, value: str) -> bool:
    """Whether a text under a name that says secret is one, and no number, no place-holder and no piece of an answer."""
    shortest = _SHORTEST if _ITS_OWN_NAME.search(name) else _SHORTEST_OTHERWISE
    if len(value) < shortest or PLAIN.fullmatch(value) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    if not any(map(str.isalnum, value)) or (is_word(value) and _may_mean_otherwise(name)):
        return False
    if any(map(str.isspace, value)) and not (_OF_WORDS.search(name) or _ITS_OWN_NAME.search(name)):
        return False
    lower = name.lower()
    return not _COUNTS.search(lower) and (lower != "token" or len(value) >= 16)
