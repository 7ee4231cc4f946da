"""Whether an address lets more in than another: an order from loopback to everywhere, and unknown is no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.settings.exposure import Reach, reach, wider

REACHES = {
    Reach.LOCAL: [
        "127.0.0.1",
        "127.8.0.9",
        "::1",
        "[::1]",
        "localhost",
        "::ffff:127.0.0.1",
        "/run/llama.sock",
        "127.0.0.1,/run/llama.sock",
    ],
    Reach.PRIVATE: [
        "10.0.0.7",
        "172.16.1.1",
        "192.168.7.2",
        "169.254.1.1",
        "100.64.0.1",
        "fd00::7",
        "fe80::1%eth0",
    ],
    Reach.PUBLIC: ["8.8.8.8", "2606:4700::1111"],
    Reach.EVERYWHERE: ["0.0.0.0", "::", "[::]", "*", "", "None", "::ffff:0.0.0.0", "127.0.0.1, 0.0.0.0"],
}
KNOWN = [(text, level) for level, texts in REACHES.items() for text in texts]
UNKNOWN = ["gpu1.example.org", "${host}", "unknown", "absent", "0", "127.1", "1.2.3.4.5", "0.0.0.0,gpu1"]

_known = st.sampled_from(KNOWN)
_hosts = st.sampled_from([*(text for text, _ in KNOWN), *UNKNOWN]) | st.text(max_size=20)


@pytest.mark.parametrize(("text", "level"), KNOWN)
def test_an_address_reaches(text: str, level: Reach) -> None:
    assert reach(text) is level


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_only_a_resolver_knows_is_unknown(text: str) -> None:
    assert reach(text) is None


@given(_known, _known)
def test_wider_is_the_order_of_reaches(before: tuple[str, Reach], after: tuple[str, Reach]) -> None:
    assert wider(before[0], after[0]) is (after[1] > before[1])


@given(_hosts, _hosts)
def test_an_unknown_end_is_unknown_unless_nothing_could_be_wider(before: str, after: str) -> None:
    answer = wider(before, after)
    if before == after and before != "unknown":
        assert answer is False
    elif None in (reach(before), reach(after)):
        nothing_could = reach(before) is Reach.EVERYWHERE or reach(after) is Reach.LOCAL
        assert answer is (False if nothing_could else None)
    else:
        assert answer is not None


@given(_hosts, _hosts)
def test_two_hosts_are_never_wider_than_each_other(one: str, other: str) -> None:
    assert not (wider(one, other) and wider(other, one))


def test_unknown_is_not_equal_to_itself() -> None:
    assert wider("unknown", "unknown") is None
