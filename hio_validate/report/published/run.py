"""The report of one run as versioned data; page.py renders the same (contract 12.4).

Invariant: no number is read from a document where the raw rows can give it: all of them come from the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hio_validate.evidence import identity
from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.tiers import Verdict
from hio_validate.ledger import PARENT, Ledger
from hio_validate.repo import Item, Repo, name_of, pin_of
from hio_validate.report.published import standing
from hio_validate.report.published.gaps import Gap, gaps_of
from hio_validate.report.published.not_measured import not_measured
from hio_validate.report.verdict import MEANS, comparison_shape, next_step, quality_shape
from hio_validate.rests_on import RestsOn, rests_on
from hio_validate.settings.value import text_of
from hio_validate.status import Status

Shape = dict[str, Any]
NO_PROFILE = "unknown: no profile"
OTHER_PROFILES = "unknown: the profiles on record are not of these legs"
_OF_A_PROFILE = b'"kernel-'
"""Begins the definitions of what only a profiler sees, as `records.jsonl` writes them."""


@dataclass(frozen=True)
class Told:
    """One run with everything that its report is computed from."""

    judged: Verdict
    ledger: Ledger
    statuses: Sequence[Status]
    """Of the stacks of its service."""
    repo: Repo
    is_committed: bool = True
    """Whether git keeps the run's bytes; True where no git keeps the repository."""
    strict: bool = True

    @property
    def decisions(self) -> list[Item]:
        """The entries of the ledger that stand on this run, the first one first."""
        digest = self.judged.run.document.digest
        pinned = ((item, pin_of(item, "run")) for item in self.ledger.as_of())
        return [item for item, pin in pinned if pin is not None and pin.endswith(f"@{digest}")]

    @property
    def rests(self) -> RestsOn:
        """The run, what decides about it, who serves, and all that these rely on."""
        serving = (self.ledger.deployment, self.ledger.parent_entry, self.baseline_entry, self.matrix)
        known = (item for item in serving if item is not None)
        roots = [self.judged.run, *self.decisions, *known, *self.profiles, *self.receipts]
        return rests_on(self.repo, roots)

    @property
    def baseline_entry(self) -> Item | None:
        """The entry that had accepted the reference when the run began; None where none had."""
        at, reference = self.judged.case.model.at, self.judged.case.arm(self.judged.case.baseline)
        ledger = self.ledger.until(at) if at is not None else None
        entry = ledger.parent_entry if ledger is not None else None
        if ledger is None or entry is None or reference.set:
            return None
        accepted = {word.outcome for word in ledger.words(entry) if word.subject == PARENT}
        return (
            entry
            if reference.stack.partition("@")[2] in {pin.partition("@")[2] for pin in accepted}
            else None
        )

    @property
    def receipts(self) -> list[Item]:
        """What harnesses, operator tests, people and monitors said of the stacks of this run."""
        return self._about("receipt/v1")

    def _about(self, kind: str) -> list[Item]:
        stacks = {arm.stack for arm in self.judged.case.model.arms.values()}
        stacks |= {pin for item in self.decisions if (pin := pin_of(item, "stack")) is not None}
        return [
            item for item in self.repo.of(kind)
            if item.service == self.ledger.service and item.model.stack in stacks
        ]  # fmt: skip

    @property
    def profiles(self) -> list[Item]:
        """Observations of a profiler that say they are of a stack of this run; of another time than its legs (6.10)."""
        return [
            item for item in self._about("observation/v1")
            if _OF_A_PROFILE in (self.repo.beside(item, item.model.records.file) or b"")
        ]  # fmt: skip

    @property
    def stack(self) -> str | None:
        """The stack document that the chosen configuration is; None where none is known to hold it."""
        accepted = [pin for item in self.decisions if (pin := pin_of(item, "stack")) is not None]
        chosen = self.judged.case.arm(self.judged.best)
        if not chosen.set:
            return name_of(chosen.stack)
        return name_of(accepted[-1]) if accepted else None

    @property
    def matrix(self) -> Item | None:
        """The newest matrix from the parent to the chosen stack."""
        service = self.ledger.service
        found = [
            item for item in self.repo.of("matrix/v1")
            if item.service == service and self.stack is not None and item.model.candidate == self.stack
        ]  # fmt: skip
        return found[-1] if found else None


