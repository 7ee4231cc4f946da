"""A candidate in the ledger: an opportunity that says it is an estimate."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates import opportunity_of
from hio_validate.estimating.next import next_of
from hio_validate.models.estimate import Estimate
from hio_validate.repo import item_of
from hio_validate.source import read
from hio_validate.source.dump import dump
from tests.estimating.candidates.workbench import STACK, asked, bench, looked
from tests.small_repo import SERVICE, baseline, pin


def estimate(root: Path) -> Estimate:
    inputs = asked(bench(root), measured=100.0)
    ledger = terms_of(inputs)
    bound, candidates = bound_of(ledger, inputs), looked(inputs).candidates
    return Estimate(
        hio="estimate/v1", name="e", service=SERVICE, status="DRAFT", target=inputs.target, path="decode-token",
        workload=inputs.workload, candidates=[*candidates], next=next_of(inputs, ledger, bound, candidates),
    )  # fmt: skip


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_it_completes_an_entry(tmp_path: Path, place: int) -> None:
    found = estimate(tmp_path)
    fields = opportunity_of(found.candidates[place], found)
    written = {
        "hio": "entry/v1", "id": "o1", "service": SERVICE, "kind": "opportunity", "by": "someone",
        "after": [pin("b0", baseline(pinned=pin("base", STACK)))], "at": "2026-01-03T00:00:00Z", **fields,
    }  # fmt: skip
    item = item_of(read(dump(written), f"ledger/{SERVICE}/2026/o1.yaml"))
    assert item.model is not None, item.refused
    assert "estimated" in item.model.benefit and "nothing was measured" in item.model.uncertainty
    assert item.model.factor == found.candidates[place].factor


def test_the_next_test_of_the_first_candidate_is_what_to_type(tmp_path: Path) -> None:
    found = estimate(tmp_path)
    first, second = found.candidates[:2]
    assert opportunity_of(first, found)["next"].startswith(
        "hio plan new --service lab/tiny --stack base --set"
    )
    assert (
        opportunity_of(second, found)["next"]
        == "base against itself with server.model f16 weights -> q8_0 weights"
    )
