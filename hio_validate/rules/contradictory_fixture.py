"""A fixture that is no single request, or whose expected result is none.

One fixture is one request, and its bytes decide what is measured: with two prompts nobody knows which one was sent, with
none nothing is asked. `/completion` and `/v1/completions` take a `prompt` or a `file`, `/v1/chat/completions` takes
`messages` (contract 4.2). Draft lengths have a fewest that is no more than the most; an `expect` names what a right
answer contains, or its hash; and an answer with a new nonce in front has no hash that could be known before.

How to fix: say exactly one of `prompt`, `messages` and `file`, the one that the endpoint takes, and correct the rest as
the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.fixture import Fixture
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

_FORMS = ("prompt", "messages", "file")


def check(item: Item, view: View) -> Iterator[Problem]:
    fixture: Fixture = item.model
    said = [form for form in _FORMS if getattr(fixture, form) is not None]
    takes = ("messages",) if fixture.endpoint == "/v1/chat/completions" else ("prompt", "file")
    if len(said) != 1:
        found = " and ".join(said) or "none of them"
        yield Problem(
            at(item, said[-1]) if said else at_key(item, "name"),
            f"a fixture says one of prompt, messages and file; this one says {found}",
            f"{fixture.endpoint} takes {' or '.join(takes)}",
        )
    elif said[0] not in takes:
        yield Problem(
            at(item, "endpoint"),
            f"{fixture.endpoint} takes {' or '.join(takes)}, not {said[0]}",
            "change one of them",
        )
    if fixture.draft and fixture.draft.min > fixture.draft.max:
        yield Problem(
            at(item, "draft", "min"),
            f"at least {fixture.draft.min} drafted tokens, and at most {fixture.draft.max}",
            "let min be no more than max",
        )
    yield from _expected(item, fixture)


def _expected(item: Item, fixture: Fixture) -> Iterator[Problem]:
    expect = fixture.expect
    if expect is not None and not expect.contains and expect.content_sha256 is None:
        yield Problem(
            at_key(item, "expect"),
            "this expects nothing of the answer",
            "add contains: [...] or content_sha256:",
        )
    if expect is not None and expect.content_sha256 and fixture.nonce == "each-request":
        yield Problem(
            at(item, "expect", "content_sha256"),
            "each request has a new nonce, so nobody can know the hash of its answer",
            "expect contains: [...], or write nonce: none",
        )


RULE = Rule(
    "contradictory-fixture", Scope.DOCUMENT, Severity.ERROR, "a fixture is no single request", check,
    kinds=("fixture/v1",), contract=("4.2",), since=3,
)  # fmt: skip
