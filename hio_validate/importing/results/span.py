"""The duration that a file of single requests does not say: from the first request to the last end, and rates over it."""

from __future__ import annotations

from hio_validate.evidence.observed import Measured, Observation


class Span:
    """Moments in nanoseconds, as exact as the file has them."""

    def __init__(self) -> None:
        self.began: int | None = None
        self.ended: int | None = None

    def add(self, start: int, end: int) -> None:
        self.began = start if self.began is None else min(self.began, start)
        self.ended = end if self.ended is None else max(self.ended, end)

    @property
    def elapsed(self) -> int | None:
        """Nanoseconds; None where no request was added, or all of them take no time."""
        if self.began is None or self.ended is None or self.ended <= self.began:
            return None
        return self.ended - self.began


def add_rates(found: Observation, elapsed: int, completed: int, tokens: float | None = None) -> None:
    """Duration, completed requests a second and, where they are known, generated tokens a second. `elapsed` is in nanoseconds."""
    rates = [
        ("benchmark_duration", "duration", elapsed, "ns"),
        ("request_throughput", "throughput-requests", completed * 10**9 / elapsed, "request/s"),
    ]
    if tokens is not None:
        rates.append(("output_token_throughput", "throughput-output", tokens * 10**9 / elapsed, "token/s"))
    found.metrics += [
        Measured(name, definition, "value", value, unit, 1, derived=True)
        for name, definition, value, unit in rates
    ]
