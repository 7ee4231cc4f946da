"""Fixtures as requests in the words of the arms' engine (settings/request.py), the same for every leg and arm.

Invariant: a request says what its fixture says and what the plan says of the cache, and nothing that a server
would decide otherwise for one arm. A nonce depends on the plan and on the number of the request only, so that
both arms are asked the same, and no request repeats the prompt of another one of its leg.
"""

from __future__ import annotations

import hashlib
from typing import Any

from hio_validate.evidence.dialects import SeveralDialects, dialects_of, one_dialect
from hio_validate.execute.work import Question
from hio_validate.models.fixture import Fixture
from hio_validate.models.plan import Plan
from hio_validate.repo import Item, Repo, joined
from hio_validate.settings.request import Dialect
from hio_validate.source import digest_of

NONCE_CHARACTERS = 16


class NotAskable(Exception):
    """A fixture that cannot be asked; says why and what to do."""


def questions(plan: Item, repo: Repo) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """The requests of every leg (checks, warm-up, measured) and the pins of their fixtures. Raises NotAskable."""
    model: Plan = plan.model
    if model.fixture is None or model.requests is None:
        raise NotAskable(
            f"{plan.name} measures over http and names no fixture or no requests: add fixture and requests"
        )
    words = dialect(plan, repo)
    measured = _fixture(model.fixture, plan, repo)
    checks = [_fixture(name, plan, repo) for name in model.checks]
    if model.cache == "warm" and measured.model.nonce == "each-request":
        raise NotAskable(
            f"the plan wants a warm cache, and a nonce in front of each request of {measured.name} leaves nothing to "
            "reuse: say nonce none, or cache cold"
        )
    asked = [("check", each) for each in checks]
    asked += [("warm-up", measured)] * model.requests.warm_up
    asked += [("measured", measured)] * model.requests.measured
    made = tuple(
        _question(phase, fixture, repo, nonce(plan.document.digest, number), words, model.cache == "warm")
        for number, (phase, fixture) in enumerate(asked, 1)
    )
    named = dict.fromkeys((model.fixture, *model.checks))
    pins = [f"{name}@{_fixture(name, plan, repo).document.digest}" for name in named]
    return made, tuple(pins)


def dialect(plan: Item, repo: Repo) -> Dialect:
    """In whose words every arm of a plan is asked. Raises NotAskable where that differs, or could not be kept cold."""
    try:
        words = one_dialect(dialects_of(plan, repo))
    except SeveralDialects as error:
        raise NotAskable(
            f"in {plan.name} {error}: write a plan for each engine, and compare their runs with hio compare"
        ) from None
    if words.salts_cache and plan.model.cache == "cold" and plan.model.restart == "never":
        raise NotAskable(
            f"{plan.name} keeps its server between legs (restart: never) and wants a cold cache, and a request cannot "
            f"tell {words.family} to forget what the leg before asked: write restart: every-leg"
        )
    return words


def nonce(plan: str, request: int) -> str:
    """Text of a fixed length for one request of a plan, known by its digest."""
    return hashlib.sha256(f"{plan} {request}".encode()).hexdigest()[:NONCE_CHARACTERS]


def _fixture(name: str, plan: Item, repo: Repo) -> Item:
    item = repo.find("fixture/v1", name, plan.service)
    if item is None or item.model is None:
        raise NotAskable(
            f"no readable fixture of {plan.service} is called {name}: write it, or correct the name"
        )
    return item


def _question(phase: str, item: Item, repo: Repo, new: str, words: Dialect, warm: bool) -> Question:
    fixture: Fixture = item.model
    _refuse_other_words(item, fixture, words)
    front = f"[{new}] " if fixture.nonce == "each-request" else ""
    expected = fixture.expect
    budget = {**words.budget(fixture.endpoint, fixture.max_tokens), "ignore_eos": fixture.ignore_eos}
    how = words.streamed(fixture.endpoint, warm, new)
    return Question(
        phase=phase,
        fixture=item.name,
        endpoint=fixture.endpoint,
        body={**_asked(item, repo, front), **_sampling(fixture, words), **budget, **how},
        contains=tuple(expected.contains) if expected else (),
        content_sha256=expected.content_sha256 if expected else None,
        nonce=front,
    )


def _refuse_other_words(item: Item, fixture: Fixture, words: Dialect) -> None:
    """A request that this engine would answer with 404, or read only in part, is not sent. Raises NotAskable."""
    if fixture.endpoint not in words.endpoints:
        raise NotAskable(
            f"the fixture {item.name} asks {fixture.endpoint}, which {words.family} does not have: "
            f"it has {' and '.join(words.endpoints)}; write a fixture that asks one of them"
        )
    unread = words.unread(fixture.sampling)
    if unread:
        raise NotAskable(
            f"the fixture {item.name} says {', '.join(unread)}, which {words.family} does not read: "
            f"it reads {', '.join(sorted(words.fields))}; write a fixture in its words"
        )


def _asked(item: Item, repo: Repo, front: str) -> dict[str, Any]:
    fixture: Fixture = item.model
    is_chat = fixture.endpoint == "/v1/chat/completions"
    said = [each for each in (fixture.prompt, fixture.messages, fixture.file) if each is not None]
    if len(said) != 1 or is_chat != (fixture.messages is not None):
        expected = (
            "messages, and only a chat endpoint" if is_chat else "either prompt or file, and no messages"
        )
        raise NotAskable(f"the fixture {item.name} asks {fixture.endpoint}: expected {expected}")
    if fixture.messages is not None:
        turns = [{"role": each.role, "content": each.content} for each in fixture.messages]
        turns[0] = {**turns[0], "content": front + turns[0]["content"]}
        return {"messages": turns}
    return {"prompt": front + (fixture.prompt if fixture.prompt is not None else _text(item, repo))}


def _text(item: Item, repo: Repo) -> str:
    file = item.model.file
    raw = repo.bytes_of(joined(item.file, file.file))
    if raw is None or digest_of(raw) != f"sha256:{file.sha256}":
        found = "is not there" if raw is None else "has other bytes than the fixture says"
        raise NotAskable(
            f"the prompt of the fixture {item.name}, {file.file}, {found}: restore it, or write a new fixture"
        )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise NotAskable(
            f"the prompt of the fixture {item.name}, {file.file}, is not UTF-8: expected text"
        ) from None


def _sampling(fixture: Fixture, words: Dialect) -> dict[str, Any]:
    """The chain as the fixture says it; what `model` says is left to the model's metadata."""
    said: dict[str, Any] = {name: value for name, value in fixture.sampling.items() if value != "model"}
    if fixture.seed != "unknown":
        said["seed"] = fixture.seed
    if fixture.draft is not None and words.drafts_by_request:
        said |= {"speculative.n_min": fixture.draft.min, "speculative.n_max": fixture.draft.max}
    return said
