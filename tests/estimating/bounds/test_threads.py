"""Passes of one token and passes of several have threads of their own."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import Ledger, bound_of, terms_of
from hio_validate.models.estimate import Term
from tests.estimating.bounds.test_ledger import SMALL
from tests.estimating.workloads import ceilings, inputs, rate, said

BY_THREADS = ceilings(
    "box",
    {
        "memory-1": rate("memory-read", 1000.0, "B/s", threads=1),
        "memory-4": rate("memory-read", 3000.0, "B/s", threads=4),
        "f32-1": rate("matmul", 1.0, "MFLOP/s", threads=1, dtype="f32"),
        "f32-4": rate("matmul", 4.0, "MFLOP/s", threads=4, dtype="f32"),
        "http": rate("http-round-trip", 3.0, "ms"),
    },
)
USUAL: dict[str, Any] = {
    "shape": SMALL, "ceilings": (BY_THREADS,), "prompt_tokens": 100, "generated_tokens": 8, "microbatch": 64,
    "key_type": "f16", "value_type": "f16",
}  # fmt: skip
MEMORY = ("weights", "kv-read", "kv-write")


def ledger(path: str, metric: str, one: int, several: int, **more: Any) -> Ledger:
    return terms_of(inputs(path, metric, **{**USUAL, "threads": one, "batch_threads": several, **more}))


def term(found: Ledger, name: str) -> Term:
    return next(each for each in found.terms if each.name == name)


@pytest.mark.parametrize("name", [*MEMORY, "compute"])
@pytest.mark.parametrize(("path", "metric"), [("decode-token", "tpot_ms"), ("request", "ttft_ms")])
def test_each_path_goes_by_the_threads_of_its_passes(path: str, metric: str, name: str) -> None:
    mixed, same = (
        ledger(path, metric, 4, 1),
        ledger(path, metric, *((4, 4) if path == "decode-token" else (1, 1))),
    )
    assert term(mixed, name).time == term(same, name).time


@pytest.mark.parametrize("name", [*MEMORY, "compute"])
def test_a_whole_request_has_passes_of_both_kinds(name: str) -> None:
    """Its prompt by the threads of several tokens, each token of its answer by those of one."""
    whole = base(term(ledger("request", "wall_s", 4, 1), name).time)
    first = base(term(ledger("request", "ttft_ms", 4, 1), name).time)
    answer = base(term(ledger("decode-token", "tpot_ms", 4, 1), name).time) * 7.0
    added = first + answer
    assert whole.value == pytest.approx(added.value)
    assert added.low * 0.99 <= whole.low <= added.low * (1 + 1e-9)
    assert added.high * (1 - 1e-9) <= whole.high <= added.high * 1.01


def test_a_prompt_of_one_token_is_a_pass_of_one() -> None:
    """llama.cpp takes n_threads for it, and for a last pass that one token is left for."""
    alone = ledger("request", "ttft_ms", 4, 1, prompt_tokens=1)
    assert term(alone, "weights").cost.rate == "memory-4"
    left, whole = (ledger("request", "ttft_ms", 4, 1, prompt_tokens=each) for each in (65, 64))
    assert "memory-4" in (term(left, "weights").cost.assumed or "")
    assert term(whole, "weights").cost.rate == "memory-1"


@pytest.mark.parametrize(
    ("more", "rate_"),
    [
        ({"concurrency": 4}, None),
        ({"drafting": "mtp", "stated": said(draft_tokens=3, acceptance=0.5)}, "memory-1"),
        ({"drafting": "ngram", "stated": said(draft_tokens=(1.5, 0, 3), acceptance=0.5)}, None),
    ],
)
def test_passes_of_several_tokens_decode_with_their_threads(more: dict[str, Any], rate_: str | None) -> None:
    """Four requests or drafted tokens together; where a pass may have one token alone, either may be."""
    found = base(term(ledger("decode-token", "tpot_ms", 4, 1, **more), "weights").cost.amount)
    assert found == (Interval.exact(1000.0) if rate_ else Interval(1000.0, 1000.0, 3000.0))


def test_threads_that_nobody_knows_are_not_those_of_other_passes() -> None:
    """The most that any threads reached: the bound stays one."""
    found = base(term(ledger("request", "ttft_ms", 1, None), "weights").cost.amount)  # type: ignore[arg-type]
    assert found.high == 3000.0


def test_a_request_goes_by_what_its_decode_passes_measured() -> None:
    """The engine's own kernel of one vector is the price of the answer's passes, on every path."""
    kernels = ceilings(
        "kernels",
        {name: rate("matvec", 500.0, "B/s", threads=4, dtype=name) for name in ("f16", "q4_K")},
    )
    both = {"ceilings": (BY_THREADS, kernels)}
    whole = inputs(
        "request", "wall_s", **{**USUAL, "threads": 4, "batch_threads": 4, **both, "generated_tokens": 800}
    )
    found = terms_of(whole)
    assert (
        term(found, "weights").resource == "compute"
    )  # most of its time is the kernels', below what memory gives
    one = inputs("decode-token", "tpot_ms", **{**USUAL, "threads": 4, **both, "generated_tokens": 800})
    bound, each = bound_of(found, whole), bound_of(terms_of(one), one)
    assert bound and each and base(bound.time).low >= 799 * 0.99 * base(each.time).low
