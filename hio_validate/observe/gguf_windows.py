"""How far the layers of a GGUF model look back: what the file says, and what llama.cpp compiles in for its architecture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from hio_validate.observe.gguf_numbers import Numbers


class Period(NamedTuple):
    """Which layers look back a window only: of `every` layers all but the last, or all but the first; 0: all layers."""

    every: int
    full_first: bool = False
    window: int | None = None
    """A window that is compiled in."""
    holds: Literal["absent", "stated", "always"] = "absent"
    """Where it does: where the file states none, in place of one that it states, or both. A stated 0 is none."""
    chunked: bool = False
    """Whether tokens attend within chunks of that size, not over the last ones."""
    layers: int | None = None
    """Holds for a model of so many layers; any other one has no window at all."""


WINDOWED = {
    "afmoe": Period(4),
    "cohere2": Period(4),
    "cohere2moe": Period(4, full_first=True),
    "exaone-moe": Period(4, window=128),
    "exaone4": Period(4, window=4096, layers=64),
    "gemma-embedding": Period(6),
    "gemma2": Period(2, window=4096),
    "gemma3": Period(6),
    "gemma3n": Period(5),
    "gpt-oss": Period(2),
    "laguna": Period(4, full_first=True),
    "lfm2": Period(0),
    "llama4": Period(4, window=8192, holds="always", chunked=True),
    "mellum": Period(4),
    "modern-bert": Period(3, full_first=True),
    "muse-glimmer": Period(4),
    "olmo2": Period(4),
    "plamo3": Period(8),
    "smallthinker": Period(4, full_first=True, window=4096, holds="stated"),
}
"""Architecture -> the pattern that llama.cpp compiles in, as of its build 11434 (version 0.6.0).

Source: src/models/<architecture>.cpp (openai-moe.cpp for gpt-oss), load_arch_hparams: the period it gives to
load_swa_pattern() of src/llama-model.cpp, which an array or a number of the file replaces; set_swa_pattern() of
src/llama-hparams.cpp says which layers that are. Architectures of which the file always has the array (gemma4,
granite_swa, mimo2, step35, ...) need no entry.
"""

NOT_WINDOWED = frozenset(
    {
        "deepseek2", "glm4moe", "granite", "granitehybrid", "granitemoe", "lfm2moe", "llama", "minicpm", "minimax-m2",
        "mistral3", "mistral4", "phi3", "phimoe", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3next",
        "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe", "seed_oss", "starcoder2",
    }
)  # fmt: skip
"""Architectures of which llama.cpp (the same build) reads the whole context whatever window a file states: their
load_arch_hparams never asks for it; phi3.cpp does, and says why it is not used."""


def windows_of(header: Numbers, layers: int, unknown: list[str]) -> list[int | None]:
    """How far each layer looks back, in tokens; None: all. What is not known goes into `unknown`."""
    name, stated = header.architecture, header.number("attention.sliding_window")
    period = WINDOWED.get(name)
    if period and period.layers not in (None, layers):
        return [None] * layers
    window = stated
    if period and period.window and period.holds in ("always", "absent" if stated is None else "stated"):
        window = period.window
    if not window or stated == 0 or name in NOT_WINDOWED:
        return [None] * layers
    key = f"{name}.attention.sliding_window_pattern"
    if key in header.contents.by_layer:
        pattern = header.each("attention.sliding_window_pattern", layers) or ()
        return [window if slides else None for slides in pattern]
    every = header.number("attention.sliding_window_pattern")
    if every is None and period is not None:
        every = period.every
    if every is None:
        unknown.append(
            f"which layers look back {window} tokens only: counted as looking back at all, which is the most"
        )
        return [None] * layers
    if every == 0:
        return [window] * layers
    full = 0 if period is not None and period.full_first else every - 1
    return [None if layer % every == full else window for layer in range(layers)]


CHOOSING = frozenset({"deepseek32", "glm-dsa"})
"""Architectures of which every layer attends to the tokens that an indexer chooses, its own or that of a layer before
(src/models/deepseek32.cpp and glm-dsa.cpp, attention.indexer.top_k)."""


def chosen_of(header: Numbers, tensors: Iterable[str]) -> int | None:
    """Tokens that each token attends to where an indexer chooses them; None where none does, or how is not known here."""
    has_indexer = any(".indexer." in name for name in tensors)
    if not has_indexer or header.architecture not in CHOOSING:
        return None
    return header.number("attention.indexer.top_k") or None


def in_chunks(architecture: str) -> bool:
    """Whether windows of an architecture are chunks: LLAMA_SWA_TYPE_CHUNKED in src/models/llama4.cpp."""
    period = WINDOWED.get(architecture)
    return period is not None and period.chunked
