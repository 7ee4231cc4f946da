"""All that an estimate follows from, gathered once from the documents of a repository.

Invariant: what is not known is absent and said in `missing`; what a person states goes before every document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from hio_validate.costs.loaded import quantises
from hio_validate.costs.states import carried
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.asked import PATH_OF
from hio_validate.estimating.context.cannot import CannotEstimate as CannotEstimate
from hio_validate.estimating.context.chosen import Chosen, Profiled, ceilings_of, named, profile_of, shape_of
from hio_validate.estimating.context.counted import Counted, drafting_counted
from hio_validate.estimating.context.in_force import PREFILLS, InForce, in_force
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.measured import baseline_of
from hio_validate.estimating.context.recorded import Fault, Recorded, asked_fixture, counts_of
from hio_validate.evidence.averages import median
from hio_validate.evidence.correctness import open_failures
from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.workload import cache_of, model_of
from hio_validate.models.estimate import Amount, EstimateTarget, Workload
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.rules.estimated import file_of
from hio_validate.spelling import nearest


def inputs_of(
    view: View,
    service: str,
    stack: Item | str,
    *,
    fixture: str | None = None,
    metric: str | None = None,
    ceilings: Sequence[str] | None = None,
    shape: str | None = None,
    host: str | None = None,
    stated: Mapping[str, Amount] | None = None,
    run: str | None = None,
    profile: str | None = None,
    concurrency: int = 1,
    cache: Literal["cold", "warm"] = "cold",
    goal: float | None = None,
    committed: Callable[[Item], bool] | None = None,
    fault: Fault = lambda _: None,
) -> Inputs:
    """Everything that an estimate of a stack follows from. Raises CannotEstimate.

    `host`: the machine this runs on, which counts where no record says where the stack ran; `committed`: whether a
    document stands in the last commit as it is; `fault`: what the rules find wrong in one, which is then not used.
    """
    stack = named(view.repo, "stack/v1", stack, service) if isinstance(stack, str) else stack
    asked = named(view.repo, "fixture/v1", fixture, service) if fixture else None
    said = dict(stated or {})
    recorded = Recorded(view, service, stack, fault)
    shaped = shape_of(recorded, shape)
    tokens = _Tokens(recorded, asked, said, shaped.first, cache)
    target = _target(metric, tokens, goal)
    path = PATH_OF[target.metric]
    capture = next(iter(recorded.captures), None)
    counted = drafting_counted(recorded, asked)
    batched = path == "decode-token" and (concurrency > 1 or counted is not None)
    force = in_force(view, stack, capture, path, batched=batched)
    rates = ceilings_of(recorded, ceilings, host, force.build)
    profiled = profile_of(recorded, profile, Profiled(path, asked, concurrency, cache))
    workload = _workload(stack, asked, shaped, rates, force, tokens, concurrency, cache)
    if counted is not None and workload.drafting is None:
        workload = workload.model_copy(update={"drafting": counted.words})
    amounts, by = _drafted(counted, force)
    inputs = Inputs(
        service=service, stack=stack, workload=workload, target=target, path=path, fixture=asked,
        shape=shaped.first, ceilings=rates.items, profile=profiled.first, stated=said, view=view,
        capture=capture, counted=amounts, counted_by=by, named=_named(ceilings, shape, run, profile),
        wrong=tuple(open_failures(view.ledger(service), stack.name, stack)),
    )  # fmt: skip
    found = baseline_of(inputs, recorded, run, committed)
    slots = _too_few_slots(force, concurrency)
    missing = (
        *shaped.said,
        *tokens.missing(path),
        *force.missing,
        *slots,
        *rates.said,
        *found.missing,
        *profiled.said,
    )
    return replace(inputs, baseline=found.baseline, missing=tuple(dict.fromkeys(missing)))


def _named(
    ceilings: Sequence[str] | None, shape: str | None, run: str | None, profile: str | None
) -> tuple[tuple[str, str], ...]:
    """The documents that were named, each with its option."""
    options = [*(("--ceilings", each) for each in ceilings or ())]
    options += [("--shape", shape or ""), ("--run", run or ""), ("--profile", profile or "")]
    return tuple(each for each in options if each[1])


def _target(metric: str | None, tokens: _Tokens, goal: float | None) -> EstimateTarget:
    """The named metric, else the decode rate where anything is generated."""
    if metric is not None and metric not in METRICS:
        near = nearest(metric, METRICS)
        raise CannotEstimate(
            f"no metric is called {metric}"
            + (f"; did you mean {near}?" if near else f"; known are {', '.join(METRICS)}")
        )
    name: Any = metric or ("prefill_tps" if tokens.generated == 0 else "decode_tps")
    better: Any = METRICS[name].better
    return EstimateTarget(metric=name, better=better, goal=goal)


def _workload(
    stack: Item, fixture: Item | None, shape: Chosen, ceilings: Chosen, force: InForce, tokens: _Tokens,
    concurrency: int, cache: Literal["cold", "warm"],
) -> Workload:  # fmt: skip
    hosts = [item.model.host for item in ceilings.items if item.model.host]
    return Workload(
        stack=stack.pin, fixture=fixture.pin if fixture else None,
        shape=shape.first.pin if shape.first else None,
        prompt_tokens=tokens.prompt, generated_tokens=tokens.generated, concurrency=concurrency, slots=force.slots, cache=cache,
        threads=force.threads, batch_threads=force.batch_threads, devices=force.devices,
        microbatch=tokens.prompt if force.whole_prompts else force.microbatch,
        key_type=force.key_type, value_type=force.value_type, drafting=_drafting(force, fixture),
        sharding=force.sharding, held_in=force.held_in, kv_cache=force.kv_cache, loaded_as=_loaded_as(force, shape.first),
        state_type=force.state_type if shape.first and carried(shape.first.model) else None,
        target_host=hosts[0] if hosts else None,
    )  # fmt: skip


def _loaded_as(force: InForce, shape: Item | None) -> str | None:
    """What the engine quantises these weights to, where they are wider."""
    if force.loaded_as is None or (shape is not None and not quantises(shape.model, force.loaded_as)):
        return None
    return force.loaded_as


def _drafting(force: InForce, fixture: Item | None) -> str | None:
    """How tokens are drafted: the stack says with what, the fixture how many."""
    lengths = fixture.model.draft if fixture is not None else None
    if force.drafting is None or lengths is None:
        return force.drafting
    return f"{force.drafting}, {lengths.min} to {lengths.max} tokens a pass"


def _drafted(counted: Counted | None, force: InForce) -> tuple[Mapping[str, Amount], str]:
    """Tokens drafted a pass and the share accepted, and who says so; rows go before settings."""
    if counted is not None:
        return counted.amounts, f"rows of {counted.by}"
    if force.draft_tokens is not None:
        return {"draft-tokens": amount(force.draft_tokens, "1")}, force.drafting or ""
    return {}, ""


def _too_few_slots(force: InForce, concurrency: int) -> tuple[str, ...]:
    if force.slots is None or concurrency <= force.slots:
        return ()
    waiting = concurrency - force.slots
    return (
        f"the wait in the queue: {concurrency} requests at once on {force.slots} slots, so that {waiting} "
        "wait; --assume queue-wait=LOW..HIGHms states it",
    )


class _Tokens:
    """Lengths of prompt and answer: as stated, as rows of the same fixture and model counted them, as the fixture says."""

    def __init__(
        self, recorded: Recorded, fixture: Item | None, stated: Mapping[str, Amount], shape: Item | None, cache: str
    ) -> None:  # fmt: skip
        self.fixture, self.stated = fixture, stated
        self.varied: list[str] = []
        model = file_of(shape.model) if shape else None
        every = [
            (case, arm)
            for case in (recorded.cases if fixture else ())
            if fixture is not None and asked_fixture(case, fixture) and cache_of(case) == cache
            for arm in case.model.arms
            if model is None or model_of(case, arm) == model
        ]
        # An answer may end elsewhere with other settings: rows of this very stack say more than all.
        self._asked = [each for each in every if recorded.had_the_stack(*each)] or every
        self.prompt = self._count("prompt-tokens", "evaluated")
        self.generated = self._count("generated-tokens", "generated")
        if self.generated is None and fixture is not None and fixture.model.ignore_eos:
            self.generated = fixture.model.max_tokens

    def _count(self, name: str, column: str) -> int | None:
        if name in self.stated:
            return round(self.stated[name].value)
        counts = sorted(count for case, arm in self._asked for count in counts_of(case, arm, column))
        if not counts:
            return None
        middle = round(median(counts))
        if counts[0] != counts[-1]:
            self.varied.append(
                f"one number of {column} tokens: rows of {self._name} count {counts[0]} to {counts[-1]}; "
                f"the median {middle} is used, or --assume {name}=N"
            )
        return middle

    @property
    def _name(self) -> str:
        return self.fixture.name if self.fixture else "no fixture"

    def missing(self, path: str) -> tuple[str, ...]:
        """What is not known of the lengths, as far as the path needs it."""
        found = list(self.varied)
        why = f"no run counted them with {self._name}" if self.fixture else "no fixture is named"
        if self.prompt is None:
            found.append(f"the prompt's tokens: {why}; --assume prompt-tokens=N states them")
        if self.generated is None and path not in PREFILLS:
            found.append(f"the generated tokens: {why}; --assume generated-tokens=N states them")
        return tuple(found)
