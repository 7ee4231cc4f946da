"""The distance of two backends' next-token distributions, for a person: bounds, flips with their margins, diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hio_validate.evidence.logprobs import Apart, Prompt, flips
from hio_validate.importing.logprobs import Pair
from hio_validate.quantity import counted
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

_SHOWN = 20
"""Prompts and flips that stand in the text; JSON has all."""


def render(pairs: Sequence[Pair], files: tuple[str, str], counts: tuple[int, int], width: int = 80) -> str:
    """The comparison as text."""
    prompts = [pair.prompt for pair in pairs if pair.prompt]
    parts = [paragraph(f"A  {files[0]}", width, 3) + paragraph(f"B  {files[1]}", width, 3)]
    parts[0] += paragraph(sentence(prompts), width)
    rows = [_row(number, pair.prompt) for number, pair in enumerate(pairs, 1) if pair.prompt]
    if rows:
        head = ("prompt", "positions", "TV at most", "KL at least", "compared until")
        parts.append(table(rows[:_SHOWN], width, head) + _more(len(rows), "prompts"))
    found = list(flips(prompts))
    if found:
        lines = [paragraph(f"  {_flip(number, each)}", width) for number, each in found[:_SHOWN]]
        parts.append(f"another token is the likeliest\n{''.join(lines)}{_more(len(found), 'flips')}")
    parts.append("".join(paragraph(each, width) for each in _notes(pairs, counts)))
    return "\n".join(part for part in parts if part)


def sentence(prompts: Sequence[Prompt]) -> str:
    """The answer first."""
    positions = [each for prompt in prompts for each in prompt.positions]
    if not positions:
        return "nothing is compared"
    worst = max(positions, key=lambda each: each.tv[0])
    flipped = sum(each.flip is not None for each in positions)
    return (
        f"{counted(len(positions), 'position')} of {counted(len(prompts), 'prompt')}: total variation is at least {worst.tv[0]:.3g} where it is "
        f"largest, at most {max(each.tv[1] for each in positions):.3g} anywhere; {counted(flipped, 'argmax flip')}"
    )


def _row(number: int, prompt: Prompt) -> tuple[str, str, str, str, str]:
    worst = max(prompt.positions, key=lambda each: each.tv[1])
    low = max(max(each.kl) for each in prompt.positions)
    until = (
        "the end"
        if prompt.diverged is None
        else f"{prompt.diverged}: {prompt.shown[0]!r} or {prompt.shown[1]!r}"
    )
    said = f"{worst.tv[1]:.3g} at {worst.position}"
    return str(number), str(len(prompt.positions)), said, f"{low:.3g} nat", until


def _flip(number: int, each: Apart) -> str:
    assert each.flip is not None
    margins = [
        "not told" if margin is None else f"{margin:.3g} nat" for margin in each.flip.margins
    ]  # fmt: skip
    return (
        f"prompt {number}, position {each.position}: by a margin of {margins[0]} in A and {margins[1]} in B"
    )


def _more(count: int, what: str) -> str:
    return f"  and {count - _SHOWN} more {what}: --format json has all\n" if count > _SHOWN else ""


def _notes(pairs: Sequence[Pair], counts: tuple[int, int]) -> Iterator[str]:
    for number, pair in enumerate(pairs, 1):
        if pair.reason:
            yield f"prompt {number} is not compared: {pair.reason}."
    if counts[0] != counts[1]:
        yield f"A has {counts[0]} answers and B {counts[1]}: those that one side alone has are not compared."
    compared = [pair for pair in pairs if pair.prompt]
    diverged = sum(pair.prompt.diverged is not None for pair in compared if pair.prompt)
    if diverged:
        differ = "1 answer differs" if diverged == 1 else f"{diverged} answers differ"
        yield f"{differ} in a chosen token; after it the prefix is another one, so nothing is compared."
    if any(not pair.prompt_is_known for pair in compared):
        yield "That the prompts were the same is your word: the files do not say them."
    equal = sum(pair.prompt.equal for pair in compared if pair.prompt)
    total = sum(min(pair.prompt.lengths) for pair in compared if pair.prompt)
    if total:
        yield f"Diagnostic only: {equal} of {total} chosen tokens are equal."


def as_shape(
    pairs: Sequence[Pair], files: tuple[str, str], counts: tuple[int, int], exit_code: int
) -> dict[str, Any]:
    """The comparison as versioned data."""
    return {
        "version": 1,
        "files": list(files),
        "answers": list(counts),
        "prompts": [
            {
                "reason": pair.reason or None,
                "prompt_is_known": pair.prompt_is_known,
                "diverged": pair.prompt.diverged if pair.prompt else None,
                "equal_tokens": pair.prompt.equal if pair.prompt else None,
                "lengths": list(pair.prompt.lengths) if pair.prompt else None,
                "positions": [_position(each) for each in pair.prompt.positions] if pair.prompt else [],
            }
            for pair in pairs
        ],
        "exit_code": exit_code,
    }


def _position(each: Apart) -> dict[str, Any]:
    return {
        "position": each.position,
        "common_tokens": each.common,
        "residuals": list(each.residuals),
        "tv_at_least": each.tv[0],
        "tv_at_most": each.tv[1],
        "kl_at_least": list(each.kl),
        "flip_margins": list(each.flip.margins) if each.flip else None,
    }
