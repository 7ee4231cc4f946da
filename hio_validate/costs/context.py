"""What has to be known of a workload before any work can be counted (contract 9.1)."""

from __future__ import annotations

_ENDS_WITH_THE_PROMPT = ("prefill-token", "request")
"""Paths whose bound needs no length of the answer: the prompt's part of a request bounds it, too."""
_WITHOUT_TOKENS = ("setup", "load")

WORDS = {
    "shape": "the model's shape",
    "prompt-tokens": "the prompt's tokens",
    "generated-tokens": "the generated tokens",
}
"""What may be unknown, as a page calls it."""


def unknown_of(
    path: str, *, has_shape: bool, prompt_tokens: int | None, generated_tokens: int | None
) -> tuple[str, ...]:
    """What is not known of a workload on a path and has to be, as keys of WORDS; empty where work can be counted."""
    needed = {
        "shape": has_shape,
        "prompt-tokens": prompt_tokens is not None or path in _WITHOUT_TOKENS,
        "generated-tokens": generated_tokens is not None
        or path in (*_WITHOUT_TOKENS, *_ENDS_WITH_THE_PROMPT),
    }
    return tuple(name for name, is_known in needed.items() if not is_known)
