"""How far an address is listened to, and when that is farther than before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.review.exposure import Reach, is_wider, reach


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (None, Reach.NOWHERE),
        ("127.0.0.1", Reach.THIS_HOST),
        ("127.9.9.9", Reach.THIS_HOST),
        ("localhost", Reach.THIS_HOST),
        ("::1", Reach.THIS_HOST),
        ("[::1]", Reach.THIS_HOST),
        ("::ffff:127.0.0.1", Reach.THIS_HOST),
        ("/run/llama.sock", Reach.THIS_HOST),
        ("10.1.2.3", Reach.PRIVATE_NETWORK),
        ("172.31.0.1", Reach.PRIVATE_NETWORK),
        ("fd00::1", Reach.PRIVATE_NETWORK),
        ("fe80::1%eth0", Reach.PRIVATE_NETWORK),
        ("172.32.0.1", Reach.ANY_NETWORK),
        ("203.0.113.7", Reach.ANY_NETWORK),
        ("100.64.0.1", Reach.ANY_NETWORK),
        ("gpu-3.example.org", Reach.ANY_NETWORK),
        ("0.0.0.0", Reach.EVERY_ADDRESS),
        ("::", Reach.EVERY_ADDRESS),
        ("::ffff:0.0.0.0", Reach.EVERY_ADDRESS),
        ("*", Reach.EVERY_ADDRESS),
        ("None", Reach.EVERY_ADDRESS),
        ("absent", Reach.EVERY_ADDRESS),
        ("127.0.0.1, 0.0.0.0", Reach.EVERY_ADDRESS),
        ("unknown", Reach.NOT_KNOWN),
        ("${host}", Reach.NOT_KNOWN),
    ],
)
def test_how_far_an_address_is_listened_to(address: str | None, expected: Reach) -> None:
    assert reach(address) is expected


@given(before=st.sampled_from(Reach), after=st.sampled_from(Reach))
def test_wider_is_an_order_in_which_what_is_not_known_counts_against_the_change(
    before: Reach, after: Reach
) -> None:
    if Reach.NOT_KNOWN not in (before, after):
        assert not (is_wider(before, after) and is_wider(after, before))
    assert not is_wider(before, Reach.THIS_HOST)
    assert is_wider(before, Reach.NOT_KNOWN)
    assert is_wider(Reach.NOT_KNOWN, after) is (after > Reach.THIS_HOST)
