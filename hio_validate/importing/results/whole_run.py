"""What a run as a whole must obey, whoever wrote it down: its requests add up, none lasts longer than the run, and no more
was accepted than was drafted.

Invariant: a number that its run has no room for is a finding and no metric.
"""

from __future__ import annotations

import math
from typing import Any

from hio_validate.evidence.observed import Measured, Requests
from hio_validate.importing.results.record_numbers import Readings

_SLACK = 0.01
"""Share by which a latency may be above what its run has room for: clocks start and stop one after the other."""
_MILLISECONDS = {"s": 1000.0, "ms": 1.0}


def at_once(told: Any) -> float | None:
    """Most requests at once, as a source says it; None where it sets no bound."""
    try:
        bound = float(told)
    except (TypeError, ValueError, OverflowError):
        return None
    return bound if 0 < bound < math.inf else None


def judge_requests(readings: Readings, requests: Requests) -> None:
    """Finds more requests that ended than were asked for."""
    asked, completed, failed, _ = requests
    if asked is None or completed is None:
        return
    if completed > asked:
        text = f"{completed} requests were completed, {asked} asked for"
        readings.finding("completed-exceeds-asked", text)
    elif failed is not None and completed + failed > asked:
        text = f"{completed} completed and {failed} failed requests are more than the {asked} asked for"
        readings.finding("counts-contradict", text)


def judge_duration(
    readings: Readings, duration: float | None, completed: int | None, at_once: float | None
) -> None:
    """Drops what does not fit into the run. `duration`: seconds; `at_once`: most requests at once, None: unknown.

    n requests of a mean latency L, of which at most c ran at once, take at least n L / c (Little 1961).
    """
    if duration is None or not completed:
        return
    if duration == 0:
        rates = [each.name for each in readings.metrics if each.unit.endswith("/s")]
        text = f"duration is 0 s, but {completed} requests were completed: no work takes no time"
        readings.drop([readings.prefix + "duration", *rates], "impossible-value", text)
        return
    for each in [each for each in readings.metrics if each.definition == "latency-request"]:
        if each.statistic == "std" or each.unit not in _MILLISECONDS:
            continue
        seconds = each.value * _MILLISECONDS[each.unit] / 1000
        room = duration * (1 + _SLACK)
        if seconds > room:
            text = f"{each.name} is {each.value:g} {each.unit}, longer than the whole run, {duration:g} s"
            readings.drop([each.name], "latency-exceeds-duration", text)
        elif each.statistic == "mean" and at_once and completed * seconds > room * at_once:
            text = (
                f"{each.name} is {each.value:g} {each.unit}, but {completed} requests of that length, "
                f"{at_once:g} at once, take {completed * seconds / at_once:g} s, and the run {duration:g} s"
            )
            readings.drop([each.name], "latency-exceeds-duration", text)


def judge_drafting(readings: Readings, drafted: int | None, accepted: int | None) -> None:
    """Finds more accepted than drafted tokens, and a step that accepted less than the target's own token."""
    if drafted is not None and accepted is not None and accepted > drafted:
        gone = [each.name for each in readings.metrics if _is_of_drafting(each)]
        text = f"{accepted} tokens were accepted of {drafted} that were drafted"
        readings.drop(gone, "impossible-value", text)
    for each in [each for each in readings.metrics if each.definition == "draft-length"]:
        if not 1 <= each.value < math.inf:
            text = f"{each.name} is {each.value:g}: with the target's own token each step accepts at least 1"
            readings.drop([each.name], "impossible-value", text)


def _is_of_drafting(measured: Measured) -> bool:
    return measured.definition in ("draft-acceptance", "draft-length")
