"""Answers with the log-probabilities of their tokens: llama-server's own in both generations, and OpenAI's of chats and
completions, one JSON object, a list of them, or one a line.

Sources: llama.cpp tools/server (`completion_token_output::to_json`, README "n_probs", "post_sampling_probs"); before
December 2024 `completion_probabilities[].probs[]` of `tok_str` and `prob`, "given the sampling settings" unless the
temperature is below 0. OpenAI API reference, `logprobs.content[].top_logprobs` and the older `logprobs.top_logprobs`.

Invariant: probabilities after sampling are refused (contract 7.5); null, NaN and infinity are failures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hio_validate.evidence.logprobs import Key, Position, Prompt, compared, fault_of
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.source import Source

_EXPECTED = (
    "expected answers of llama-server with n_probs, or of an OpenAI API with logprobs and top_logprobs"
)


class Alike(Exception):
    """Two tokens cannot be told apart."""


class Token(NamedTuple):
    """One token as an answer tells it."""

    id: int | None
    text: str
    """Its bytes in hexadecimal where they are told, else as it is written."""
    logprob: float


class Told(NamedTuple):
    """One position: the chosen token, its text, and every token that is told."""

    chosen: Token
    shown: str
    tokens: tuple[Token, ...]


class Answer(NamedTuple):
    """One answer."""

    line: int
    prompt: str | None
    prompt_tokens: int | None
    positions: tuple[Told, ...]

    def keyed(self, by_id: bool) -> list[Position]:
        """Its positions with tokens as ids or as texts. Raises Alike where two tokens of a position are written alike."""
        found = []
        for number, each in enumerate(self.positions, 1):
            logprobs = {_key(token, by_id): token.logprob for token in each.tokens}
            if len(logprobs) < len(each.tokens):
                raise Alike(
                    f"position {number} tells two tokens that are written alike, and one side tells no ids"
                )
            found.append(Position(_key(each.chosen, by_id), each.shown, logprobs))
        return found

    @property
    def has_ids(self) -> bool:
        return all(token.id is not None for each in self.positions for token in each.tokens)


def _key(token: Token, by_id: bool) -> Key:
    return token.id if by_id and token.id is not None else token.text


def answers(source: Source, pre_sampling: bool = False) -> list[Answer]:
    """Every answer of a file, in its order. `pre_sampling`: whose word it is that llama-server's old probabilities are
    before sampling. Raises CannotImport."""
    found = [
        _answer(source, line, choice, prompt, count)
        for line, value in _values(source)
        for choice, prompt, count in _choices(source, line, value, pre_sampling)
    ]
    if not found:
        raise source.refuse("it has no answer", _EXPECTED, code=3)
    return found


def _values(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of a file that is one object, a list of them, or has one a line."""
    if not source.size:
        raise source.refuse("it is empty", _EXPECTED, code=3)
    lines = source.lines()
    line, first = next(lines, (1, ""))
    try:
        value = source.value_of(first, line)
    except CannotImport:
        value = source.json()
        lines = iter(())
    yield from _objects(source, line, value)
    for number, text in lines:
        yield from _objects(source, number, source.value_of(text, number))


