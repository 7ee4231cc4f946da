"""Family 6, less waiting: threads against the bandwidth that they saturate, gaps of the host, waiting that a profile shows.

Threads are proposed only where a ceilings document measured another number of them: memory that one thread saturates
gains nothing from a second one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hio_validate.costs.formats import known_as
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import UNITS, amount, base
from hio_validate.estimating.bounds.kernels import vectors_of as counted_vectors
from hio_validate.estimating.bounds.passes import at_once, drafting_of, vectors_of
from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen
from hio_validate.estimating.candidates.profiled import SMALL, share_of
from hio_validate.estimating.candidates.sharding import shards
from hio_validate.estimating.candidates.switched import switched
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.ceilings import Rate
from hio_validate.rules.base import listed

NOTICEABLE = 1.03
"""How many times as fast more threads have to be: less is the noise of a quiet host."""


def find(seen: Seen, found: Found) -> None:
    """Threads, then gaps of the host, passes that do both, more devices, and waiting that a profile shows."""
    for batched in _kinds(seen):
        found.mechanisms += _threads(seen, found, batched)
    found.mechanisms += switched(seen, "overlap-host")
    found.mechanisms += switched(seen, "mixed-passes")
    found.mechanisms += shards(seen, found)
    found.mechanisms += _waiting(seen)


def _kinds(seen: Seen) -> tuple[bool, ...]:
    """Which passes the path has, by the best guess: of one token (False), of several (True). Each may have its own threads."""
    inputs, drafting = seen.inputs, drafting_of(seen.inputs)
    decodes_several = at_once(inputs.workload) > 1 or drafting is None or drafting.tokens.value > 0
    if inputs.path == "decode-token":
        return (decodes_several,)
    return (False, True) if inputs.target.metric == "wall_s" and not decodes_several else (True,)


def _limit(seen: Seen, batched: bool) -> str | None:
    """The term that threads would make shorter: the longest; of a whole request that of these passes."""
    own = "compute" if batched else "weights"
    if len(_kinds(seen)) > 1 and own in seen.times:
        return own
    return max(seen.times, key=lambda name: seen.times[name].value, default=None)


def _threads(seen: Seen, found: Found, batched: bool) -> Iterator[Mechanism]:
    lever, of_one = (
        next((found for found, _ in seen.ways(kind)), None)
        for kind in ("prefill-threads" if batched else "threads", "threads")
    )
    if batched and lever == of_one and len(_kinds(seen)) > 1:
        return  # one setting for both, which is proposed already
    workload = seen.inputs.workload
    now = workload.batch_threads if batched else workload.threads
    limit = _limit(seen, batched)
    if lever is None or now is None or limit not in ("compute", "weights", "kv-read"):
        return
    quantity, rates = _by_threads(seen, limit, now, batched)
    if now not in rates or len(rates) < 2:
        found.missing.append(
            f"{quantity} with {now} and with other numbers of threads on the target's host: whether more threads pay is "
            "not known; hio probe host --yes measures it"
        )
        return
    best = max(sorted(rates), key=lambda threads: rates[threads].value)
    times = rates[best].value / rates[now].value
    if times < NOTICEABLE:
        told = f"{quantity} with {now} is {100 / times:.0f} % of the most that {listed(sorted(rates))} threads reached"
        found.said.append(f"{told}: other threads are not proposed")
        return
    yield Mechanism(
        f"{'batch-' if batched and len(_kinds(seen)) > 1 else ''}threads-{best}", 6,
        f"let {best} threads share a pass: {best} reach {times:.2f} times the {quantity} of {now} on this host",
        term=limit, lever=lever, to=str(best),
        then=_with_threads(seen, best, quantity, times, _moved(seen, lever)),
        confidence="high" if _is_far_apart(rates[now], rates[best]) else "medium",
        stop_if="the gain is below the noise of this host, or other work on it is slowed beyond the plan's limits",
    )  # fmt: skip


def _moved(seen: Seen, lever: Lever) -> tuple[str, ...]:
    """The threads that a setting moves: where nobody says those of several tokens, they follow those of one."""
    one, several = (
        next((found for found, _ in seen.ways(kind)), lever) for kind in ("threads", "prefill-threads")
    )
    if lever != one:
        return ("batch_threads",)
    follows = several == lever or seen.follows(several, lever)
    return ("threads", "batch_threads") if follows else ("threads",)


def _with_threads(seen: Seen, threads: int, quantity: str, times: float, moved: Sequence[str]) -> Inputs:
    """The inputs with other threads; a rate that a person stated is one of the threads as they are, and grows as measured.

    Where only some of the passes get other threads, a stated rate stays: whose it is, nobody says.
    """
    inputs = seen.inputs
    name = "memory-read" if quantity == "matvec" else quantity
    grown = (
        {name: amount(base(inputs.stated[name]) * times, inputs.stated[name].unit)}
        if name in inputs.stated and len(moved) >= len(_kinds(seen))
        else {}
    )
    workload = inputs.workload.model_copy(update=dict.fromkeys(moved, threads))
    return replace(inputs, workload=workload, stated={**inputs.stated, **grown})


def _by_threads(seen: Seen, limit: str, now: int, batched: bool) -> tuple[str, dict[int, Interval]]:
    """What bounds the term, and its rate by threads: of the engine's own kernel where that was measured with several."""
    shape, own = seen.shape, {"weights": "matvec", "compute": "matmul"}.get(limit)
    if own is not None and shape is not None:
        largest = max(shape.weights, key=lambda each: each.bytes)
        rates = _rates(seen, own, largest.type, vectors_of(seen.inputs) if batched else 1.0)
        if now in rates and len(rates) > 1:
            return own, rates
    if limit == "compute":
        return "matmul", _rates(seen, "matmul", "f32")
    return "memory-read", _rates(seen, "memory-read", None)


