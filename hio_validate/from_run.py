"""An entry as its run says it: setting, number, hazard, sentences; and what a run forbids to say of it.

Invariant: what is written is computed from the raw rows. An increment and a negative control stand on a VERDICT that says
the same; a draft is kept as research (contract 7.1, 7.4, 8.2, 8.4).
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.appending import CannotAppend, Draft, with_result
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.tiers import Verdict, verdict
from hio_validate.models.run import Run
from hio_validate.quantity import change, from_to, probability
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View, listed
from hio_validate.settings.difference import NEEDS_A_ROW
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import text_of

_KEEPS = (Result.HARM, Result.NO_IMPROVEMENT, Result.WITHIN_NOISE)
"""Results that a negative control may stand on: the previous configuration stays."""


def of_run(draft: Draft, view: View, run: str, metric: str | None, statistic: str) -> Draft:
    """The draft with what a run says. Raises CannotAppend where the run contradicts it."""
    item = view.repo.find("run/v1", run, draft.service)
    if item is None or item.model is None:
        raise CannotAppend(f"no readable run of {draft.service} is called {run}")
    match draft.kind:
        case "failed-run":
            return _failed(draft.saying(run=run), item, view)
        case "opportunity":
            return _opportunity(draft.saying(run=run), item, view, metric)
        case "increment" | "negative-control" | "decision":
            return _measured(draft.saying(run=run), item, view, metric, statistic)
    raise CannotAppend(
        f"{draft.kind} takes nothing from a run; --from-run is for increment, negative-control, failed-run, decision "
        "and opportunity"
    )


def _measured(draft: Draft, item: Item, view: View, metric: str | None, statistic: str) -> Draft:
    arms = _arms(item, view)
    factor = draft.given.get("factor") or _isolated(item, arms, view)
    judged = _judged(item, view, metric)
    _refuse_what_it_contradicts(draft, item, judged)
    named = draft.saying(factor=factor)
    if draft.kind == "decision":
        named = _with_mechanism(named, judged)
        if judged.result in (Result.NOT_COMPARABLE, Result.NOT_MEASURABLE):
            return named
    asked = metric or (judged.metric.name if judged.metric else "")
    return with_result(named, view.repo, (asked, *arms), statistic)


def _judged(item: Item, view: View, metric: str | None) -> Verdict:
    """The verdict about the metric asked for: the planned one, else the only one. Raises CannotAppend."""
    run: Run = item.model
    metrics = [name for name, each in run.columns.items() if each.better]
    if metric is not None and metric not in metrics:
        raise CannotAppend(f"{item.name} measured {', '.join(metrics) or 'no metric'}, not {metric}")
    judged = verdict(item, view, metric)
    if metric is None and len(metrics) != 1 and judged.case.plan is None:
        raise CannotAppend(
            f"{item.name} measured {', '.join(metrics) or 'no metric'}; say which to publish: --metric NAME"
        )
    return judged


def _refuse_what_it_contradicts(draft: Draft, item: Item, judged: Verdict) -> None:
    """An entry that decides says what the verdict says. Raises CannotAppend."""
    said = f"{item.name}: {judged.result}, {judged.tier}"
    if draft.kind == "decision":
        if draft.given.get("decision") in ("experimental-default", "deploy") and judged.result in _KEEPS:
            raise CannotAppend(f"{said}; nothing was gained that could become a default")
        return
    if judged.result is Result.NOT_MEASURABLE:
        raise CannotAppend(
            f"{said}; nothing that counts was measured: hio ledger append failed-run --from-run {item.name}"
        )
    if judged.result is Result.NOT_COMPARABLE:
        raise CannotAppend(f"{said}; {judged.unequal[0].sentence}, so no speed is published")
    wrong = (
        judged.result is not Result.IMPROVEMENT if draft.kind == "increment" else judged.result not in _KEEPS
    )
    if wrong:
        raise CannotAppend(f"{said}; {_with_article(draft.kind)} would say the opposite")
    if judged.tier is not Tier.VERDICT and not draft.given.get("imported"):
        reasons = ", ".join(each.reason for each in judged.reasons)
        raise CannotAppend(
            f"{said} ({reasons}); {_with_article(draft.kind)} stands on a VERDICT: keep it as research "
            f"(hio ledger append decision --decision keep-research --edit --from-run {item.name}), or name run and result "
            "yourself, without --stack: --run, --factor, --result"
        )


def refuse_a_loss(draft: Draft, view: View) -> None:
    """An increment publishes no loss, whoever names run and result. Raises CannotAppend."""
    result, run = (
        draft.given.get("result"),
        view.repo.find("run/v1", draft.given.get("run") or "", draft.service),
    )
    if draft.kind != "increment" or not isinstance(result, dict) or run is None or run.model is None:
        return
    column = run.model.columns.get(result["metric"])
    gained = result["change_percent"] if column and column.better == "higher" else -result["change_percent"]
    if column and column.better and gained < 0:
        raise CannotAppend(
            f"{result['metric']} became worse by {abs(gained):g} % from {result['from']} to {result['to']}; "
            "what lost is a negative-control, or is kept as research (decision)"
        )


def refuse_a_draft(draft: Draft, view: View) -> None:
    """An increment that pins a stack makes it the parent, so its run is a VERDICT, whoever names the two. Raises CannotAppend."""
    stack, name = draft.given.get("stack"), draft.given.get("run") or ""
    run = view.repo.find("run/v1", name, draft.service)
    if (
        draft.kind != "increment"
        or not stack
        or draft.given.get("imported")
        or run is None
        or run.model is None
    ):
        return
    judged = view.verdict(run)
    if judged.tier is not Tier.VERDICT:
        reasons = listed(each.reason for each in judged.reasons)
        raise CannotAppend(
            f"{run.name}: {judged.result}, {judged.tier} ({reasons}); with --stack the ledger would call {stack} the parent: "
            "measure until it is a VERDICT, leave --stack out, or keep it as research (decision)"
        )


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def _with_mechanism(draft: Draft, judged: Verdict) -> Draft:
    """A kept branch names its mechanism: the plan's, where nobody gives another."""
    given = dict(draft.given.get("evidence") or ())
    plan = judged.case.plan
    if plan is None or draft.given.get("decision") != "keep-research" or "mechanism" in given:
        return draft
    return Draft(
        draft.kind, draft.service, draft.by,
        {**draft.given, "evidence": [("mechanism", plan.hypothesis.mechanism), *given.items()]},
    )  # fmt: skip


