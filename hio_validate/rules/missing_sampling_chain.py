"""A fixture or a task set that leaves part of its sampling to whatever the engine or the model prefers.

What a request does not say, the build or the model's metadata decide, and both change: a new build moves a default, a
new GGUF file brings its own `top_k`, and two runs of one fixture sample differently (contract 4.2). The chain is the
request fields of llama-server that can change a token, given what the others say:

- always `temperature`, `top_k`, and the penalties `repeat_penalty`, `presence_penalty`, `frequency_penalty`,
  `dry_multiplier`: they change the order of the candidates even where the likeliest one is taken; a penalty that is on
  needs how far it looks back (`repeat_last_n`; `dry_base`, `dry_allowed_length`, `dry_penalty_last_n`,
  `dry_sequence_breakers`);
- unless `top_k` is 1, which leaves one candidate: `typical_p`, `xtc_probability` and `dynatemp_range`, which can take the
  likeliest token away or undo a temperature of 0, with `xtc_threshold` and `dynatemp_exponent` where they are on;
- unless `temperature` is 0: `mirostat`, which ignores `top_k` (with its `_tau` and `_eta` where it is on); and unless `top_k` is 1: `top_p`, `min_p`, `top_n_sigma`
  and the order `samplers`, which never touch the likeliest token, only the others.

Where all stacks of the service are of vLLM or SGLang, it is their chain: `temperature`, `repetition_penalty`,
`presence_penalty`, `frequency_penalty`, and unless `temperature` is 0 or `top_k` is 1 also `top_p`, `top_k`, `min_p`.

`model` as a value says that the model's metadata decide, and is enough: it is named. A seed that is `unknown` is a gate
where something is drawn. Where an arm of a plan speculates, how many tokens are drafted is said, too; without, it is an
error of the plan. llama-server reads that from the request (`draft` of the fixture), vLLM and SGLang from their settings
(`num_speculative_tokens` of `--speculative-config`, `--speculative-num-draft-tokens`); where these say nothing, the engine
chooses, which is a gate.

How to fix: write every missing field; the complete greedy chain is `{temperature: 0, top_k: 1, repeat_penalty: 1,
presence_penalty: 0, frequency_penalty: 0, dry_multiplier: 0}`, of vLLM and SGLang `{temperature: 0, top_k: 1,
repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import settings_of
from hio_validate.evidence.dialects import dialects_of, engine_of
from hio_validate.models.fixture import Fixture
from hio_validate.models.plan import Plan
from hio_validate.models.tasks import Tasks
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.settings.drafting import most_drafted, speculation
from hio_validate.settings.request import DIALECTS, LLAMA, OFF, Dialect
from hio_validate.spelling import nearest

_WHERE_ON = {
    **dict.fromkeys(("repeat_penalty", "presence_penalty", "frequency_penalty"), ("repeat_last_n",)),
    "dry_multiplier": ("dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
    "xtc_probability": ("xtc_threshold",),
    "dynatemp_range": ("dynatemp_exponent",),
    "mirostat": ("mirostat_tau", "mirostat_eta"),
}
"""Member -> what else decides a token where it is on; of llama-server, the others' penalties look back at everything."""


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Plan):
        yield from _without_draft(item, item.model, view)
        return
    fixture: Fixture | Tasks = item.model
    chains = [chain(fixture.sampling, each) for each in _dialects(item, fixture, view)]
    needed, missing = min(
        ((each, [name for name in each if name not in fixture.sampling]) for each in chains),
        key=lambda found: len(found[1]),
    )
    if missing:
        near = {nearest(name, fixture.sampling, 0.8): name for name in missing}
        alike = next(
            ((said, name) for said, name in near.items() if said and said not in needed),
            None,
        )
        yield Problem(
            at_key(item, "sampling"),
            f"the sampling chain is not complete: {', '.join(missing)} would come from the engine or the model",
            f"did you mean {alike[1]} by {alike[0]}?"
            if alike
            else "write each one; model names what the model's metadata decide",
        )
    if fixture.seed == "unknown" and not is_greedy(fixture.sampling):
        yield Problem(
            at(item, "seed"),
            "tokens are drawn with a seed that nobody knows, so no answer can be reproduced",
            "give a seed, or take the likeliest token: temperature: 0, top_k: 1",
            severity=Severity.GATE,
        )