def _rates(seen: Seen, quantity: str, dtype: str | None, vectors: float | None = None) -> dict[int, Interval]:
    """Threads -> the rate that the target's host reached with them, the best of several.

    vectors: of a pass; of the engine's own products those by the next smaller count that was measured tell, and none where a
    pass has several and only one vector was measured.
    """
    found: dict[int, Interval] = {}
    for item in seen.inputs.ceilings:
        document = item.model
        if document.how != "measured" or document.host != seen.inputs.workload.target_host:
            continue
        rates = [
            each
            for each in document.rates.values()
            if each.quantity == quantity
            and (dtype is None or (each.dtype is not None and known_as(each.dtype) == known_as(dtype)))
        ]
        count = _nearest_count(rates, vectors)
        for rate in rates:
            is_it = vectors is None or counted_vectors(rate) in (None, count)
            if is_it and rate.threads is not None:
                mine = _interval(rate)
                if rate.threads not in found or mine.value > found[rate.threads].value:
                    found[rate.threads] = mine
    return found


def _nearest_count(rates: Iterable[Rate], vectors: float | None) -> int | None:
    """The largest measured count that is not above `vectors`, but not one vector for several."""
    counts = [count for each in rates if (count := counted_vectors(each)) is not None]
    fitting = [
        each for each in counts if vectors is not None and each <= vectors and (each > 1 or vectors == 1)
    ]
    return max(fitting, default=None)


def _interval(rate: Rate) -> Interval:
    size = UNITS[rate.unit][1]
    low, high = min(rate.low or rate.value, rate.value), max(rate.high or rate.value, rate.value)
    return Interval(rate.value * size, low * size, high * size)


def _is_far_apart(one: Interval, other: Interval) -> bool:
    return one.high < other.low


def _waiting(seen: Seen) -> Iterator[Mechanism]:
    """What a profile shows of barriers and polling: time in which threads wait for each other."""
    profile = seen.profile
    parts = tuple(part for part in profile.parts if part.what == "waiting") if profile else ()
    share = share_of(profile, parts) if profile and parts else None
    if share is None or share.value < SMALL:
        return
    yield Mechanism(
        "wait-less", 6,
        f"let threads wait less for each other: larger grains, fewer barriers ({', '.join(part.name for part in parts[:3])})",
        term=parts[0].term if len({part.term for part in parts}) == 1 else None, parts=parts, vanishes=True,
        change="all of the waiting -> none of it", confidence="low",
        rollback="go back to the build and stack as they are",
        stop_if="fewer threads wait less and are no faster", route="attribute-cpu-and-device",
    )  # fmt: skip
