"""Whether an answer arrives while it is generated: live SSE, judged by arrival times (contract 11.3)."""

from __future__ import annotations

from hio_validate.execute.qualify.asking import Row, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "streaming"
_TOKENS, _WORDS = 48, 8


def ask(subject: Subject) -> list[Row]:
    """One short prompt with a long answer."""
    return [request(subject.server, NAME, "only", talk(new_word(), _WORDS), _TOKENS).row]
