"""The trials of a run: what counts as one observation, what does not and why (contract 6.2, 6.7, 7.2).

Invariant: a trial is a leg, a process of its own; its measured requests are one observation, their median. A leg that
is invalid is kept and shown, and never enters a statistic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.evidence.averages import mean, median
from hio_validate.evidence.raw import Row, counts, failure, is_measured, is_unknown, number
from hio_validate.models.entry import Result
from hio_validate.models.plan import Plan
from hio_validate.models.run import Leg, Run
from hio_validate.repo import Item, Repo


class Trial(NamedTuple):
    """One leg of a run, or one row where the run does not number its legs."""

    arm: str
    number: int
    """Position in the order in which the legs ran, 1 first."""
    rows: tuple[Row, ...]
    """Its measured requests that did not fail, in the order of the file."""
    checks: tuple[Row, ...]
    """Its requests of the quality gate."""
    invalid: tuple[str, ...]
    """Why it does not count, one reason each; none = it counts."""
    leg: Leg | None = None
    """What the run says about the leg."""

    @property
    def counted(self) -> bool:
        return not self.invalid

    def value(self, metric: str) -> float | None:
        """The observation, in the unit of the metric's column: the median of the measured requests.

        None where one of them does not know the metric: a median of those that do is one of chosen requests.
        Raises UnreadableRows or, without any request, IndexError.
        """
        if any(is_unknown(row, metric) for row in self.rows):
            return None
        return median([number(row, metric) for row in self.rows])


def plan_of(run: Item, repo: Repo) -> Plan | None:
    """The pinned plan of a run; None where there is none, or where the repository's has other bytes."""
    if run.model.plan is None:
        return None
    found = pinned(repo, "plan/v1", run.model.plan, run.service)
    return found.model if found is not None else None


def pinned(repo: Repo, kind: str, pin: str, service: str | None) -> Item | None:
    """The readable document that a pin means; None where the repository has none with these bytes."""
    name, _, digest = pin.partition("@")
    found = repo.find(kind, name, service)
    if found is None or found.model is None or found.document.digest != digest:
        return None
    return found


def trials_of(run: Run, rows: Sequence[Row], plan: Plan | None = None) -> tuple[Trial, ...]:
    """All trials, the invalid ones too, in the order in which they ran."""
    if run.raw.leg is None:
        return tuple(_of_row(run, row, place, plan) for place, row in enumerate(_measured(run, rows), 1))
    by_leg: dict[str, list[Row]] = {str(leg.leg): [] for leg in run.legs}
    for row in rows:
        by_leg.setdefault(row.cells[run.raw.leg], []).append(row)
    told = {str(leg.leg): leg for leg in run.legs}
    found = [_of_leg(run, leg, mine, told.get(leg), plan) for leg, mine in by_leg.items()]
    return tuple(sorted(found, key=lambda trial: trial.number))


def _measured(run: Run, rows: Sequence[Row]) -> Iterator[Row]:
    return (row for row in rows if is_measured(row, run))


def _of_row(run: Run, row: Row, place: int, plan: Plan | None) -> Trial:
    failed = failure(row, run)
    wrong = [f"its request failed: {failed}"] if failed else _cache_hits(run, [row], plan)
    wrong += _undecided([row], plan) if counts(row, run) else []
    return Trial(row.cells[run.raw.arm], place, (row,) if counts(row, run) else (), (), tuple(wrong))


def _of_leg(run: Run, name: str, rows: Sequence[Row], leg: Leg | None, plan: Plan | None) -> Trial:
    measured = list(_measured(run, rows))
    good = [row for row in measured if counts(row, run)]
    checks = [row for row in rows if run.raw.phase is not None and row.cells[run.raw.phase] == "check"]
    arm = leg.arm if leg is not None else rows[0].cells[run.raw.arm]
    wrong = [*(leg.invalid if leg is not None else ()), *_seen(run, arm, rows, measured, good, plan)]
    if leg is None and run.legs:
        wrong.append(f"the run tells of no leg {name}")
    position = int(name) if name.isdecimal() else len(run.legs) + rows[0].line
    return Trial(arm, position, tuple(good), tuple(checks), tuple(dict.fromkeys(wrong)), leg)


