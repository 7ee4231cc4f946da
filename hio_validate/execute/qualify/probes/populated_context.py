"""Whether a slot holds what it claims: a prompt that fills it, but for the answer, is read whole (contract 1.3)."""

from __future__ import annotations

from dataclasses import replace

from hio_validate.execute.qualify.asking import Row, Server, count_tokens, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "populated-context"
LONGEST_S = 600.0
"""How long the answer to a full context is waited for."""
_ANSWER, _MARGIN, _TRIES = 4, 8, 12


def ask(subject: Subject) -> list[Row]:
    """One request that fills the context of a slot, its size counted by the server's own tokenizer."""
    claimed = subject.claim.context_per_slot
    if claimed is None:
        return [{"probe": NAME, "unasked": "how much one slot holds is not known"}]
    server = replace(subject.server, silence_s=LONGEST_S)
    target = claimed - _ANSWER - _MARGIN
    prompt, tokens = _filling(server, target)
    if prompt is None:
        return [
            {"probe": NAME, "unasked": "the server has no /tokenize, so nobody can fill its context exactly"}
        ]
    row = request(server, NAME, "full", prompt, _ANSWER, more={"cache_prompt": False}).row
    return [row | {"prompt_tokens": tokens}]


def _filling(server: Server, target: int) -> tuple[str | None, int | None]:
    """A prompt of at most `target` tokens and nearly so many; None where they cannot be counted."""
    words = talk(new_word(), 2 * target).split(" ")
    best: tuple[str | None, int | None] = (None, None)
    count = min(len(words), max(2, target // 3))
    low, high = 0, len(words)
    for _ in range(_TRIES + target.bit_length()):
        text = " ".join(words[:count])
        tokens = count_tokens(server, text)
        if tokens is None:
            return None, None
        if tokens <= target:
            low, best = count, (text, tokens)
        else:
            high = count
        if high - low <= 1:
            break
        guess = count * target // max(1, tokens)
        count = guess if low < guess < high else (low + high) // 2
    return best
