"""Names that say themselves that their value is a secret (contract 1.8).

Invariant: when in doubt the name is secret; a secret's value is unknown, never shown and never equal.
"""

from __future__ import annotations

import re

WITHHELD = "withheld"
"""What stands in the place of a secret's value."""

_SAYS_SECRET = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|(PRIVATE|ACCESS|AUTH|SIGNING|MASTER|ENCRYPTION)_?KEY"
    r"|BEARER|AUTHORIZATION|(^|_)(COOKIE|CREDS|PASS|KEYS?|(?<=_)PWD)$"
)
_NO_SECRET = re.compile(
    r"(BOS|EOS|EOT|EOM|SEP|PAD|UNK|CLS|MASK|MEDIA|IMAGE|AUDIO|SPECIAL|STOP|FIRST|DRAFT|NEW|NEXT|PROMPT|MAX|MIN)_TOKENS?"
    r"|(^|_)(MAX|MIN|NUM)(_[A-Z0-9]+){1,3}_TOKENS(?=_|$)|TOKENS?_IDS?(_|$)|TOKENS_PER|PER_TOKEN|TOKENS?_(THRESHOLD|LIMIT|COUNT|BUDGET)"
)
"""Tokens of text rather than of access."""
_A_PLACE = re.compile(r"_(FILE|PATH|DIR|DIRECTORY|NAME)$")


def says_secret(name: str) -> bool:
    """Whether a flag's, variable's or JSON key's own name says that its value is a secret."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    upper = re.sub(r"[^A-Z0-9]+", "_", snake.upper())
    return not _A_PLACE.search(upper) and bool(_SAYS_SECRET.search(_NO_SECRET.sub("", upper)))
