"""The gates before a champion (contract 10.5, 9.6): each met, or missed for a reason that has a name.

Invariant: what is unknown is missed; nothing is assumed to be the same in two cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.evidence.campaign import coverage_of, missing_inputs
from hio_validate.evidence.campaign_scope import out_of_scope
from hio_validate.evidence.case import Known
from hio_validate.evidence.cell_result import FAILED_ANSWERS, QUALITY, CellResult, scope_of
from hio_validate.evidence.correctness import open_failures
from hio_validate.evidence.outcome import Condition, Result, Tier
from hio_validate.evidence.quality_gate import NAME, answered
from hio_validate.evidence.weights import weights_of
from hio_validate.models.campaign import Campaign
from hio_validate.repo import Item, name_of
from hio_validate.settings.knowledge import Settings


def gates(
    campaign: Item, cells: Sequence[CellResult], known: Known, settings: Settings
) -> tuple[Condition, ...]:
    """Every gate, in the order in which a reader asks."""
    needed = set(coverage_of(campaign.model))
    required = [each for each in cells if each.name in needed]
    competing = [each for each in cells if each.name in needed or each.may_win]
    return (
        _inputs(campaign, known),
        _coverage(required),
        _accuracy(campaign.model, required),
        _comparability(competing),
        _trials(required),
        _scope(campaign, cells, known, settings),
        _correctness(campaign, cells, known),
    )


def _inputs(campaign: Item, known: Known) -> Condition:
    lacks = [each.input for each in missing_inputs(campaign.model, known.repo)]
    name = "seven inputs"
    if lacks:
        return Condition(name, "inputs-missing", f"it has no {' and no '.join(lacks)}")
    return Condition(name, "", "all are there")


def _coverage(required: Sequence[CellResult]) -> Condition:
    open_ = [f"{each.name} ({each.against[0]})" for each in required if not each.is_complete]
    if open_:
        return Condition("coverage", "coverage-incomplete", f"not complete: {', '.join(open_)}")
    return Condition("coverage", "", f"{', '.join(each.name for each in required)} are complete")


def _accuracy(campaign: Campaign, required: Sequence[CellResult]) -> Condition:
    """A wrong answer of a candidate takes that cell out; one of the baseline, or none at all, takes all out."""
    name = "accuracy"
    measured = [each for each in required if each.verdict is not None]
    unjudged = [
        f"{each.name}: {condition.sentence}"
        for each in measured
        for condition in each.quality or [Condition(QUALITY[0], "no-quality-gate", "no answer was judged")]
        if not condition.met and condition.reason not in FAILED_ANSWERS
    ]
    unjudged += [f"{each.name}: {said}" for each in measured for said in each.unjudged_weights]
    accuracy = campaign.focus.accuracy if campaign.focus else None
    if accuracy is not None and accuracy.tasks:
        by_tasks = {each.name for each in measured for one in each.quality if one.name == NAME}
        unjudged += [
            f"{each.name}: {accuracy.tasks} was not asked" for each in measured if each.name not in by_tasks
        ]
    wrong = [each.name for each in measured if each.fails_its_answers and _baseline_is_wrong(each)]
    if wrong:
        return Condition(
            name, "baseline-answers-wrong", f"the baseline answers wrongly in {', '.join(wrong)}"
        )
    if unjudged or not measured:
        return Condition(name, "accuracy-unknown", "; ".join(unjudged) or "no answer was judged")
    out = [each.name for each in measured if each.fails_its_answers]
    said = f"; out for wrong answers: {', '.join(out)}" if out else ""
    return Condition(name, "", f"the quality gate is met on the baseline{said}")


def _baseline_is_wrong(each: CellResult) -> bool:
    assert each.verdict is not None
    case = each.verdict.case
    checks = [row for trial in case.trials if trial.arm == case.baseline for row in trial.checks]
    if any(row.cells.get("expected") == "fail" for row in checks):
        return True
    found = answered(case)
    gate = case.plan.quality if case.plan is not None else None
    side = found.sides.get(case.baseline) if found is not None else None
    return side is not None and gate is not None and side.share < gate.floor


def _comparability(cells: Sequence[CellResult]) -> Condition:
    """The same host and baseline in all cells, its weights among it; the same fixtures in a regime; unknown is not the same.

    What a candidate serves may be other weights: they are what was asked about, and have to be known.
    """
    name = "comparability"
    ran = [each for each in cells if each.run is not None and each.verdict is not None]
    if not ran:
        return Condition(name, "nothing-to-compare", "no cell was run")
    hosts = {scope_of(each, "host") for each in ran}
    if len(hosts) > 1 or "unknown" in hosts:
        said = "is not known of every cell" if "unknown" in hosts else "is not the same in all cells"
        return Condition(name, "host-differs", f"the host {said}")
    if (why := _weights(ran)) is not None:
        return Condition(name, "model-differs", why)
    baselines = {each.configuration(each.verdict.case.baseline) for each in ran if each.verdict}
    if len(baselines) > 1:
        return Condition(name, "baseline-differs", "the cells did not measure one baseline")
    programs = {program for each in ran for program in _programs(each)}
    if len(programs) > 1 or None in programs:
        why = (
            "is not known"
            if None in programs
            else "was replaced between two cells: run the baseline again with it"
        )
        return Condition(name, "baseline-program-differs", f"the program of the baseline {why}")
    for regime in dict.fromkeys(each.regime for each in ran):
        asked = {tuple(sorted(each.run.model.fixtures)) for each in ran if each.run and each.regime == regime}
        if len(asked) > 1:
            return Condition(name, "fixture-differs", f"the cells of {regime} did not ask the same")
    unequal = [each.name for each in ran if each.verdict and each.verdict.result is Result.NOT_COMPARABLE]
    if unequal:
        return Condition(name, "work-differs", f"the arms of {', '.join(unequal)} did not do the same work")
    return Condition(name, "", f"one host, one baseline{_and_weights(ran)}, the same requests in a regime")


def _weights(cells: Sequence[CellResult]) -> str | None:
    """Why the weights forbid a comparison: unknown ones, or a baseline of several; None where nothing does."""
    base: set[str | None] = set()
    for each in cells:
        assert each.verdict is not None
        case = each.verdict.case
        for arm in case.model.arms:
            if case.counted(arm) and weights_of(case, arm) is None:
                return f"which weights {arm} served in {each.name} is not known of every leg"
        base.add(weights_of(case, case.baseline))
    return "the baseline did not serve the same weights in all cells" if len(base) > 1 else None


def _and_weights(cells: Sequence[CellResult]) -> str:
    others = [each.name for each in cells if each.other_weights]
    return f" (other weights in {', '.join(others)})" if others else " with one model"


def _programs(each: CellResult) -> Iterator[str | None]:
    """The executable of every leg of the baseline that counts, by its hash; None: nobody knows."""
    assert each.verdict is not None
    case = each.verdict.case
    for _, capture in case.captures(case.baseline):
        processes = capture.processes.values() if capture is not None else ()
        yield from [process.executable.sha256 for process in processes] or [None]


def _trials(required: Sequence[CellResult]) -> Condition:
    """Every cell a VERDICT; of one with wrong answers nothing more is asked."""
    drafts = [
        f"{each.name} is a {each.verdict.tier} ({', '.join(one.reason for one in each.verdict.reasons[:3])})"
        for each in required
        if each.verdict is not None and each.verdict.tier is not Tier.VERDICT and not each.fails_its_answers
    ]
    if drafts:
        return Condition("repeated trials", "not-a-verdict", "; ".join(drafts))
    if not any(each.verdict for each in required):
        return Condition("repeated trials", "not-a-verdict", "nothing was measured")
    return Condition("repeated trials", "", "every cell is a VERDICT")


def _scope(campaign: Item, cells: Sequence[CellResult], known: Known, settings: Settings) -> Condition:
    found = []
    for each in cells:
        plan = known.repo.find("plan/v1", each.cell.plan, campaign.service)
        if plan is not None and plan.model is not None:
            outside = out_of_scope(plan, campaign.model.scope, known.repo, settings)
            found += [f"{each.name} changes {one.changed.address} ({one.what})" for one in outside]
    if not campaign.model.scope.quantisation:
        found += [
            f"{each.name}: {one.sentence}, and no quantisation is declared"
            for each in cells
            for one in each.other_weights
        ]
    if found:
        return Condition("declared scope", "out-of-scope", "; ".join(found))
    return Condition("declared scope", "", "nothing beyond it was changed")


def _correctness(campaign: Item, cells: Sequence[CellResult], known: Known) -> Condition:
    model: Campaign = campaign.model
    stacks = {model.baseline.stack} if model.baseline and model.baseline.stack else set()
    stacks |= {name_of(arm.stack) for each in cells if each.run for arm in each.run.model.arms.values()}
    ledger = known.ledger(campaign.service)
    failures = [
        f"{entry.name} ({entry.model.hazard} of {stack})"
        for stack in sorted(stacks)
        for entry in open_failures(ledger, stack, campaign)
    ]
    if failures:
        return Condition("correctness", "open-correctness-failure", f"open: {', '.join(failures)}")
    return Condition("correctness", "", "no open correctness failure")
