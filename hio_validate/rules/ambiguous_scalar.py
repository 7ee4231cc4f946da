"""An unquoted word that some readers take for another value: a hash prefix, a leading zero, too many digits.

`revision: 53190e7` is a commit to whoever wrote it and a number with seven zeros to many YAML readers; `0100`
is 64, 100 or text; and of an integer beyond 2^53 most tools lose the last digits. Whoever checks the document
with another tool then sees another value than the one that was reviewed, so hio refuses to choose (contract
1.4).

`on`, `off`, `yes`, `no`, `1_000` and `12:30:45` are plain text here and need no quotes.

How to fix: put the word in quotes where it is a name or a hash; write the number the way the message shows
where it is a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View
from hio_validate.rules.faults import of_rule


def check(item: Item, view: View) -> Iterator[Problem]:
    return of_rule(item, "ambiguous-scalar")


RULE = Rule(
    "ambiguous-scalar", Scope.DOCUMENT, Severity.ERROR, "an unquoted word that readers understand differently",
    check, contract=("1.4",), suppressible=False,
)  # fmt: skip
