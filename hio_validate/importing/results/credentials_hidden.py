"""Texts without the credentials that were found in them: where one stands, and what may stand beside it (contract 1.8).

Invariant: text that adjoins a credential may be the rest of it, and is then shown no more than the credential is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from hio_validate.settings.secrets import WITHHELD

_WORD = re.compile(r"[a-z]{1,14}(?:[ _-][a-z]{1,14})*")
_SHORT = 8
"""A credential with fewer characters is found within words that have nothing to do with it."""
_LEAST_OF_A_CUT_ONE = 4
"""Characters of a credential that a cut text may end with and that give some of it away."""
_LEAST_OF_A_CUT_TEXT = 40
"""Characters of a text that was cut; a shorter one ends in the beginning of a word because words begin alike."""
_OPENS = re.compile(r"(?:\A|[\s=:(\[{,]|[\"'])\Z")
_CLOSES = re.compile(r"(?:\\*[\"']|[\])}])*(?:[\s,;]|\Z)")
_QUOTE = re.compile(r"\\*([\"'])")


def is_word(text: str) -> bool:
    """Whether a text may be a word of the language, or several: small letters alone."""
    return _WORD.fullmatch(text) is not None


def stands_in(text: str, secret: str) -> bool:
    """Whether a text holds a credential; one that is short, or a word, as a whole token only."""
    return secret in text and next(_places(text, secret), None) is not None


def hidden(text: str, found: Collection[str]) -> str | None:
    """A text without what was found in it; None where something adjoins one, so that all of it has to be withheld."""
    for secret in sorted(found, key=len, reverse=True):
        if secret not in text:
            continue
        places = list(_places(text, secret))
        if not all(_stands_alone(text, *place.span()) for place in places):
            return None
        for place in reversed(places):
            text = text[: place.start()] + WITHHELD + text[place.end() :]
    return text


def cut_before(text: str, found: Collection[str]) -> str:
    """A text up to the first of what was found in it."""
    return text[: min(text.find(secret) for secret in found if secret in text)] + WITHHELD


def ends_within(text: str, secret: str) -> bool:
    """Whether a text ends in the beginning of a credential: long texts are cut."""
    word = is_word(secret)
    if word and len(text) < _LEAST_OF_A_CUT_TEXT:
        return False
    return any(
        text.endswith(secret[:end]) and not (word and text[-end - 1 : -end].isalnum())
        for end in range(_LEAST_OF_A_CUT_ONE, min(len(secret), len(text) + 1))
    )


def _places(text: str, secret: str) -> Iterator[re.Match[str]]:
    return _pattern(secret).finditer(text)


@lru_cache(maxsize=1024)
def _pattern(secret: str) -> re.Pattern[str]:
    exact = re.escape(secret)
    return re.compile(rf"(?<!\w){exact}(?!\w)" if len(secret) < _SHORT or is_word(secret) else exact)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a credential ends where it seems to: between its own quotes, or bare between blanks and the text's quotes."""
    if not _OPENS.search(text, max(0, start - 1), start) or not _CLOSES.match(text, end):
        return False
    quote = _QUOTE.match(text, end)
    if quote is None or text.endswith(quote[0], 0, start):
        return True
    return text.count(quote[1], 0, start) % 2 == 1
