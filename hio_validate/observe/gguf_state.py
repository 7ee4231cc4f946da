"""What layers of a GGUF model carry for a sequence in the place of K and V: states of fixed size.

Source: llama.cpp, src/llama-hparams.cpp, n_embd_r (what a convolution or a token shift looks back at) and n_embd_s (the state
itself), build 11434; keys: src/llama-arch.cpp.
"""

from __future__ import annotations

from hio_validate.observe.gguf_numbers import Numbers

_TOKEN_SHIFTS = 2
"""token_shift_count where a file does not say it (src/llama-hparams.h)."""


def state_of(header: Numbers, layers: int) -> int | None:
    """Numbers that one such layer carries for one sequence; None where the file does not tell them."""
    width = header.number("embedding_length") or 0
    if head := header.number("wkv.head_size"):
        shifts = header.number("token_shift_count")
        return width * ((_TOKEN_SHIFTS if shifts is None else shifts) + head) or None
    if window := header.number("shortconv.l_cache"):
        return width * (window - 1) or None
    kernel = header.number("ssm.conv_kernel")
    if size := header.number("kda.head_dim"):
        heads = (header.each("attention.head_count", layers) or (0,))[0]
        looked_back = 3 * ((kernel - 1) if kernel else 3) * heads * size
        return looked_back + size * size * heads or None
    inner, state = header.number("ssm.inner_size"), header.number("ssm.state_size")
    if not inner or not state:
        return None
    groups = header.number("ssm.group_count") or 0
    return inner * state + ((kernel - 1) if kernel else 0) * (inner + 2 * groups * state)