def _objects(source: Source, line: int, value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            raise source.refuse("a value is no answer", _EXPECTED, line)
        yield line, each


_Rows = Sequence[Mapping[str, Any]]


def _choices(
    source: Source, line: int, value: Mapping[str, Any], pre_sampling: bool
) -> Iterator[tuple[_Rows, str | None, int | None]]:
    """(positions in one shape, prompt, its tokens) of every answer of an object."""
    if isinstance(value.get("completion_probabilities"), list):
        rows = value["completion_probabilities"]
        prompt = value.get("prompt") if isinstance(value.get("prompt"), str) else None
        yield (
            _of_llama(source, line, value, rows, pre_sampling),
            prompt,
            _count(value.get("tokens_evaluated")),
        )
        return
    choices = value.get("choices")
    if not isinstance(choices, list):
        raise source.refuse("no log-probabilities stand in it", _EXPECTED, line)
    usage = value.get("usage")
    count = _count(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    for choice in choices:
        logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
        if not isinstance(logprobs, dict):
            raise source.refuse("an answer has no logprobs", "ask for logprobs and top_logprobs", line)
        rows = logprobs.get("content")
        yield rows if isinstance(rows, list) else _of_completion(source, line, logprobs), None, count


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _of_llama(source: Source, line: int, value: Mapping[str, Any], rows: Any, pre_sampling: bool) -> _Rows:
    """llama-server's positions, of both generations, as the newer one writes them."""
    if any(isinstance(row, dict) and ("top_probs" in row or "prob" in row) for row in rows):
        raise source.refuse(
            "these are probabilities after sampling, which say nothing of the model's numbers",
            "ask without post_sampling_probs",
            line,
        )
    if not any(isinstance(row, dict) and "probs" in row for row in rows):
        return list(rows)
    settings = value.get("generation_settings")
    temperature = settings.get("temperature") if isinstance(settings, dict) else None
    if not pre_sampling and not (is_number(temperature) and temperature < 0):
        raise source.refuse(
            "an older llama-server gives probabilities after sampling unless its temperature is below 0",
            "ask with temperature -1, or say that they are before it with --pre-sampling",
            line,
        )
    return [_of_old(source, line, row) for row in rows]


def _of_old(source: Source, line: int, row: Any) -> Mapping[str, Any]:
    try:
        tokens = [{"token": each["tok_str"], "logprob": _log(each["prob"])} for each in row["probs"]]
        return {"token": row["content"], "top_logprobs": tokens}
    except (KeyError, TypeError):
        raise source.refuse(
            "a position has no content and probs of tok_str and prob", _EXPECTED, line
        ) from None


def _log(probability: Any) -> Any:
    """The logarithm of a probability; what is no number is refused later, where its place is known."""
    if not is_number(probability) or not 0 <= probability <= 2:
        return math.nan
    return math.log(probability) if probability > 0 else -1e30


def _of_completion(source: Source, line: int, logprobs: Mapping[str, Any]) -> _Rows:
    """The older lists side by side as one list of positions."""
    tokens, own, top = (logprobs.get(key) for key in ("tokens", "token_logprobs", "top_logprobs"))
    if not (isinstance(tokens, list) and isinstance(own, list) and isinstance(top, list)):
        raise source.refuse("an answer has no top_logprobs", "ask for logprobs with a number of tokens", line)
    if not len(tokens) == len(own) == len(top):
        raise source.refuse(
            "tokens and their log-probabilities are not as many", "import the file as it was written", line
        )
    return [
        {
            "token": token,
            "logprob": logprob,
            "top_logprobs": [{"token": key, "logprob": value} for key, value in told.items()],
        }
        for token, logprob, told in zip(tokens, own, top, strict=True)
        if isinstance(told, dict)  # the first token of an echoed prompt has none
    ]


def _answer(source: Source, line: int, rows: _Rows, prompt: str | None, count: int | None) -> Answer:
    return Answer(
        line, prompt, count, tuple(_told(source, line, number, row) for number, row in enumerate(rows, 1))
    )


def _told(source: Source, line: int, number: int, row: Any) -> Told:
    where = f"position {number}"
    top = row.get("top_logprobs") if isinstance(row, dict) else None
    if not isinstance(top, list) or not isinstance(row.get("token"), str):
        raise source.refuse(f"{where} has no token and top_logprobs", _EXPECTED, line)
    tokens = [_token(source, line, where, each) for each in top]
    if "logprob" in row:
        chosen = _token(source, line, where, row)
        if not any(_same(chosen, each) for each in tokens):
            tokens.append(chosen)
    else:
        text = _hex(row["token"])
        chosen = next((each for each in tokens if each.text == text), Token(None, text, math.nan))
    if all(each.id is not None for each in tokens) and len({each.id for each in tokens}) < len(tokens):
        raise source.refuse(f"{where} tells one token twice", "import the file as it was written", line)
    fault = fault_of(Position(0, "", {number: each.logprob for number, each in enumerate(tokens)}))
    if fault:
        raise source.refuse(f"{where}: {fault}", "a backend that gives this has failed", line)
    return Told(chosen, row["token"], tuple(tokens))


def _token(source: Source, line: int, where: str, each: Any) -> Token:
    text, logprob = (each.get("token"), each.get("logprob")) if isinstance(each, dict) else (None, None)
    if not isinstance(text, str):
        raise source.refuse(f"{where} has a token without text", _EXPECTED, line)
    if not is_number(logprob):
        said = "null, as NaN and infinity are written" if logprob is None else repr(logprob)[:40]
        raise source.refuse(
            f"{where}: the log-probability of {text!r} is {said}: not a finite number",
            "a backend that gives this has failed",
            line,
        )
    raw = each.get("bytes")
    known = isinstance(raw, list) and raw and all(isinstance(byte, int) and 0 <= byte < 256 for byte in raw)
    id_ = _count(each.get("id"))
    return Token(id_, bytes(raw).hex() if known else _hex(text), float(logprob))


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").hex()


def _same(one: Token, other: Token) -> bool:
    return one.id == other.id if one.id is not None and other.id is not None else one.text == other.text


class Pair(NamedTuple):
    """Two answers to what should be one prompt."""

    prompt: Prompt | None
    """None where they are not compared."""
    reason: str = ""
    """Why not, in a sentence."""
    prompt_is_known: bool = False
    """Whether both files say the prompt, and it is the same."""


def paired(one: Sequence[Answer], other: Sequence[Answer]) -> list[Pair]:
    """The answers of two files in their order, as far as both go."""
    return [_pair(a, b) for a, b in zip(one, other, strict=False)]


def _pair(one: Answer, other: Answer) -> Pair:
    if one.prompt is not None and other.prompt is not None and one.prompt != other.prompt:
        return Pair(None, "the prompts are not the same")
    counts = one.prompt_tokens, other.prompt_tokens
    if None not in counts and counts[0] != counts[1]:
        return Pair(
            None, f"the prompt has {counts[0]} tokens in A and {counts[1]} in B: the prefix is not the same"
        )
    if not one.positions or not other.positions:
        return Pair(None, "an answer has no token")
    by_id = one.has_ids and other.has_ids
    try:
        found = compared(one.keyed(by_id), other.keyed(by_id))
    except Alike as error:
        return Pair(None, str(error))
    return Pair(found, prompt_is_known=one.prompt is not None and one.prompt == other.prompt)
