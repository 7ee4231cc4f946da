"""Work that follows from shape and workload alone is the ledger's, whatever prices it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.bounds.unpriced import work_of
from tests.estimating.bounds.questions import HERE, KERNELS, LARGE, OWN, QUESTIONS, SMALL
from tests.estimating.workloads import inputs


def _close(one: Interval, other: Interval) -> bool:
    ends = [(getattr(one, end), getattr(other, end)) for end in ("value", "low", "high")]
    return all(mine == pytest.approx(theirs) for mine, theirs in ends)


@pytest.mark.parametrize("name", [name for name, asked in QUESTIONS.items() if asked.ceilings == (HERE,)])
def test_where_rates_only_price_it_is_the_work_of_the_ledger(name: str) -> None:
    asked = QUESTIONS[name]
    given = work_of(asked)
    terms = {term.name: base(term.work) for term in terms_of(asked).terms if term.name in given}
    assert terms.keys() == given.keys()
    assert all(_close(work, terms[each]) for each, work in given.items())
    assert work_of(replace(asked, ceilings=())) == given, "no rate has a say"


def test_what_kernels_hold_of_other_terms_is_in_their_work() -> None:
    """Measured kernels take products into the rate of reading: the plain count has all of them."""
    asked = inputs("decode-token", "decode_tps", shape=SMALL, **OWN)
    own = {term.name: base(term.work) for term in terms_of(asked).terms}
    plain = work_of(asked)
    assert asked.ceilings == (KERNELS,) and plain["compute"].value > own["compute"].value
    assert plain["weights"] == own["weights"]


def test_all_devices_have_what_each_has_so_many_times() -> None:
    asked = inputs(shape=LARGE, devices=8)
    assert work_of(asked, of_all=True)["weights"].value == 8 * work_of(asked)["weights"].value == 70e9


def test_without_lengths_or_a_shape_nothing_follows() -> None:
    assert work_of(inputs("prefill-token", "prefill_tps", shape=SMALL)) == {}
    assert work_of(inputs("decode-token", "decode_tps")) == {}