def as_shape(told: Told) -> Shape:
    """Everything that is published, in the order in which it is read."""
    judged, rests = told.judged, told.rests
    gaps = gaps_of(judged, rests.broken, told.is_committed)
    return {
        "version": 1,
        "subject": {
            "kind": "run/v1", "name": judged.run.name, "service": told.ledger.service,
            "digest": judged.run.document.digest, "outcome": judged.case.model.outcome,
            "at": judged.case.model.at, "ended": judged.case.model.ended,
        },
        "strict": told.strict,
        "tier": str(tier_of(judged, gaps, told.strict)),
        "result": str(judged.result),
        "question": (judged.case.plan.question if judged.case.plan else None) or judged.case.model.question,
        "gaps": [each._asdict() for each in gaps],
        **_chosen(told),
        **_measured(judged),
        "receipts": [_receipt(item) for item in told.receipts],
        **_relied_on(told),
        "rests_on": [each._asdict() for each in rests.files],
        "missing": list(_missing(told)),
    }  # fmt: skip


def tier_of(judged: Verdict, gaps: Sequence[Gap], strict: bool) -> Tier:
    """The tier that the report pins: with gaps, or where nobody asked for them, DRAFT is the most (contract 10.6)."""
    if judged.tier is Tier.NEEDS_CONTEXT:
        return judged.tier
    return judged.tier if strict and not gaps else Tier.DRAFT


def _chosen(told: Told) -> Shape:
    """Who serves, what was chosen, what else was kept, and what is left to do."""
    judged, case = told.judged, told.judged.case
    said, command = next_step(judged)
    is_decided = _is_decided(judged)
    gates = [each for each in told.statuses if is_decided and each.stack == told.stack]
    return {
        **standing.of_ledger(told.ledger),
        "chosen": {
            "arm": judged.best if is_decided else None,
            "stack": told.stack if is_decided else None,
            "configurations": len(case.model.arms),
            "scope": {"fixture": case.fixture, "regime": case.regime},
            "status": str(gates[0].level) if gates else None,
        },
        "alternatives": [
            {
                "arm": each.candidate,
                "result": str(judged.result_of(each)),
                "means": MEANS[judged.result_of(each)].format(arm=each.candidate, base=each.baseline),
            }
            for each in judged.deciding
        ],
        "decisions": [standing.decision(item) for item in told.decisions],
        "gates_left": [sentence for each in gates for sentence in each.missing],
        "bottleneck": OTHER_PROFILES if told.profiles else NO_PROFILE,
        "profiles": [
            {"observation": item.name, "format": item.model.source.format} for item in told.profiles
        ],
        "next": {"say": said, "command": command} if not told.decisions else None,
    }


def _is_decided(judged: Verdict) -> bool:
    """Whether one configuration comes out of it; equal arms that measure noise have none."""
    plan = judged.case.plan
    stage = plan.stage if plan is not None else judged.case.model.stage
    return stage != "a-a" and judged.result not in (Result.NOT_COMPARABLE, Result.NOT_MEASURABLE)


