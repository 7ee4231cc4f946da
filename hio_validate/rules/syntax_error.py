"""A file that is not one well-formed YAML document in UTF-8 with LF line ends.

What cannot be read cannot be checked: the settings of that stack would be missing from every comparison, and
nothing may pass because nobody looked. Two documents in one file, a tag, a tab or an invisible character are
read differently by different tools, so the text that was reviewed would not be the text that is served.

Line ends count too: a digest is the SHA-256 of the bytes (contract 1.4), and CRLF on one machine and LF on
another are two digests of one document. Raw evidence (rows, logs, help texts) is not read as YAML and keeps
its bytes as they are.

How to fix: go to the line and column. Quote a value that holds ": " or " #", indent with spaces, keep one
document per file, save as UTF-8 with LF. The first fault hides the ones after it; check again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View
from hio_validate.rules.faults import of_rule


def check(item: Item, view: View) -> Iterator[Problem]:
    return of_rule(item, "syntax-error")


RULE = Rule(
    "syntax-error", Scope.DOCUMENT, Severity.ERROR, "the file is not one readable YAML document", check,
    contract=("1.4",), suppressible=False,
)  # fmt: skip
