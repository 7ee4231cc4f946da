"""A plan whose fixture asks an engine by an endpoint, or in words, that this engine does not read.

vLLM and SGLang have no `/completion`: each leg would end at its first request with HTTP 404. A field of another engine
(`repeat_penalty` asked of vLLM, `repetition_penalty` of llama-server) is worse: it is ignored without a word, and the
fixture says something that nobody did (contract 4.2). Arms of engines that read different requests cannot be asked the
same, so they are no one plan (contract 6.3); vLLM and SGLang are two engines here, too. A plan that a run has pinned is
frozen and not judged.

How to fix: write a fixture in the words of the engine (`hio plan new` begins one); the endpoints are `/completion`,
`/v1/completions` and `/v1/chat/completions` of llama-server, the last two of vLLM and SGLang.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.evidence.dialects import SeveralDialects, dialects_of, one_dialect
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.planned import is_open
from hio_validate.settings.request import Dialect


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.method != "http" or not is_open(item, view):
        return
    dialects = dialects_of(item, view.repo)
    try:
        dialect = one_dialect(dialects)
    except SeveralDialects as error:
        yield Problem(
            at_key(item, "arms"),
            str(error),
            "write a plan for each engine, and compare their runs with hio compare",
        )
        return
    for path, kind, name in _asked(plan) if dialects else ():
        found = view.repo.find(kind, name, item.service)
        if found is not None and found.model is not None:
            yield from _unread(at(item, *path), found, dialect)


def _asked(plan: Plan) -> Iterator[tuple[Path, str, str]]:
    """Where a plan names what is asked, its kind and its name."""
    if plan.fixture:
        yield ("fixture",), "fixture/v1", plan.fixture
    for number, name in enumerate(plan.checks):
        yield ("checks", number), "fixture/v1", name
    if plan.quality is not None:
        yield ("quality", "tasks"), "tasks/v1", plan.quality.tasks


def _unread(place: Place, asked: Item, dialect: Dialect) -> Iterator[Problem]:
    if asked.model.endpoint not in dialect.endpoints:
        yield Problem(
            place,
            f"{asked.name} asks {asked.model.endpoint}, which {dialect.family} does not have",
            f"ask {' or '.join(dialect.endpoints)}",
            (("what is asked", at_key(asked, "endpoint" if "endpoint" in asked.document.data else "name")),),
        )
    unread = dialect.unread(asked.model.sampling)
    if unread:
        yield Problem(
            place,
            f"{asked.name} says {', '.join(unread)}, which {dialect.family} does not read",
            f"it reads {', '.join(sorted(dialect.fields))}",
            (("the chain", at_key(asked, "sampling")),),
        )


RULE = Rule(
    "unread-request", Scope.DOCUMENT, Severity.ERROR, "a fixture asks an engine in words that it does not read", check,
    kinds=("plan/v1",), contract=("4.2", "6.3"), since=6,
)  # fmt: skip
