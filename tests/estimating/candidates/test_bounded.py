"""What a mechanism gains at most, by what it leaves of its term."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hio_validate.costs.gain import rate_gained
from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates.bounded import bounded
from hio_validate.estimating.candidates.mechanism import Mechanism, Seen
from hio_validate.estimating.context.inputs import Inputs
from tests.estimating.bounds.questions import HERE, SMALL
from tests.estimating.candidates.workbench import profile
from tests.estimating.workloads import inputs, item, said

ASKED = inputs(
    "decode-token", "bench_decode_tps", shape=SMALL, ceilings=(HERE,), threads=1, prompt_tokens=100, generated_tokens=8,
    key_type="f16", value_type="f16", stated=said(host_gap=(2e6, 1e6, 3e6)),
)  # fmt: skip


def _seen(asked: Inputs) -> Seen:
    ledger = terms_of(asked)
    return Seen(asked, ledger, bound_of(ledger, asked))


def test_a_term_that_vanishes_gains_exactly_its_share() -> None:
    then = replace(ASKED, stated=said(host_gap=0))
    found = bounded(_seen(ASKED), Mechanism("no-gap", 6, "need no time", term="host-gaps", then=then))
    assert found is not None and found.of == "bound"
    for end in ("value", "low", "high"):
        share, gain = getattr(found.share, end), getattr(found.gain, end)
        assert gain == pytest.approx(100 * rate_gained(share), rel=1e-12)


def test_what_vanishes_at_one_end_alone_does_not_vanish() -> None:
    """Two seconds become half a second, three become one; that one second becomes none says nothing of these."""
    parts = (("the gap", 40, "other", "host-gaps"), ("rest", 60, "other", None))
    said_by = {key: value for key, value in profile(*parts).items() if key not in ("hio", "name")}
    profiled = item("profile/v1", "perf-1", "manifests/services/lab/tiny/profiles", **said_by)
    asked = replace(ASKED, profile=profiled)
    then = replace(asked, stated=said(host_gap=(0.5e6, 0, 1e6)))
    found = bounded(_seen(asked), Mechanism("less-gap", 6, "need less time", term="host-gaps", then=then))
    assert found is not None and (found.of, found.share.value) == ("profile", 0.4)
    assert found.gain.value == pytest.approx(100 * rate_gained(0.4, 0.75))
    assert found.gain.low < found.gain.value < found.gain.high == 100 * rate_gained(found.share.high)


def test_a_term_that_grows_gains_nothing() -> None:
    seen, then = _seen(ASKED), replace(ASKED, stated=said(host_gap=4e6))
    assert bounded(seen, Mechanism("more-gap", 6, "need more", term="host-gaps", then=then)) is None


def test_without_inputs_after_the_change_only_what_is_said_to_vanish_is_bounded() -> None:
    seen = _seen(ASKED)
    assert bounded(seen, Mechanism("unknown", 6, "do something", term="host-gaps")) is None
    found = bounded(seen, Mechanism("gone", 6, "do without", term="host-gaps", vanishes=True))
    gap = base(next(term.time for term in seen.ledger.terms if term.name == "host-gaps"))
    assert found is not None
    assert found.gain.value == pytest.approx(100 * gap.value / (seen.whole.value - gap.value), rel=1e-12)
