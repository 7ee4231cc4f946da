"""That nobody changes what hio's arithmetic gives and leaves its version: ledgers of small questions, pinned as a page.

The page holds what a kept estimate is computed again by, with six digits: no words and no order.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from hio_validate.estimating.bounds.arithmetic import ARITHMETIC
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.bounds.memory import memory_of
from hio_validate.models.estimate import Amount
from tests.estimating.bounds.questions import QUESTIONS

PAGE = Path(__file__).with_name(f"arithmetic-{ARITHMETIC}.txt")
DIGESTS = {1: "fafa3f188956492a936586f42a63123ea58f6e7b52692affd4dd4da6fb5a335f"}
"""Arithmetic -> SHA-256 of its page. A new arithmetic adds one; one is changed only by a question that is added to its page."""


def _told(amount: Amount | None) -> str:
    """Three numbers of six digits; the last one may be rounded otherwise on another machine."""
    return "-" if amount is None else f"{amount.value:.6g} {amount.low:.6g} {amount.high:.6g} {amount.unit}"


def _lines() -> Iterator[str]:
    for name, asked in QUESTIONS.items():
        ledger = terms_of(asked)
        bound = bound_of(ledger, asked)
        yield f"== {name}"
        for term in sorted(ledger.terms, key=lambda each: each.name):
            yield f"{term.name}: {_told(term.work)} | {_told(term.cost.amount)} | {_told(term.fixed)}"
        if held := memory_of(asked):
            parts = "; ".join(f"{part.name} {_told(part.amount)}" for part in held.parts)
            yield f"memory of {held.per}: {parts}; {_told(held.needed)}"
        yield f"groups: {sorted(sorted(group) for group in ledger.groups)}"
        yield f"bound: {_told(bound.time if bound else None)} | {_told(bound.metric if bound else None)}"


TO_DO = (
    "hio's arithmetic gives something else than arithmetic {now}. Where that is not meant, the change is wrong. Where it is, "
    "kept estimates must not become errors: raise ARITHMETIC in hio_validate/estimating/bounds/arithmetic.py to {next}, write "
    "the lines below as tests/estimating/bounds/arithmetic-{next}.txt in place of arithmetic-{now}.txt, add its SHA-256 to "
    "DIGESTS, and say in CHANGELOG.md what is computed otherwise.\n{different}\n\nall lines:\n{whole}"
)


def test_another_arithmetic_has_another_version() -> None:
    now = "".join(f"{line}\n" for line in _lines())
    pinned = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    different = "\n".join(
        difflib.unified_diff(pinned.splitlines(), now.splitlines(), PAGE.name, "now", "", "", 0, "")
    )
    assert now == pinned, TO_DO.format(now=ARITHMETIC, next=ARITHMETIC + 1, different=different, whole=now)


def test_the_page_of_an_arithmetic_keeps_its_lines() -> None:
    assert max(DIGESTS) == ARITHMETIC, "a new arithmetic pins its page in DIGESTS"
    assert sha256(PAGE.read_bytes()).hexdigest() == DIGESTS[ARITHMETIC], (
        f"{PAGE.name} was changed: what arithmetic {ARITHMETIC} gives is fixed, and other numbers are arithmetic {ARITHMETIC + 1}; "
        "only where a question was added and no line went is its SHA-256 written anew"
    )
