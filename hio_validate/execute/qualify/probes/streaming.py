"""Whether an answer arrives while it is generated: live SSE, judged by arrival times (contract 11.3)."""

from __future__ import annotations

from hio_validate.execute.qualify.asking import Row, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "streaming"
_TOKENS, _WORDS = 32, 8


def ask(subject: Subject) -> list[Row]:
    """A short prompt with a long answer, three times: one stall of this host is none of the server's."""
    return [
        request(subject.server, NAME, f"try-{number}", talk(new_word(), _WORDS), _TOKENS).row
        for number in (1, 2, 3)
    ]
