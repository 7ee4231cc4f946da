"""What of a result file is not ours to keep: credentials anywhere in it, texts of requests (contract 1.8).

Invariant: when in doubt it is withheld; what is withheld is shown nowhere, not even in the message about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Fact, Finding, Observation
from hio_validate.importing.results.credentials_hidden import ends_within, hidden, is_word, stands_in
from hio_validate.importing.results.credentials_seen import is_one, secret_in, secrets_in
from hio_validate.settings.credentials import SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD, says_secret

_SPEAKS = re.compile(
    r"prompt|text|content|message|answer|response|completion|question|target|doc|input|output|reasoning|tool",
    re.IGNORECASE,
)
_LONGEST_WORD = 40
"""Characters of a value that names something; a longer one under a key that speaks may be what somebody said."""
_NONE: frozenset[str] = frozenset()


def withheld(record: Observation, known: Collection[str] = _NONE) -> Iterator[Finding]:
    """Take out of a record what is not ours to keep, and tell where it stood.

    `known` are credentials that stand elsewhere in the file: they are taken out wherever a record repeats them.
    """
    no_words = _no_words(known)  # what an importer calls something gives no word away
    for room in ("subject", "workload", "foreign"):
        facts: dict[str, Fact] = getattr(record, room)
        sought = known if room == "foreign" else no_words
        for key, value in list(facts.items()):
            name = _without(key, sought)
            kept = _kept(key, value, known) if isinstance(value, str) else value
            if (name, kept) == (key, value):
                continue
            if name != key:
                del facts[key]
            facts[name] = kept
            told = f"{room}.{name} holds a credential: it is withheld"
            yield Finding("secret-withheld", told, record.line)
    yield from _spoken(record, known)
    for key, value in record.foreign.items():
        if _may_be_said(key, value):
            record.foreign[key] = WITHHELD


def _spoken(record: Observation, known: Collection[str]) -> Iterator[Finding]:
    """Names and sentences that an importer made of what stands in the source."""
    if _holds_one(record.name, known):
        record.name = f"record-{record.line}"
        yield Finding("secret-withheld", "its name holds a credential: it is withheld", record.line)
    if record.at is not None and _holds_one(record.at, known):
        record.at = None
        yield Finding("secret-withheld", "its time holds a credential: it is withheld", record.line)
    for index, finding in enumerate(record.findings):
        if _holds_one(finding.message, known):
            record.findings[index] = finding._replace(
                message="what it says holds a credential: it is not shown"
            )
    no_words = _no_words(known)
    for index, measured in enumerate(record.metrics):
        sought = known if measured.definition == UNKNOWN else no_words
        if _remembered(measured.name) or _repeats(measured.name, sought):
            record.metrics[index] = measured._replace(name=f"metric-{index}")
    record.unknown = tuple(
        each for each in record.unknown if not (_remembered(each) or _repeats(each, no_words))
    )


def _no_words(known: Collection[str]) -> list[str]:
    return [each for each in known if not is_word(each)]


def _holds_one(text: str, known: Collection[str]) -> bool:
    return secret_in(text) is not None or _repeats(text, known)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> str | None:
    """The same names of metrics stand in every record of a file."""
    return secret_in(text)


def _repeats(text: str, known: Collection[str]) -> bool:
    """Whether a text has a credential that stands elsewhere, or ends in the beginning of one: long texts are cut."""
    return any(stands_in(text, each) or ends_within(text, each) for each in known)


def _without(key: str, known: Collection[str]) -> str:
    """The key of a fact; one that holds a credential is withheld like a value."""
    return WITHHELD if _remembered(key) or _repeats(key, known) else key


def _kept(key: str, value: str, known: Collection[str]) -> str:
    """A value as it may be kept: what is secret in it is withheld, and all of it where that cannot be told apart."""
    if _is_secret(key, value) or _looks_like_one(value):  # nobody knows where what looks like one ends
        return WITHHELD
    found = {*_credentials(value), *(each for each in known if stands_in(value, each))}
    if not found and not any(ends_within(value, each) for each in known):
        return value
    kept = hidden(value, found)
    return WITHHELD if kept is None or _holds_one(kept, known) else kept


@lru_cache(maxsize=4096)
def _looks_like_one(value: str) -> bool:
    return SECRET_VALUE.search(value) is not None


@lru_cache(maxsize=4096)
def _credentials(value: str) -> frozenset[str]:
    """What is secret in a value; facts are short, and the same in every record of a file."""
    return frozenset(each.value for each in secrets_in(value))


@lru_cache(maxsize=4096)
def _is_secret(key: str, value: str) -> bool:
    name = key.rpartition(".")[2]
    return says_secret(name) and is_one(name, value)


def _may_be_said(key: str, value: Fact) -> bool:
    return isinstance(value, str) and len(value) > _LONGEST_WORD and _SPEAKS.search(key) is not None
