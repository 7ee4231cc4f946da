"""What of a result file is not ours to keep: credentials anywhere in it, texts of requests (contract 1.8).

Invariant: when in doubt it is withheld; what is withheld is shown nowhere, not even in the message about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from hio_validate.evidence.observed import Fact, Finding, Observation
from hio_validate.settings.credentials import PLAIN, SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD, says_secret

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
_AFTER = re.compile(
    r"(?P<rest>[\w.-]{0,60})"
    r"(?:\\*\"\s*:\s*\\*\"(?P<json>[^\"\\\s]{6,2000})|=\\*\"?(?P<set>[^\s\"'\\,;&]{6,2000})| (?P<given>[^\s\"'\\,;]{6,2000}))"
)
"""What may follow a name and gives it a value: JSON, an assignment, and behind a flag a blank."""
_STANDS_FOR_ONE = re.compile(
    r"<.*>|\$.*|\{.*\}|\**|x+|empty|none|null|dummy|redacted|withheld|not-needed|no-key-required|your[-_].*",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    r"tokens(?:_(?:diff|mean|avg|per|total|count|rate|std|median|min|max|p\d+)(?:_[a-z0-9]+)*)?\Z"
)
"""Ends a name that counts tokens, such as usage_completion_tokens_diff_pct."""
_SPEAKS = re.compile(
    r"prompt|text|content|message|answer|response|completion|question|target|doc|input|output|reasoning|tool",
    re.IGNORECASE,
)
_LONGEST_WORD = 40
"""Characters of a value that names something; a longer one under a key that speaks may be what somebody said."""


_ANY = re.compile("|".join(re.escape(part.lower()) for part in (*_LOOKS, *_WORDS, "@")))
"""One look at a short text, where looking for each part costs more."""
_SHORT = 256


def secret_in(line: str) -> str | None:
    """What kind of credential a line holds, without showing it; None where it holds none."""
    if len(line) < _SHORT and not _ANY.search(line.lower()):
        return None
    looks = any(part in line for part in _LOOKS) or ("://" in line and "@" in line)
    if looks and SECRET_VALUE.search(line):
        return "what looks like a credential"
    lower = line.lower()
    if len(lower) != len(line):  # a letter whose small form is longer moves all places
        lower = "".join(char.lower() if char.isascii() else char for char in line)
    for word in _WORDS:
        at = lower.find(word)
        while at >= 0:
            if name := _given_at(line, at):
                return f"a value for {name}"
            at = lower.find(word, at + 1)
    return None


def _given_at(line: str, at: int) -> str | None:
    """The name around a place that says secret and has a value behind it."""
    after = _AFTER.match(line, at)
    if after is None:
        return None
    before = _BEFORE.search(line, max(0, at - 60), at)
    name = (before[0] if before else "") + after["rest"]
    value = after["json"] or after["set"] or after["given"]
    if after["given"] and not name.startswith("-"):
        return None
    return name if _says_secret(name.lstrip("-")) and _is_one(name, value) else None


@lru_cache(maxsize=4096)
def _says_secret(name: str) -> bool:
    return says_secret(name)


def _is_one(name: str, value: str) -> bool:
    if PLAIN.fullmatch(value) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    lower = name.lower()
    return not _COUNTS.search(lower) and (
        lower != "token" or len(value) >= 16
    )  # a piece of an answer is a token, too


def withheld(record: Observation) -> Iterator[Finding]:
    """Take out of a record's facts what is not ours to keep, and tell it."""
    for facts in (record.subject, record.workload, record.foreign):
        for key, value in facts.items():
            if isinstance(value, str) and _is_secret(key, value):
                facts[key] = WITHHELD
                yield Finding("secret-withheld", f"{key} holds a credential: it is not shown", record.line)
    yield from _spoken(record)
    for key, value in record.foreign.items():
        if _may_be_said(key, value):
            record.foreign[key] = WITHHELD


def _spoken(record: Observation) -> Iterator[Finding]:
    """Names and sentences that an importer made of what stands in the source."""
    if secret_in(record.name):
        record.name = f"record-{record.line}"
        yield Finding("secret-withheld", "its name holds a credential: it is not shown", record.line)
    for index, finding in enumerate(record.findings):
        if secret_in(finding.message):
            record.findings[index] = finding._replace(
                message="what it says holds a credential: it is not shown"
            )
    for index, measured in enumerate(record.metrics):
        if _remembered(measured.name):
            record.metrics[index] = measured._replace(name=f"metric-{index}")
    record.unknown = tuple(each for each in record.unknown if not _remembered(each))


@lru_cache(maxsize=4096)
def _remembered(text: str) -> str | None:
    """The same names of metrics stand in every record of a file."""
    return secret_in(text)


@lru_cache(maxsize=4096)
def _is_secret(key: str, value: str) -> bool:
    name = key.rpartition(".")[2]
    return (len(value) >= 6 and _says_secret(name) and _is_one(name, value)) or secret_in(value) is not None


def _may_be_said(key: str, value: Fact) -> bool:
    return isinstance(value, str) and len(value) > _LONGEST_WORD and _SPEAKS.search(key) is not None
