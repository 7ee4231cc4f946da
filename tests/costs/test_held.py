"""What one device holds, by hand, and what holds however a model is divided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.held import WHOLE, kv_held, kv_share, sequences_held, weights_held
from hio_validate.costs.work import stored_bytes
from hio_validate.models.estimate import Sharding
from hio_validate.models.shape import Shape
from tests.estimating.workloads import shape

MIXTURE: Shape = shape(
    ("embedding", "bf16", 100, 200), ("attention", "bf16", 200, 400), ("experts", "fp8", 800, 800), ("draft", "bf16", 50, 100),
    experts={"count": 8, "active": 2}, draft_layers=1,
    attention=[{"layers": 3, "kv_heads": 4, "key_size": 8, "value_size": 8},
               {"layers": 2, "kv_heads": 4, "key_size": 8, "value_size": 8, "window": 10}],
).model  # fmt: skip


def test_one_device_holds_what_the_file_has() -> None:
    held = weights_held(MIXTURE, WHOLE, drafts=True)
    assert (held.low, held.high) == (stored_bytes(MIXTURE).value,) * 2


def test_layers_that_draft_need_not_be_loaded_where_nothing_drafts() -> None:
    held = weights_held(MIXTURE, WHOLE, drafts=False)
    assert (held.low, held.high) == (1400.0, 1500.0)


def test_each_part_is_divided_as_the_engine_divides_it() -> None:
    """Attention over 2 of 4 devices, experts over 8, two stages of layers."""
    by = Sharding(stages=2, weights=4, attention=2, experts=8)
    held = weights_held(MIXTURE, by, drafts=True)
    assert held.value == (200 / 4 + 400 / 2 + 800 / 8 + 100 / 4) / 2


def test_a_window_holds_no_more_than_itself_and_all_at_most() -> None:
    each = 4 * (8 + 8) * 2
    held = kv_held(MIXTURE, 100, "f16", "f16")
    assert (held.low, held.high) == (each * (3 * 100 + 2 * 10), each * 5 * 100)
    short = kv_held(MIXTURE, 5, "f16", "f16")
    assert short.low == short.high == each * 5 * 5


def test_what_an_indexer_chooses_from_is_held_whole() -> None:
    chosen = shape(
        ("attention", "bf16", 2, 4),
        attention=[
            {"layers": 2, "kv_heads": 1, "key_size": 576, "value_size": 0, "window": 10, "chosen": True}
        ],
    ).model
    assert kv_held(chosen, 100, "f16", "f16").low == 2 * 576 * 2 * 100


@pytest.mark.parametrize(
    ("by", "parts"),
    [
        (WHOLE, 1),
        (Sharding(weights=8, attention=8, experts=8), 4),  # four heads are held whole, by two devices each
        (Sharding(weights=8, attention=8, experts=8, positions=2), 8),
        (Sharding(weights=8, attention=2, experts=8, groups=4), 2),
        (Sharding(stages=3, weights=2, attention=2, experts=2), 6),
    ],
)
def test_the_part_of_one_sequence(by: Sharding, parts: int) -> None:
    assert kv_share(MIXTURE, by) == 1 / parts


def test_the_fullest_device_has_an_even_part_of_the_sequences_at_least() -> None:
    by = Sharding(weights=4, attention=1, experts=4, groups=4)
    held, may_wait = (sequences_held(10, by, may_wait=each) for each in (False, True))
    assert (held.value, held.low, held.high) == (3.0, 3.0, 10.0)
    assert (may_wait.value, may_wait.low, may_wait.high) == (3.0, 1.0, 10.0)
    assert sequences_held(0, by, may_wait=True).high == 0


@given(st.integers(1, 64), st.integers(1, 16), st.integers(1, 8), st.integers(1, 4))
def test_all_devices_together_hold_every_byte(
    weights: int, attention: int, positions: int, stages: int
) -> None:
    by = Sharding(weights=weights, attention=attention, experts=weights, positions=positions, stages=stages)
    devices = max(weights, attention) * stages * positions
    assert weights_held(MIXTURE, by, drafts=True).low * devices >= stored_bytes(MIXTURE).value * (1 - 1e-12)
    assert kv_share(MIXTURE, by) * devices >= 1 - 1e-12
