"""A commit that adds a decision, an approval or a deployment and is not signed by an allowed signer.

Anybody who can write to a repository can commit under any name. Where you keep an allowed-signers file of ssh, the
signature says who really decided, approved and deployed (contract 5.1, 8.2). Asked for with `hio audit --signers
FILE` only; ssh keys in that file count, no others.

How to fix: have the person confirm it in a further, signed entry (`git commit -S`), or add the key to the signers
file where it was merely missing, with `valid-after` and `valid-before` where keys change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.rules.base import Problem, Rule, Scope
from hio_validate.rules.faults import in_history


def check(found: Sequence[Diagnostic]) -> Iterator[Problem]:
    return in_history(found, "unsigned-decision")


RULE = Rule(
    "unsigned-decision", Scope.HISTORY, Severity.ERROR, "a decision was committed without an allowed signature", check,
    contract=("5.1", "8.2",), since=2, suppressible=False,
)  # fmt: skip
