"""How far the layers of a GGUF model look back: what the file says, and what llama.cpp compiles in for its architecture."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hio_validate.observe.gguf_numbers import Numbers


class Period(NamedTuple):
    """Which layers look back a window only: of `every` layers all but the last, or all but the first."""

    every: int
    full_first: bool = False
    window: int | None = None
    """A window that is compiled in."""
    holds: Literal["absent", "stated", "always"] = "absent"
    """Where it does: where the file states none, in place of one that it states, or both. A stated 0 is none."""
    chunked: bool = False
    """Whether tokens attend within chunks of that size, not over the last ones."""


WINDOWED = {
    "gemma2": Period(2, window=4096),
    "gemma3": Period(6),
    "gemma3n": Period(5),
    "gemma-embedding": Period(6),
    "gpt-oss": Period(2),
    "cohere2": Period(4),
    "llama4": Period(4, window=8192, holds="always", chunked=True),
    "exaone4": Period(4),
    "olmo2": Period(4),
    "afmoe": Period(4),
    "smallthinker": Period(4, full_first=True, window=4096, holds="stated"),
}
"""Architecture -> the pattern that llama.cpp compiles in: set_swa_pattern() in src/models/<architecture>.cpp (openai-moe.cpp for gpt-oss)."""

NOT_WINDOWED = frozenset({"llama", "phi3", "qwen2", "qwen3", "qwen2moe", "qwen3moe", "deepseek2"})
"""Architectures of which llama.cpp reads the whole context whatever window a file states (phi3.cpp says why)."""


def windows_of(header: Numbers, layers: int, unknown: list[str]) -> list[int | None]:
    """How far each layer looks back, in tokens; None: all. What is not known goes into `unknown`."""
    name, stated = header.architecture, header.number("attention.sliding_window")
    period = WINDOWED.get(name)
    window = stated
    if period and period.window and period.holds in ("always", "absent" if stated is None else "stated"):
        window = period.window
    if not window or stated == 0 or name in NOT_WINDOWED:
        return [None] * layers
    if period and period.chunked:
        unknown.append(
            f"layers with a window attend within chunks of {window} tokens: half of one in the mean, and counted as all"
        )
    key = f"{name}.attention.sliding_window_pattern"
    if key in header.contents.by_layer:
        pattern = header.each("attention.sliding_window_pattern", layers) or ()
        return [window if slides else None for slides in pattern]
    every = header.number("attention.sliding_window_pattern") or (period.every if period else 0)
    if not every:
        unknown.append(
            f"which layers look back {window} tokens only: counted as looking back at all, which is the most"
        )
        return [None] * layers
    first = period is not None and period.full_first
    full = 0 if first else every - 1
    return [None if layer % every == full else window for layer in range(layers)]
