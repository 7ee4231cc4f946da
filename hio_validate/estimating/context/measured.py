"""What was measured of exactly this workload, and how far it is from the bound.

Invariants: a run of another stack, fixture, model, host, load or cache, or of other lengths, is no baseline, and what is not
known of them is never equal; a gap is stated and never explained (contract 9.7), only a result above its bound says that
something is wrong (contract 9.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hio_validate.costs.gap import efficiency
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import amount
from hio_validate.costs.work import weights_per_pass
from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.chosen import named
from hio_validate.estimating.context.in_force import PREFILLS
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.recorded import Ran, Recorded, asked_fixture, counts_of, rows_asked
from hio_validate.evidence.averages import median
from hio_validate.evidence.case import Case
from hio_validate.evidence.raw import is_unknown, number
from hio_validate.evidence.weights import shown
from hio_validate.evidence.workload import alike, cache_of, concurrency_of, host_of, model_of
from hio_validate.models.ceilings import Ceilings
from hio_validate.models.estimate import BoundTime, MeasuredBaseline
from hio_validate.repo import Item, name_of
from hio_validate.rules.estimated import file_of

_LARGER = 1.1
"""How many times what a pass reads was read by a measurement that caches helped less; matrices are counted whole."""


LOADED = 0.5
"""Load average of one minute above which a machine does something else, too; `hio probe host` says it there (probing/host.py)."""


class Found(NamedTuple):
    """A baseline, or why there is none; and what else is to be said."""

    baseline: MeasuredBaseline | None
    missing: tuple[str, ...] = ()


def baseline_of(
    inputs: Inputs, recorded: Recorded, run: str | None, committed: Callable[[Item], bool] | None = None
) -> Found:
    """The newest run of exactly this workload, or the named one. Raises CannotEstimate where that is of another one."""
    if run is not None:
        item = named(recorded.view.repo, "run/v1", run, recorded.service)
        named_one, measured = _named(Case(item, recorded.view), inputs, recorded)
        return Found(measured, _said(named_one, inputs, committed))
    elsewhere = ""
    for ran in recorded.ran:
        differing = list(_differing(ran, inputs))
        baseline = None if differing else _baseline(ran, inputs)
        if baseline is not None:
            return Found(baseline, _said(ran, inputs, committed))
        if not elsewhere and {each.what for each in differing} in ({"host"}, {"lengths"}):
            elsewhere = f" ({ran.case.run.name}: {'; '.join(each.sentence for each in differing)})"
    asked = f" with {inputs.fixture.name}" if inputs.fixture else ""
    return Found(
        None,
        (f"a baseline: no run measured {inputs.target.metric} of {inputs.stack.name}{asked}{elsewhere}",),
    )


def _named(case: Case, inputs: Inputs, recorded: Recorded) -> tuple[Ran, MeasuredBaseline]:
    """The arm of a named run that is this workload. Raises CannotEstimate with what differs."""
    told = []
    for arm in (case.baseline, *case.candidates):
        ran = Ran(case, arm)
        other = recorded.other_stack(case, arm)
        wrong = ([other] if other else []) + [each.sentence for each in _differing(ran, inputs)]
        baseline = None if wrong else _baseline(ran, inputs)
        if baseline is not None:
            return ran, baseline
        told.append(f"{arm}: {'; '.join(wrong) or f'it has no {inputs.target.metric} that counts'}")
    raise CannotEstimate(f"the run {case.run.name} is no baseline of this workload: {' | '.join(told)}")


class _Differs(NamedTuple):
    what: str
    sentence: str


def _differing(ran: Ran, inputs: Inputs) -> Iterator[_Differs]:
    """What keeps an arm that had the stack from being this workload."""
    case, workload = ran.case, inputs.workload
    if case.model.outcome not in (None, "completed"):
        yield _Differs("outcome", f"it ended {case.model.outcome}")
    if case.rows is None:
        yield _Differs("rows", "its rows are missing or not the ones that it pins")
        return
    yield from _asked(ran, inputs)
    if inputs.fixture is not None:
        yield from _lengths(ran, inputs)
    model = file_of(inputs.shape.model) if inputs.shape else None
    theirs = model_of(case, ran.arm)
    if model is not None and theirs != model:
        yield _Differs(
            "model",
            f"its model is {shown(theirs) if theirs else 'not known'}, the shape is of {model[:12]}",
        )
    host = host_of(case, ran.arm)
    where = f"its host is {host[:12] if host else 'not known'}"
    if workload.target_host is not None and host != workload.target_host:
        yield _Differs("host", f"{where}, the ceilings are of {workload.target_host[:12]}")
    if workload.target_host is None and inputs.ceilings:
        names = " and ".join(item.name for item in inputs.ceilings)
        yield _Differs(
            "host",
            f"{where}, the ceilings ({names}) name none: name measured ones of its host beside them with --ceilings",
        )
    if any(trial.leg and trial.leg.instrumented for trial in case.trials if trial.arm == ran.arm):
        yield _Differs("instrumented", "a profiler ran beside it, so that its times are no benchmark")


def _asked(ran: Ran, inputs: Inputs) -> Iterator[_Differs]:
    """What was asked of the arm otherwise."""
    case, workload = ran.case, inputs.workload
    if inputs.fixture is not None and not asked_fixture(case, inputs.fixture):
        yield _Differs("fixture", f"it did not ask these bytes of the fixture {inputs.fixture.name}")
    if inputs.fixture is None:
        for column, wanted in (
            ("evaluated", workload.prompt_tokens),
            ("generated", workload.generated_tokens),
        ):
            counted = set(counts_of(case, ran.arm, column))
            if wanted is None or counted - {wanted} or (not counted and not _is_bench(case)):
                yield _Differs(
                    "fixture", f"whether its {column} tokens are these is not known: name a fixture"
                )
    at_once = concurrency_of(case)
    if at_once != workload.concurrency:
        yield _Differs(
            "concurrency", f"requests at once: {at_once or 'not known'}, asked for {workload.concurrency}"
        )
    cache = cache_of(case)
    if cache != workload.cache:
        yield _Differs("cache", f"its cache is {cache or 'not known'}, asked for {workload.cache}")


def _lengths(ran: Ran, inputs: Inputs) -> Iterator[_Differs]:
    """Lengths that a person stated and that the rows contradict; those of the answer where the path has one."""
    answers = inputs.path not in PREFILLS or inputs.target.metric == "wall_s"
    for name, column in (("prompt-tokens", "evaluated"), ("generated-tokens", "generated"))[: 1 + answers]:
        said = inputs.stated.get(name)
        counted = counts_of(ran.case, ran.arm, column)
        if said is None or all(said.low <= each <= said.high for each in counted):
            continue
        told = f"{said.low:.0f}" if said.low == said.high else f"{said.low:.0f} to {said.high:.0f}"
        seen = dict.fromkeys(map(str, (min(counted), max(counted))))
        yield _Differs("lengths", f"its rows count {' to '.join(seen)} {column} tokens, stated are {told}")


def _is_bench(case: Case) -> bool:
    return case.plan is not None and case.plan.bench is not None


def _baseline(ran: Ran, inputs: Inputs) -> MeasuredBaseline | None:
    """The numbers of an arm; None where none of its legs knows the metric."""
    case, metric = ran.case, inputs.target.metric
    column = case.model.columns.get(metric)
    if column is None or column.better is None:
        return None
    arms = alike(case, ran.arm)
    legs = [value for arm in arms for value in case.values(arm, metric)]
    rows = [
        number(row, metric) for arm in arms for row in rows_asked(case, arm) if not is_unknown(row, metric)
    ]
    if not legs or not rows:
        return None
    return MeasuredBaseline(
        run=case.run.pin,
        arm=ran.arm, value=median(rows), low=min(legs), high=max(legs), unit=column.unit,
    )  # fmt: skip


def _said(ran: Ran, inputs: Inputs, committed: Callable[[Item], bool] | None) -> tuple[str, ...]:
    """What is to be known about a baseline that is one."""
    run, found = ran.case.run, []
    if committed is not None and not committed(run):
        found.append(f"the commit of {run.name}: it is not committed as it stands")
    if run.model.imported:
        found.append(f"how {run.name} was measured: it is imported, so that its numbers stay DRAFT")
    if inputs.shape is not None and file_of(inputs.shape.model) is None and model_of(ran.case, ran.arm):
        found.append(f"proof that {inputs.shape.name} is the model that {run.name} measured")
    return tuple(found)


def compared(inputs: Inputs, bound: BoundTime | None) -> tuple[MeasuredBaseline | None, tuple[str, ...]]:
    """The baseline with its efficiency, and what cannot be so.

    Efficiency is the bound by the measured time in percent, an interval: the bound's own, and the legs' lowest and
    highest. Only where all of it is above 100 something is wrong for certain.
    """
    baseline = inputs.baseline
    if baseline is None or bound is None or bound.metric is None:
        return baseline, ()
    reached = efficiency(baseline, bound.metric, inputs.target.better)
    if reached is None:
        return baseline, ()
    told = baseline.model_copy(update={"efficiency_percent": amount(reached, "1")})
    if reached.low <= 100:
        return told, _near(baseline, reached, inputs)
    above = (
        f"measured {_short(baseline.value)} {baseline.unit} is {_short(reached.value)} % of the bound "
        f"(at least {_short(reached.low)} %), and nothing is faster than its bound"
    )
    return told, (f"{above}: look first at {'; then '.join(_suspects(inputs))}",)


def _near(baseline: MeasuredBaseline, reached: Interval, inputs: Inputs) -> tuple[str, ...]:
    """Faster than the best guess of the bound, yet not beyond doubt: the ceilings are doubtful first, most where others used the machine."""
    if reached.value <= 100:
        return ()
    loaded = [
        f"the rates of {item.name}, measured at a load of {item.model.load:g} while others used the machine"
        for item in inputs.ceilings
        if (item.model.load or 0.0) > LOADED
    ]
    return (
        f"measured {_short(baseline.value)} {baseline.unit} is {_short(reached.value)} % of the best guess of the bound, and "
        f"within its interval: look first at {'; then '.join((*loaded, *_suspects(inputs)))}",
    )


def _short(number_: float) -> str:
    return f"{number_:.4g}"


def _suspects(inputs: Inputs) -> Iterator[str]:
    """Where to look, the cheapest first; what the documents rule out is left out."""
    yield from _cached_weights(inputs)
    cached, accepted = _taken(inputs, "cached"), _taken(inputs, "accepted")
    if cached:
        yield f"the cache: rows count {max(cached)} cached tokens, which nobody computed"
    if accepted:
        yield f"drafting: rows count {max(accepted)} accepted tokens, so that one pass gives several"
    if inputs.shape is not None and file_of(inputs.shape.model) is None:
        yield f"the shape {inputs.shape.name}, which names no model file"
    workload = inputs.workload
    threads = workload.batch_threads if inputs.path == "prefill-token" else workload.threads
    for item in inputs.ceilings:
        ceilings: Ceilings = item.model
        if ceilings.how == "published":
            yield f"the published ceiling {item.name} with its assumed efficiency"
        elif ceilings.host != inputs.workload.target_host or ceilings.host is None:
            yield f"the ceilings {item.name}, which are of another host"
        counted = sorted({rate.threads for rate in ceilings.rates.values() if rate.threads})
        if threads and counted and threads not in counted:
            yield f"the threads: {threads} ran, {item.name} was measured with {', '.join(map(str, counted))}"
    for name in inputs.stated:
        yield f"what was assumed: {name}"
    yield "the shape's bytes and the ceilings' rates (how, load, spread)"


def _cached_weights(inputs: Inputs) -> Iterator[str]:
    """A rate of reading more than a pass reads: the caches of the processor helped the service more than the measurement."""
    if inputs.shape is None or inputs.path == "load":
        return
    shape = inputs.shape.model.model_copy(update={"experts": None})  # in the end every expert is read again
    read = weights_per_pass(shape, Interval.exact(1.0)).high
    rates = [
        (rate.quantity == "matvec", rate.working_set or 0, f"{name} of {item.name}")
        for item in inputs.ceilings
        for name, rate in item.model.rates.items()
        if rate.quantity in ("matvec", "memory-read")
    ]
    own, most, name = max(
        rates, default=(False, 0, "")
    )  # an engine's own kernel goes before what memory gives
    if most > _LARGER * read > 0:
        how = "" if own else "; hio probe engine --service streams what the model has"
        yield (
            f"whether caches hold the weights: a pass reads {read / 1e6:.3g} MB again and again, {name} was measured over "
            f"{most / 1e6:.3g} MB{how}"
        )


def _taken(inputs: Inputs, column: str) -> list[int]:
    """Counts above nothing that the baseline's rows have in a column."""
    view, baseline = inputs.view, inputs.baseline
    run = view.repo.find("run/v1", name_of(baseline.run), inputs.service) if view and baseline else None
    if view is None or baseline is None or run is None or run.model is None:
        return []
    return [count for count in counts_of(Case(run, view), baseline.arm, column) if count > 0]
