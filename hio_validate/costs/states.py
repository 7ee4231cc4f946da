"""States of fixed size that layers carry for a sequence in the place of K and V (contract 9.2).

Units: bytes, of the whole model. A pass reads the state of each sequence and writes it, however many tokens it evaluates.
"""

from __future__ import annotations

from hio_validate.costs.formats import bytes_each
from hio_validate.costs.interval import Interval
from hio_validate.models.shape import Shape

UNTOLD = Interval(4.0, 2.0, 4.0)
"""Bytes of one number where its format is not known: vLLM takes the model's 16 bits where nothing is said, SGLang and what
several models ask for is 32 (vllm/model_executor/layers/mamba/mamba_utils.py; sglang/srt/configs/mamba_utils.py)."""


def carried(shape: Shape) -> int:
    """Numbers of the states of one sequence, in all layers; 0: there are none, or their size is not told."""
    return sum(each.layers * each.state for each in shape.attention if each.state)


def state_bytes(shape: Shape, type: str | None) -> Interval:
    """Bytes of the states of one sequence."""
    size = UNTOLD if type is None else bytes_each(type)
    return size * float(carried(shape))