def _dialects(item: Item, fixture: Fixture | Tasks, view: View) -> list[Dialect]:
    """How the engines of the service are asked that have the endpoint: a fixture is complete for one of them."""
    stacks = (each for each in view.repo.of("stack/v1") if each.service == item.service)
    engines = {engine_of(each) for each in stacks if each.model is not None} - {None}
    known = [dialect for family, dialect in DIALECTS.items() if family in engines]
    return [each for each in known if fixture.endpoint in each.endpoints] or [DIALECTS[LLAMA]]


def chain(sampling: Mapping[str, Any], dialect: Dialect = DIALECTS[LLAMA]) -> list[str]:
    """The request fields that decide a token, given what some of them say (tests/lab asks a real engine)."""
    one, cold = _is(sampling, "top_k", 1), _is(sampling, "temperature", 0)
    if dialect.takes_likeliest_by_either:
        drawn = [] if one or cold else ["top_p", "top_k", "min_p"]
        return ["temperature", *dialect.penalties, *drawn]
    names = ["temperature", "top_k", *dialect.penalties]
    names += [] if one else ["typical_p", "xtc_probability", "dynatemp_range"]
    names += [] if cold else ["mirostat"]
    names += [] if one or cold else ["top_p", "min_p", "top_n_sigma", "samplers"]
    needed = (more for name in names if _is_on(sampling, name) for more in _WHERE_ON.get(name, ()))
    return list(dict.fromkeys([*names, *needed]))


def is_greedy(sampling: Mapping[str, Any]) -> bool:
    """Whether one token only can follow, so that no seed matters."""
    one, cold = _is(sampling, "top_k", 1), _is(sampling, "temperature", 0)
    if one:
        return cold or _is(sampling, "mirostat", 0)
    return cold and _is(sampling, "xtc_probability", 0) and _is(sampling, "dynatemp_range", 0)


def _is(sampling: Mapping[str, Any], name: str, value: int) -> bool:
    said = sampling.get(name)
    return isinstance(said, int | float) and not isinstance(said, bool) and said == value


def _is_on(sampling: Mapping[str, Any], name: str) -> bool:
    """Whether a member is given and does something, or may: the model decides."""
    return name in sampling and not _is(sampling, name, OFF.get(name, 0))


def _without_draft(item: Item, plan: Plan, view: View) -> Iterator[Problem]:
    fixture = view.repo.find("fixture/v1", plan.fixture, item.service) if plan.fixture else None
    if fixture is None or fixture.model is None:
        return
    dialects = dialects_of(item, view.repo)
    for name, arm in plan.arms.items():
        effective = settings_of(arm, item.service, view.repo, view.settings)
        given = speculation(effective) if effective else None
        dialect = dialects.get(name, DIALECTS[LLAMA])
        if effective is None or given is None:
            continue
        if not dialect.drafts_by_request:
            yield from _by_its_settings(item, name, given, most_drafted(effective), fixture, dialect)
        elif fixture.model.draft is None:
            yield Problem(
                at_key(item, "arms", name),
                f"{name} speculates ({given}), and {plan.fixture} says no draft lengths",
                "add draft: {min: ..., max: ...} to the fixture",
                (("the fixture", at(fixture, "name")),),
            )


_SAYS_LENGTHS = {
    "vllm": "write num_speculative_tokens into speculative-config",
    "sglang": "set speculative-num-draft-tokens",
}


def _by_its_settings(
    item: Item, arm: str, given: str, most: int | None, fixture: Item, dialect: Dialect
) -> Iterator[Problem]:
    """What an arm's settings do not say of its draft lengths, or otherwise than a fixture that it does not read."""
    said = fixture.model.draft
    reads = f"{dialect.family} reads draft lengths from its settings, never from a request"
    if most is None:
        yield Problem(
            at_key(item, "arms", arm),
            f"{arm} speculates ({given}), and its settings do not say how many tokens it drafts",
            f"{_SAYS_LENGTHS.get(dialect.family, 'set the number')}: {reads}",
            severity=Severity.GATE,
        )
    elif said is not None and said.max != most:
        yield Problem(
            at_key(item, "arms", arm),
            f"{arm} drafts at most {most} tokens ({given}), and {fixture.name} says {said.max}",
            f"take draft: out of the fixture: {reads}",
            (("the fixture", at(fixture, "draft")),),
        )


RULE = Rule(
    "missing-sampling-chain", Scope.DOCUMENT, Severity.ERROR, "a fixture leaves part of its sampling open", check,
    kinds=("fixture/v1", "tasks/v1", "plan/v1"), contract=("4.2",), since=3,
)  # fmt: skip
