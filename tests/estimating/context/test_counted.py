"""Drafting that rows counted: no setting has to say it, and nobody has to state what a run already told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.context.gather import inputs_of
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.history import Folder
from hio_validate.models.estimate import Amount
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.cases.build_campaign import SERVICE
from tests.cases.build_estimate import STACK, THREADS, build_estimated

OTHER_WORDS = STACK.replace("llama-server", "another-server").replace("spec-type", "drafts-by")


def gathered(root: Path, rows: str = THREADS, stack: str = STACK, **stated: Amount) -> Inputs:
    build_estimated(root, rows, stack)
    view = View(load(Folder(root)))
    said = {name.replace("_", "-"): each for name, each in stated.items()}
    return inputs_of(view, SERVICE, "P1", fixture="focused-512", stated=said)


def test_rows_say_how_many_tokens_a_pass_are_drafted_and_accepted(tmp_path: Path) -> None:
    inputs = gathered(tmp_path)
    assert inputs.workload.drafting == "server.spec-type draft-mtp, 1 to 3 tokens a pass"
    assert inputs.counted_by == "rows of batch-threads"
    assert base(inputs.counted["draft-tokens"]).value == pytest.approx(384 / (512 - 381))
    assert base(inputs.counted["acceptance"]).value == pytest.approx(381 / 384)


def test_a_stack_whose_rows_count_drafted_tokens_drafts_whatever_its_engine_calls_it(tmp_path: Path) -> None:
    inputs = gathered(tmp_path, stack=OTHER_WORDS)
    assert inputs.workload.drafting == "2.93 tokens a pass, as rows of batch-threads count"


def test_rows_that_differ_give_an_interval(tmp_path: Path) -> None:
    rows = THREADS.replace("6\tb16\t23.50\t340\t0\t512\t384\t381", "6\tb16\t23.50\t340\t0\t512\t400\t300")
    found = gathered(tmp_path, rows).counted
    assert base(found["acceptance"]).low == pytest.approx(0.75)
    assert base(found["acceptance"]).high == pytest.approx(381 / 384)
    assert base(found["draft-tokens"]).low == pytest.approx(400 / 212)


@pytest.mark.parametrize("counts", ["0\t0", "-\t-", "300\t381", "600\t512"])
def test_rows_that_count_nothing_or_nonsense_tell_nothing(tmp_path: Path, counts: str) -> None:
    inputs = gathered(tmp_path, THREADS.replace("384\t381", counts), OTHER_WORDS)
    assert inputs.workload.drafting is None
    assert inputs.counted == {}


def test_the_ledger_takes_what_was_counted_and_what_is_stated_before_it(tmp_path: Path) -> None:
    rate = Amount(value=60, low=40, high=80, unit="GB/s")
    counted = terms_of(gathered(tmp_path / "counted", memory_read=rate))
    sources = {each.name: each.source for each in counted.assumptions}
    assert sources["draft-tokens"] == sources["acceptance"] == "rows of batch-threads"
    weights = next(term for term in counted.terms if term.name == "weights")
    assert base(weights.work).value == pytest.approx(2.25e9 * 131 / 512)
    one = Amount(value=1, low=1, high=1, unit="1")
    stated = terms_of(gathered(tmp_path / "stated", memory_read=rate, draft_tokens=one, acceptance=one))
    weights = next(term for term in stated.terms if term.name == "weights")
    assert base(weights.work).value == pytest.approx(2.25e9 / 2)
