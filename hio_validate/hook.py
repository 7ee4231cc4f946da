"""The calls that hooks make, `hio validate PATH…` and `hio validate --staged [--frozen]`: understood without click.

Importing click is a tenth of such a call. Invariant: whatever else stands there, also one option more, is click's to
understand, and what is understood here means what it means there (tests/test_hook.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Call(NamedTuple):
    """What is to be judged: some paths, the index, or, with neither, all of the repository."""

    paths: tuple[str, ...] = ()
    staged: bool = False
    frozen: bool = False


def call_of(words: Sequence[str]) -> Call | None:
    """The call that these arguments of hio make; None where click must look at them."""
    match words:
        case ["validate", "--staged"]:
            return Call(staged=True)
        case ["validate", "--staged", "--frozen"]:
            return Call(staged=True, frozen=True)
        case ["validate", *paths] if not any(path.startswith("-") for path in paths):
            return Call(tuple(paths))
    return None