def _measured(judged: Verdict) -> Shape:
    """Every comparison with its uncertainty, and every leg with its own numbers."""
    case = judged.case
    return {
        "metric": judged.metric.name if judged.metric else None,
        "comparisons": [comparison_shape(judged, each) for each in judged.comparisons],
        "metrics": [each._asdict() for each in case.metrics],
        "legs": [
            {
                "leg": each.number,
                "arm": each.arm,
                "counted": each.counted,
                "invalid": list(each.invalid),
                "requests": len(each.rows),
                "values": {metric.name: _value(each, metric.name) for metric in case.metrics},
            }
            for each in case.trials
        ],
        "quality": quality_shape(judged),
        "different_work": [each.sentence for each in judged.unequal],
        "not_measured": not_measured(case),
        "untested": list(case.plan.untested) if case.plan else [],
        "known_failures": list(case.plan.known_failures) if case.plan else [],
        "unknown": list(case.model.unknown),
    }


def _value(trial: Any, metric: str) -> float | None:
    value: float | None = trial.value(metric) if trial.rows else None
    return value


def _relied_on(told: Told) -> Shape:
    """Why the result may be relied on, or not: conditions, identity, baseline, restoration, what failed before."""
    judged, case = told.judged, told.judged.case
    restored, serving = case.model.restored, case.plan.serving if case.plan else None
    return {
        "conditions": [{**each._asdict(), "met": each.met} for each in judged.conditions],
        "baseline": _baseline(told),
        "arms": identity.arms(case),
        "host": identity.host_of(case),
        "restoration": {
            "stopped": serving.during == "stop" if serving else None,
            "stack": restored.stack if restored else None,
            "proven": restored.proven if restored else None,
            "checks": dict(restored.checks) if restored else {},
        },
        "other_runs": list(_other_runs(told)),
        "judged_by": {"hio": case.model.judged_by.hio, "rules": case.model.judged_by.rules}
        if case.model.judged_by else None,
    }  # fmt: skip


def _baseline(told: Told) -> Shape:
    """The reference: its stack, the entry that had accepted it, and how many numbers that entry records."""
    case, entry = told.judged.case, told.baseline_entry
    recorded = len(getattr(entry.model, "dimensions", ())) if entry is not None else 0
    return {
        "arm": case.baseline, "stack": case.arm(case.baseline).stack, "entry": entry.name if entry else None,
        "dimensions": recorded,
    }  # fmt: skip


def _receipt(item: Item) -> Shape:
    model = item.model
    said = f"{model.task}, {model.metric} {model.value:g}" if model.kind == "quality" else model.about
    return {"receipt": item.name, "kind": model.kind, "stack": name_of(model.stack), "says": said}


def _other_runs(told: Told) -> Iterator[Shape]:
    """Every other run of this plan's name: a failed attempt stays beside the one that succeeded (contract 6.7)."""
    run, plan = told.judged.run, told.judged.case.model.plan
    for item in told.repo.of("run/v1"):
        if item.service != run.service or item.file == run.file or not (plan and item.model.plan):
            continue
        if name_of(item.model.plan) == name_of(plan):
            yield {
                "run": item.name,
                "outcome": item.model.outcome,
                "why": item.model.why,
                "same_plan": item.model.plan == plan,
            }


def _missing(told: Told) -> Iterator[Shape]:
    """What belongs into the bundle (contract 10.6) and is not there."""
    case = told.judged.case
    if not any(arm.captures for arm in case.model.arms.values()):
        yield {"what": "identity", "sentence": "no leg was captured"}
    if any(each.reason == "baseline-not-accepted" for each in told.judged.record):
        yield {"what": "baseline", "sentence": "the reference is no accepted baseline"}
    if not told.profiles:
        yield {"what": "profiles", "sentence": "no profile was recorded, so the bottleneck is unknown"}
    yield {"what": "cost ledger", "sentence": "no cost was estimated"}
    if told.matrix is None:
        yield {
            "what": "matrix",
            "sentence": "no matrix of this service has the chosen stack as its candidate",
        }
    if not told.decisions:
        yield {"what": "decision", "sentence": "no entry of the ledger stands on this run"}


def set_of(arm: Shape) -> str:
    """An arm's delta in words."""
    return ", ".join(f"{factor} {text_of(value)}" for factor, value in arm["set"].items())
