"""An input of a campaign that only holds a place: TODO, `<model>`, `${IMAGE}`, a template's default, a moving tag.

A template that was filled in halfway passes every check of form and runs somebody's example. Contract 10.1: placeholders
and template defaults are refused, in every text of the campaign. A revision or digest of one repeated digit, or of
nothing at all (the hash of the empty file), is one, too; so is the tag `latest`, which names another thing tomorrow.

How to fix: write what is really meant; where it is not known yet, the campaign is not ready to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.known_good.agreement import is_placeholder
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.texts import texts

_TEMPLATE = re.compile(
    r"\$\{|\{\{|<[A-Za-z][^<>]*>|(?<![a-z])(change[-_ ]?me|replace[-_ ]?(me|this)|fill[-_ ]?(me|this)[-_ ]?in|place[-_ ]?holder"
    r"|your[-_ ][a-z]+|my[-_ ](model|org|cluster|image|namespace)|path/to/|example\.(com|org|net)|org/model)|:latest$",
    re.IGNORECASE,
)
_EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_HEX = re.compile(r"(?:sha256:)?([0-9a-f]{40}|[0-9a-f]{64})")
_FREE = ("hardware", "place", "question", "file", "name", "family", "by", "needed", "regime", "publish")
"""Keys whose texts people write; names that the schema restricts may well be one letter long."""


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, text in texts(item.document.data):
        if path and _holds_a_place(path, text):
            yield Problem(
                at(item, *path),
                f"{_name(path)} is {text!r}, which only holds a place",
                "write what is really meant, or wait until it is known",
            )


def _holds_a_place(path: Path, text: str) -> bool:
    digest = _HEX.fullmatch(text)
    if digest:
        return len(set(digest[1])) == 1 or digest[1] == _EMPTY
    if text.upper().startswith(("TODO", "FIXME", "TBD")) or _TEMPLATE.search(text):
        return True
    key = next((str(each) for each in reversed(path) if isinstance(each, str)), "")
    return key in _FREE and path != ("name",) and is_placeholder(text)


def _name(path: Path) -> str:
    return ".".join(map(str, path))


RULE = Rule(
    "placeholder-campaign-input", Scope.DOCUMENT, Severity.ERROR, "an input of a campaign only holds a place", check,
    kinds=("campaign/v1",), contract=("10.1",), since=5,
)  # fmt: skip