def _seen(
    run: Run, arm: str, rows: Sequence[Row], measured: Sequence[Row], good: Sequence[Row], plan: Plan | None
) -> Iterator[str]:
    """What the raw rows themselves say against a leg, whatever the run says about it."""
    strangers = {row.cells[run.raw.arm] for row in rows} - {arm}
    if strangers:
        yield f"it has rows of another arm: {', '.join(sorted(strangers))}"
    failed = [failure(row, run) for row in measured if failure(row, run)]
    if failed:
        yield f"{len(failed)} of {len(measured)} measured requests failed: {failed[0]}"
    if not measured:
        yield "it measured nothing"
    elif plan is not None and plan.requests is not None and len(measured) != plan.requests.measured:
        yield f"{len(measured)} measured requests; the plan says {plan.requests.measured}"
    yield from _undecided(good, plan)
    yield from _cache_hits(run, measured, plan)
    yield from _unequal_answers(run, good, plan)


def _undecided(rows: Sequence[Row], plan: Plan | None) -> list[str]:
    """Good requests that do not know the metric which decides: without it the leg says nothing of the question."""
    metric = plan.decide.metric if plan is not None else None
    unknown = [row for row in rows if metric in row.cells and is_unknown(row, metric)]
    if not unknown:
        return []
    return [f"{metric}, which decides, is unknown for {len(unknown)} of {len(rows)} measured requests"]


def _cache_hits(run: Run, rows: Sequence[Row], plan: Plan | None) -> list[str]:
    """Prompt tokens that came from a cache where the plan wants it cold (contract 6.2)."""
    if not is_cold(run, plan) or "cached" not in run.columns:
        return []
    hits = [row.cells["cached"] for row in rows if has_tokens(row.cells["cached"])]
    return [f"{hits[0]} prompt tokens came from a cache, which the regime does not allow"] if hits else []


def is_cold(run: Run, plan: Plan | None) -> bool:
    """Whether no prompt token may come from a cache: as planned, else as the run's scope says."""
    if plan is not None:
        return plan.cache == "cold"
    regime = run.scope.regime if run.scope and run.scope.regime else ""
    return regime.lower().startswith("cold")


def has_tokens(cell: str) -> bool:
    """Whether a cell of counts says more than none."""
    try:
        return float(cell) > 0
    except ValueError:
        return False


def _unequal_answers(run: Run, rows: Sequence[Row], plan: Plan | None) -> list[str]:
    """One prompt that got several answers within a leg, where the plan wants them equal."""
    wanted = plan is not None and plan.same_work.content == "equal"
    if not wanted or not {"prompt_sha256", "content_sha256"} <= run.columns.keys():
        return []
    answers: dict[str, set[str]] = {}
    for row in rows:
        answers.setdefault(row.cells["prompt_sha256"], set()).add(row.cells["content_sha256"])
    several = max(map(len, answers.values()), default=0)
    return [f"one prompt got {several} different answers within it"] if several > 1 else []


def known(trials: Sequence[Trial], arm: str, metric: str) -> list[float]:
    """The observations of an arm's trials that count and know the metric, in their order."""
    return [
        value
        for trial in trials
        if trial.arm == arm and trial.counted and (value := trial.value(metric)) is not None
    ]


def change_percent(result: Result, run: Run, rows: Sequence[Row], plan: Plan | None = None) -> float | None:
    """100 * (to / from - 1) of the statistic of each arm's trials; None where no trial of an arm knows the metric, or
    the reference is 0."""
    statistic = mean if result.statistic == "mean" else median
    found = trials_of(run, rows, plan)
    measured = [known(found, arm, result.metric) for arm in (result.from_arm, result.to_arm)]
    if not all(measured):
        return None
    # A ratio in units of the largest value is the same ratio, and no sum overflows.
    unit = max(abs(value) for values in measured for value in values) or 1.0
    from_, to = (statistic([value / unit for value in values]) for values in measured)
    return None if from_ == 0 else 100 * (to / from_ - 1)
