"""A document that says something its kind does not allow: an unknown, missing or misspelt key, a value of another type.

A key that hio does not know is a sentence that nobody reads: `enviroment:` would leave a whole environment out
of the comparison, and the matrix would look complete. So documents are closed. A missing key or a value of
another type (`8080` where an argument is text, a short hash where a full one belongs) would be filled in by
somebody's guess, and a guess is what the contract rules out (contract 1.5: declared, observed or unknown).

A document that its kind refuses is not judged any further, and nobody who cites it is blamed for it.

How to fix: correct the key or value at that place. The message says what was expected; `hio schema` writes
the JSON Schemas, with which an editor completes and checks while you type.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View


def check(item: Item, view: View) -> Iterator[Problem]:
    for refused in item.refused:
        yield Problem(Place(item.document, refused.path, refused.at_key), refused.message, refused.help)


RULE = Rule(
    "schema-violation", Scope.DOCUMENT, Severity.ERROR, "the document has a key or value its kind does not allow",
    check, suppressible=False,
)  # fmt: skip
