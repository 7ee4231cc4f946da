"""What of a result file is not ours to keep: credentials anywhere in it, texts of requests (contract 1.8).

Invariant: when in doubt it is withheld; what is withheld is shown nowhere, not even in the message about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.evidence.observed import Fact, Finding, Observation
from hio_validate.settings.credentials import PLAIN, SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD, says_secret

_PAIR = re.compile(
    r'(?:\\*"(?P<key>[\w.\- ]{2,60})\\*"\s*:\s*\\*"(?P<value>[^"\\\s]{6,2000}))'
    r"|(?:(?<![\w-])(?P<flag>--?[A-Za-z][\w.-]{1,60})[= ]\"?(?P<given>[^\s\"'\\,;]{6,2000}))"
    r"|(?:(?<![\w.-])(?P<name>[A-Za-z_]\w{1,60})=\"?(?P<set>[^\s\"'\\,;&]{6,2000}))"
)
"""Places where a name gives a value: JSON, flags of a command line, assignments."""
_STANDS_FOR_ONE = re.compile(
    r"<.*>|\$.*|\{.*\}|\**|x+|empty|none|null|dummy|redacted|withheld|not-needed|no-key-required|your[-_].*",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"prompt|text|content|message|answer|response|completion|question|target|doc|input|output|reasoning|tool",
    re.IGNORECASE,
)
_LONGEST_WORD = 40
"""Characters of a value that names something; a longer one under a key that speaks may be what somebody said."""


def secret_in(line: str) -> str | None:
    """What kind of credential a line holds, without showing it; None where it holds none."""
    if SECRET_VALUE.search(line):
        return "what looks like a credential"
    for match in _PAIR.finditer(line):
        name = match["key"] or match["flag"] or match["name"]
        value = match["value"] or match["given"] or match["set"]
        if says_secret(name.lstrip("-")) and _is_one(name, value):
            return f"a value for {name}"
    return None


def _is_one(name: str, value: str) -> bool:
    if PLAIN.fullmatch(value) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    return name.lower() != "token" or len(value) >= 16  # a piece of an answer is called token, too


def withheld(record: Observation) -> Iterator[Finding]:
    """Take out of a record's facts what is not ours to keep, and tell it."""
    for facts in (record.subject, record.workload, record.foreign):
        for key, value in facts.items():
            if isinstance(value, str) and _is_secret(key, value):
                facts[key] = WITHHELD
                yield Finding("secret-withheld", f"{key} holds a credential: it is not shown", record.line)
    for key, value in record.foreign.items():
        if _may_be_said(key, value):
            record.foreign[key] = WITHHELD


def _is_secret(key: str, value: str) -> bool:
    name = key.rpartition(".")[2]
    return (len(value) >= 6 and says_secret(name) and _is_one(name, value)) or secret_in(value) is not None


def _may_be_said(key: str, value: Fact) -> bool:
    return isinstance(value, str) and len(value) > _LONGEST_WORD and _SPEAKS.search(key) is not None
