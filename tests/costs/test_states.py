"""States of fixed size: their bytes, by hand."""

from __future__ import annotations

from hio_validate.costs.states import carried, state_bytes
from tests.estimating.workloads import shape

HYBRID = shape(
    ("attention", "bf16", 2, 4),
    attention=[{"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8},
               {"layers": 3, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 1000}],
).model  # fmt: skip


def test_the_state_of_one_sequence_is_that_of_all_layers() -> None:
    assert carried(HYBRID) == 3000
    assert state_bytes(HYBRID, "f32").value == 12_000
    assert state_bytes(HYBRID, "bfloat16").high in (6_000, 12_000)


def test_a_format_that_is_not_known_is_of_16_or_32_bits() -> None:
    found = state_bytes(HYBRID, None)
    assert (found.low, found.high) == (6_000, 12_000)


def test_a_shape_that_tells_none_carries_none() -> None:
    plain = shape(
        ("attention", "bf16", 2, 4), attention=[{"layers": 2, "kv_heads": 0, "key_size": 0, "value_size": 0}]
    )
    assert carried(plain.model) == 0
