"""hio compare logprobs: every format that is read, what is refused with which sentence, the page."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console import Said, hio, one_sentence

Told = dict[str, float]
"""Token -> probability, the chosen one first."""
A: list[Told] = [{" the": 0.6, " a": 0.3}, {" sea": 0.8, " moon": 0.1}]
B: list[Told] = [{" the": 0.55, " a": 0.35}, {" sea": 0.4, " moon": 0.5}]
IDS = {" the": 1, " a": 2, " sea": 3, " moon": 4}


def token(text: str, probability: float, ids: bool = True) -> dict[str, Any]:
    more: dict[str, Any] = {"id": IDS[text]} if ids else {}
    return {**more, "token": text, "bytes": list(text.encode()), "logprob": math.log(probability)}


def entries(told: list[Told], ids: bool = True) -> list[dict[str, Any]]:
    found = []
    for each in told:
        top = [token(text, probability, ids) for text, probability in each.items()]
        found.append({**top[0], "top_logprobs": top})
    return found


def native(told: list[Told], **more: Any) -> dict[str, Any]:
    return {
        "content": "",
        "prompt": "why?",
        "tokens_evaluated": 5,
        "completion_probabilities": entries(told),
        **more,
    }


def old(told: list[Told], temperature: float = -1.0) -> dict[str, Any]:
    rows = [
        {
            "content": next(iter(each)),
            "probs": [{"tok_str": text, "prob": value} for text, value in each.items()],
        }
        for each in told
    ]
    return {
        "content": "",
        "generation_settings": {"temperature": temperature},
        "completion_probabilities": rows,
    }


def chat(told: list[Told]) -> dict[str, Any]:
    return {
        "choices": [{"message": {}, "logprobs": {"content": entries(told, ids=False)}}],
        "usage": {"prompt_tokens": 5},
    }


def completion(told: list[Told]) -> dict[str, Any]:
    return {"choices": [{"text": "", "logprobs": {
        "tokens": [next(iter(each)) for each in told],
        "token_logprobs": [math.log(next(iter(each.values()))) for each in told],
        "top_logprobs": [{text: math.log(value) for text, value in each.items()} for each in told],
    }}]}  # fmt: skip


def compare(folder: Path, one: Any, other: Any, *words: str) -> Said:
    for name, value in (("a", one), ("b", other)):
        (folder / f"{name}.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return hio(folder, "compare", "logprobs", "a.json", "b.json", *words)


@pytest.mark.parametrize("one", [native, old, chat, completion])
@pytest.mark.parametrize("other", [native, chat])
def test_every_format_tells_the_same(tmp_path: Path, one: Any, other: Any) -> None:
    said = compare(tmp_path, one(A), other(B), "--format", "json")
    assert said.code == 0, said.err
    shape = json.loads(said.out)
    first, second = shape["prompts"][0]["positions"]
    assert (shape["version"], first["common_tokens"]) == (1, 2)
    assert (first["tv_at_least"], first["tv_at_most"]) == pytest.approx((0.05, 0.15))
    assert first["flip_margins"] is None
    assert second["flip_margins"] == pytest.approx([math.log(8), math.log(1.25)])


def test_the_page_says_bounds_flips_and_what_is_only_diagnostic(tmp_path: Path) -> None:
    said = compare(tmp_path, native(A), native([B[0], {" moon": 0.5, " sea": 0.4}]))
    assert said.code == 0 and max(map(len, said.out.splitlines())) <= 80
    text = " ".join(said.out.split())
    assert "2 positions of 1 prompt: total variation is at least 0.4 where it is largest" in text
    assert "prompt 1, position 2: by a margin of 2.08 nat in A and 0.223 nat in B" in text
    assert "1 answer differs in a chosen token; after it the prefix is another one" in text
    assert "Diagnostic only: 1 of 2 chosen tokens are equal." in text
    assert "your word" not in text, "both files say the prompt"


def test_several_answers_are_compared_in_their_order(tmp_path: Path) -> None:
    lines = "".join(json.dumps(native(each)) + "\n" for each in (A, B, A))
    said = compare(tmp_path, lines, [native(A), native(B)], "--format", "json")
    shape = json.loads(said.out)
    assert shape["answers"] == [3, 2]
    assert [[each["tv_at_least"] for each in prompt["positions"]] for prompt in shape["prompts"]] == [
        [0, 0],
        [0, 0],
    ]
    assert "A has 3 answers and B 2" in compare(tmp_path, lines, [native(A), native(B)]).out


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"prompt": "who?"}, "the prompts are not the same"),
        ({"tokens_evaluated": 6}, "the prompt has 5 tokens in A and 6 in B: the prefix is not the same"),
        ({"completion_probabilities": []}, "an answer has no token"),
    ],
)
def test_another_prefix_is_not_compared(tmp_path: Path, more: dict[str, Any], reason: str) -> None:
    said = compare(tmp_path, native(A), native(A, **more))
    assert said.code == 3 and f"prompt 1 is not compared: {reason}" in " ".join(said.out.split())


def test_the_prompt_of_a_chat_is_the_word_of_who_compares(tmp_path: Path) -> None:
    assert "That the prompts were the same is your word" in compare(tmp_path, chat(A), chat(A)).out


def bad(logprob: Any) -> dict[str, Any]:
    value = native(A)
    value["completion_probabilities"][1]["top_logprobs"][1]["logprob"] = logprob
    return value


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (bad(math.nan), "position 2: a log-probability is nan: not a finite number"),
        (bad(math.inf), "position 2: a log-probability is inf: not a finite number"),
        (bad(None), "position 2: the log-probability of ' moon' is null, as NaN and infinity are written"),
        (bad("-1"), "position 2: the log-probability of ' moon' is '-1': not a finite number"),
        (bad(10**400), "a number is too long"),
        (bad(-0.5), "position 2: the probabilities add up to 1.40653, more than 1"),
        (old(A, temperature=0.8), "an older llama-server gives probabilities after sampling"),
        (native(A, completion_probabilities=[{"id": 1, "token": "a", "bytes": [97], "prob": 0.5, "top_probs": []}]),
         "these are probabilities after sampling"),
        ({"content": "no probabilities"}, "no log-probabilities stand in it; expected answers of llama-server"),
        ({"choices": [{"text": "", "logprobs": None}]}, "an answer has no logprobs; ask for logprobs"),
        ({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": [-1], "top_logprobs": None}}]},
         "an answer has no top_logprobs"),
        ({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": [], "top_logprobs": []}}]}, "are not as many"),
        ([1], "a value is no answer"),
        ("", "it is empty"),
        ('{"content": "cut', "no JSON from here on"),
    ],
)  # fmt: skip
def test_what_is_refused_is_one_sentence(tmp_path: Path, value: Any, sentence: str) -> None:
    said = compare(tmp_path, native(A), value)
    assert said.code in (1, 3) and said.out == ""
    assert sentence in one_sentence(said), said.err


def test_a_number_that_is_none_is_exit_1(tmp_path: Path) -> None:
    assert compare(tmp_path, native(A), bad(math.nan)).code == 1
    assert compare(tmp_path, native(A), bad(None)).code == 1


def test_old_probabilities_are_before_sampling_by_a_word(tmp_path: Path) -> None:
    assert compare(tmp_path, old(A, 0.8), old(B, 0.8), "--pre-sampling").code == 0


def test_tokens_that_are_written_alike_need_ids(tmp_path: Path) -> None:
    twice = native(A)
    twice["completion_probabilities"][0]["top_logprobs"][1].update(token=" the", bytes=list(b" the"))
    assert compare(tmp_path, twice, native(A)).code == 0, "ids tell them apart"
    said = compare(tmp_path, twice, chat(A))
    assert said.code == 3 and "two tokens that are written alike" in " ".join(said.out.split())


def test_help_of_both(tmp_path: Path) -> None:
    assert "hio compare logprobs --help" in " ".join(hio(tmp_path, "compare", "--help").out.split())
    assert "Usage: hio compare logprobs" in hio(tmp_path, "compare", "logprobs", "--help").out
