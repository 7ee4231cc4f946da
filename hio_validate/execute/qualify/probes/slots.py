"""Whether two conversations see nothing of each other: at once where there are two slots, in turn where there is one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hio_validate.execute.qualify.asking import Row, new_word, talk
from hio_validate.execute.qualify.asking import ask as request
from hio_validate.execute.qualify.subject import Subject

NAME = "slots"
_TOKENS, _WORDS = 32, 40


def ask(subject: Subject) -> list[Row]:
    """Conversation a and b, then a goes on; the rows count words of the other one."""
    words = {"a": new_word(), "b": new_word()}
    others = {"a": words["b"], "b": words["a"]}
    prompts = {name: talk(word, _WORDS) for name, word in words.items()}

    def begin(name: str) -> tuple[Row, str]:
        asked = request(subject.server, NAME, name, prompts[name], _TOKENS, foreign=[others[name]])
        return asked.row, asked.text

    at_once = 1 if subject.claim.slots == 1 else 2
    with ThreadPoolExecutor(at_once) as together:
        (row_a, text_a), (row_b, _) = together.map(begin, ("a", "b"))
    onward = f"{prompts['a']}{text_a} and then"
    again = request(subject.server, NAME, "a-again", onward, 4, foreign=[words["b"]])
    return [row_a, row_b, again.row]
