"""Which threads are proposed: those of the passes that have the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.candidates import LookedAt
from hio_validate.models.estimate import Candidate
from tests.estimating.candidates.workbench import STACK, asked, bench, looked
from tests.estimating.tiny import CEILINGS, changed, put
from tests.small_repo import ROOM, write

LONG_ANSWER = {"prompt-tokens": 8.0, "generated-tokens": 64.0}
DIVIDED = STACK.replace('["--threads", "1"]', '["--threads", "1"]\n      - ["--threads-batch", "1"]')
assert DIVIDED != STACK


@pytest.mark.parametrize(("acceptance", "at_most"), [(1.0, 300.0), (0.5, 150.0), (0.1, 30.0)])
def test_drafting_gains_no_more_than_the_tokens_that_a_pass_yields(
    tmp_path: Path, acceptance: float, at_most: float
) -> None:
    """Three drafted tokens: a pass with several is never cheaper than one with one, whatever two kinds of rates say."""
    bench(tmp_path)
    ceilings = changed(CEILINGS)
    ceilings["rates"]["one"] = {
        "quantity": "matvec", "value": 5.0, "unit": "MB/s", "threads": 1, "vectors": 1, "dtype": "f16",
        "method": "products",
    }  # fmt: skip
    ceilings["rates"]["matmul-f32-1"] |= {"value": 1000.0, "low": 900.0, "high": 1100.0}
    del ceilings["rates"]["matmul-f32-1"]["samples"]
    put(tmp_path, ceilings)
    stated = {**LONG_ANSWER, "draft-tokens": 3.0, "acceptance": acceptance}
    (drafting,) = (
        each for each in looked(asked(tmp_path, stated=stated)).candidates if each.name.startswith("draft-")
    )
    assert drafting.gain_percent.value == pytest.approx(at_most, rel=0.01)
    assert drafting.gain_percent.high <= at_most + 1e-6
    assert "none of the drafted tokens is accepted" in drafting.stop_if


def of_threads(root: Path, stack: str, metric: str) -> tuple[LookedAt, dict[str, Candidate]]:
    bench(root)
    write(root, {f"{ROOM}/stacks/base.yaml": stack})
    found = looked(asked(root, metric, stated=LONG_ANSWER))
    return found, {each.name: each for each in found.candidates if "threads" in (each.factor or "")}


def test_a_request_that_decodes_most_of_its_time_gets_threads_of_decode(tmp_path: Path) -> None:
    _, found = of_threads(tmp_path, DIVIDED, "wall_s")
    first, *_ = found.values()
    assert (first.factor, first.change) == ("server.threads", "1 -> 2")
    assert first.gain_percent.value > 30
    assert all(each.gain_percent.value < 10 for each in found.values() if each.factor != first.factor)


@pytest.mark.parametrize("stack", [STACK, DIVIDED])
def test_a_token_of_an_answer_gets_threads_of_decode(tmp_path: Path, stack: str) -> None:
    _, found = of_threads(tmp_path, stack, "decode_tps")
    assert {each.factor for each in found.values()} == {"server.threads"}