_HAZARDS = {"aborted": "resource-limit", "failed": "crash", "stopped": "other"}
"""How a run ended -> what ended it, where nobody says it better."""


def _failed(draft: Draft, item: Item, view: View) -> Draft:
    """A failed run: what ended it, from how it ended. Raises CannotAppend where it did not fail."""
    run: Run = item.model
    ended = "other" if run.outcome == "failed" and not run.legs else _HAZARDS.get(run.outcome or "")
    hazard = draft.given.get("hazard") or ended
    judged = verdict(item, view)
    if hazard is None:
        if judged.result is not Result.NOT_MEASURABLE:
            raise CannotAppend(
                f"{item.name} did not fail: {judged.result}; give --hazard where it did nevertheless"
            )
        hazard = "other"
    because = run.why or (
        f"{judged.result}: {_invalid(judged)}" if judged.result is Result.NOT_MEASURABLE else None
    )
    try:
        tried = _isolated(item, _arms(item, view), view) if run.legs else None
    except CannotAppend:
        tried = None  # a failed run may be about no single setting
    factor = draft.given.get("factor") or tried
    return draft.saying(hazard=hazard, factor=factor, because=because)


def _invalid(judged: Verdict) -> str:
    return next((reason for trial in judged.trials for reason in trial.invalid), "no trial that counts")


def _opportunity(draft: Draft, item: Item, view: View, metric: str | None) -> Draft:
    """What may serve elsewhere: what got better, what got worse, how sure that is, and where it was seen."""
    judged = _judged_anyhow(item, view, metric)
    shown = [each for each in judged.comparisons if each.measurable and each.same_work]
    if not shown:
        raise CannotAppend(f"{item.name}: {judged.result}; it shows no benefit that may serve elsewhere")
    gains, losses = (list(_sentences(shown, sign)) for sign in (1, -1))
    reasons = ", ".join(each.reason for each in judged.reasons)
    workload = f"{judged.case.fixture or 'unknown fixture'}, {judged.case.regime or 'unknown regime'}"
    said = draft.saying(
        result_kind="speed",
        benefit="; ".join(gains) or None,
        regression="; ".join(losses) or "none was seen",
        uncertainty=f"{judged.tier}" + (f": {reasons}" if reasons else ""),
        workloads=[workload],
    )
    try:
        factor = said.given.get("factor") or _isolated(item, _arms(item, view), view)
    except CannotAppend:
        factor = None  # an opportunity may be about several settings
    return said.saying(factor=factor)


def _judged_anyhow(item: Item, view: View, metric: str | None) -> Verdict:
    try:
        return verdict(item, view, metric)
    except KeyError:
        raise CannotAppend(f"{item.name} has no metric {metric}") from None


def _sentences(shown: list[Comparison], sign: int) -> Iterator[str]:
    for each in shown:
        if each.gain * sign > 0:
            values = from_to(*each.medians, each.metric.unit)
            yield (
                f"{each.metric.name} of {each.candidate} {change(each.change)} "
                f"({values}, p {probability(each.test.p)})"
            )


def _arms(item: Item, view: View) -> tuple[str, str]:
    """The reference and the arm that is compared with it. Raises CannotAppend for more than two arms."""
    run: Run = item.model
    if len(run.arms) != 2:
        raise CannotAppend(
            f"{item.name} has {len(run.arms)} arms; give --run, --factor and --result METRIC FROM TO"
        )
    baseline = verdict(item, view).case.baseline
    return baseline, next(name for name in run.arms if name != baseline)


def _isolated(run: Item, arms: tuple[str, str], view: View) -> str:
    """The only setting in which two arms differ. Raises CannotAppend."""
    one, two = (_of_arm(run, arm, view) for arm in arms)
    differing = [
        each.address for each in view.settings.difference(one, two).touched if each.group in NEEDS_A_ROW
    ]
    if len(differing) != 1:
        raise CannotAppend(
            f"the arms {arms[0]} and {arms[1]} of {run.name} differ in "
            f"{', '.join(differing[:8]) or 'no setting'}; an entry is about one: give --factor"
        )
    return differing[0]


def _of_arm(run: Item, name: str, view: View) -> Effective:
    arm = run.model.arms[name]
    stack = view.repo.find("stack/v1", name_of(arm.stack), run.service)
    if stack is None or stack.model is None:
        raise CannotAppend(
            f"the stack of the arm {name} of {run.name} cannot be read; give --factor and --result"
        )
    captures = (view.repo.find("capture/v1", name_of(pin), run.service) for pin in arm.captures[:1])
    capture = next((each for each in captures if each is not None and each.model is not None), None)
    return view.settings.effective(stack, capture, {key: text_of(value) for key, value in arm.set.items()})
