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

`model` as a value says that the model's metadata decide, and is enough: it is named. A seed that is `unknown` is a gate
where something is drawn. Where an arm of a plan speculates, its fixture says `draft` lengths; without, it is an error of
the plan.

How to fix: write every missing field; the complete greedy chain is `{temperature: 0, top_k: 1, repeat_penalty: 1,
presence_penalty: 0, frequency_penalty: 0, dry_multiplier: 0}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import settings_of
from hio_validate.models.fixture import Fixture
from hio_validate.models.plan import Plan
from hio_validate.models.tasks import Tasks
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.settings.setting import Effective
from hio_validate.spelling import nearest

PENALTIES = ("repeat_penalty", "presence_penalty", "frequency_penalty", "dry_multiplier")
_OFF = {"repeat_penalty": 1}
"""What a member is where it does nothing; 0 for all others."""
_WHERE_ON = {
    **dict.fromkeys(PENALTIES[:3], ("repeat_last_n",)),
    "dry_multiplier": ("dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
    "xtc_probability": ("xtc_threshold",),
    "dynatemp_range": ("dynatemp_exponent",),
    "mirostat": ("mirostat_tau", "mirostat_eta"),
}
"""Member -> what else decides a token where it is on."""


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Plan):
        yield from _without_draft(item, item.model, view)
        return
    fixture: Fixture | Tasks = item.model
    missing = [name for name in chain(fixture.sampling) if name not in fixture.sampling]
    if missing:
        near = {nearest(name, fixture.sampling, 0.8): name for name in missing}
        alike = next(
            ((said, name) for said, name in near.items() if said and said not in chain(fixture.sampling)),
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


def chain(sampling: Mapping[str, Any]) -> list[str]:
    """The request fields that decide a token, given what some of them say (tests/lab asks a real engine)."""
    one, cold = _is(sampling, "top_k", 1), _is(sampling, "temperature", 0)
    names = ["temperature", "top_k", *PENALTIES]
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
    return name in sampling and not _is(sampling, name, _OFF.get(name, 0))


def _without_draft(item: Item, plan: Plan, view: View) -> Iterator[Problem]:
    fixture = view.repo.find("fixture/v1", plan.fixture, item.service) if plan.fixture else None
    if fixture is None or fixture.model is None or fixture.model.draft is not None:
        return
    for name, arm in plan.arms.items():
        effective = settings_of(arm, item.service, view.repo, view.settings)
        given = speculation(effective) if effective else None
        if given:
            yield Problem(
                at_key(item, "arms", name),
                f"{name} speculates ({given}), and {plan.fixture} says no draft lengths",
                "add draft: {min: ..., max: ...} to the fixture",
                (("the fixture", at(fixture, "name")),),
            )


def speculation(effective: Effective) -> str | None:
    """The setting by which somebody asked for speculative decoding."""
    return next(
        (
            f"{each.address} {each.shown}"
            for each in effective.settings.values()
            if each.set_by_a_person
            and (each.factor.startswith("spec-") or "draft" in each.factor)
            and each.value not in ("none", "off", "0", "")
        ),
        None,
    )


RULE = Rule(
    "missing-sampling-chain", Scope.DOCUMENT, Severity.ERROR, "a fixture leaves part of its sampling open", check,
    kinds=("fixture/v1", "tasks/v1", "plan/v1"), contract=("4.2",), since=3,
)  # fmt: skip
