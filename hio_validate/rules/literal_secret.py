"""A secret's value stands in a stack or a site.

What is committed is read by everybody who can read the repository, now and in its history, and no later commit
takes it back (contract 1.8). A secret is told by its class in the engine's family (`--api-key`), by a name that says
so (`HF_TOKEN`), or by its looks (`hf_...`, `sk-...`, a URL with a password). Its value is shown in no report.

How to fix: change the secret where it is used, for this one has leaked. Then write a reference in its place,
`${secret:api-key}`, and let the site say where it is kept: `secrets: {api-key: /etc/keys/gemma}`. Where the engine
reads a secret from a file, giving that file is as good.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at

_HELP = (
    "change the secret, and write ${secret:NAME} here; the site says where it is kept (secrets: {NAME: ...})"
)


def check(item: Item, view: View) -> Iterator[Problem]:
    for each in view.secrets(item):
        yield Problem(at(item, *each.path), f"{each.name} states a secret; expected a reference to it", _HELP)


RULE = Rule(
    "literal-secret", Scope.DOCUMENT, Severity.ERROR, "a document states the value of a secret", check,
    kinds=("stack/v1", "site/v1"), contract=("1.8",), since=2, suppressible=False,
)  # fmt: skip
