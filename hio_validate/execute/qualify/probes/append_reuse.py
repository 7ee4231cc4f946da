"""Whether a conversation that goes on is not read again: the second request is the first, its answer and more."""

from __future__ import annotations

from hio_validate.execute.qualify.asking import Row, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "append-reuse"
_TOKENS, _WORDS = 12, 40


def ask(subject: Subject) -> list[Row]:
    """Two requests, the second an exact append."""
    prompt = talk(new_word(), _WORDS)
    first = request(subject.server, NAME, "first", prompt, _TOKENS)
    second = request(subject.server, NAME, "second", f"{prompt}{first.text} and then", _TOKENS)
    return [first.row, second.row]
