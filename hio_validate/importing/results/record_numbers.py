"""The numbers of one record on their way in: each is taken once, and none that cannot be so becomes a metric.

Invariants: null, NaN and the statistics of no observation at all are absent; a number below zero, a quantile below a
smaller one, and a number that its own counts or samples contradict are findings and no metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

from hio_validate.evidence.averages import mean
from hio_validate.evidence.definitions import STATISTICS
from hio_validate.evidence.observed import Fact, Finding, Measured
from hio_validate.importing.results.importer import foreign, is_number

_ALIASES = {"avg": "mean", "p50": "median", "stddev": "std"}
_LONGEST = 200
"""Characters of a fact."""
FEW = 20
"""Fewer completed requests than this make each outer quantile one of them."""
_MOST = 1e30
"""More than any count, time or rate can be, in whatever unit; arithmetic with more would not end well."""
_OF_REQUESTS = ("completed-exceeds-asked", "counts-contradict")
"""Findings that stay where nothing was measured: they are of the requests themselves."""
_CONTENT = re.compile(
    r"text|prompt|content|message|response|answer|reason|request|errors?$|^input$|^output$", re.I
)
_PRIVATE = re.compile(r"key|secret|passw|credential|auth|header|(^|_)token$", re.I)


def statistic_of(word: str) -> str | None:
    """A statistic by the word that a tool has for it: p99, p99.9, p99p9, p50, avg. None: it is none that hio keeps."""
    if word.startswith("p"):
        word = "p" + word[1:].replace("p", ".").removesuffix(".0")
    word = _ALIASES.get(word, word)
    return word if word in STATISTICS else None


def rank_of(statistic: str) -> float | None:
    """Percent of the observations at or below it, for a quantile; None for a mean, a deviation or a total."""
    known = {"min": 0.0, "median": 50.0, "max": 100.0}
    return float(statistic[1:]) if statistic[0] == "p" else known.get(statistic)


def _half_of_last_digit(value: int | float) -> float:
    """By how much a number as written may differ from what was rounded to it."""
    from decimal import Decimal  # only where results are imported

    exponent = Decimal(repr(value)).as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0


def agrees(said: float, computed: float, error: float = 0.0) -> bool:
    """Whether a number is another one, rounded to the digits it is written with; `error` is what the other may be off."""
    whole = int(said) if said == int(said) else said  # 2.0 may be any number rounded to a whole one
    return abs(said - computed) <= _half_of_last_digit(whole) * 1.01 + abs(computed) * 1e-6 + error


def of_ordered(statistic: str, ordered: Sequence[float], middle: float) -> float | None:
    """A statistic of sorted samples, `middle` their mean, as numpy computes it. None: undefined.

    The deviation is the population's, quantiles are interpolated linearly.
    """
    if statistic == "mean":
        return middle
    if statistic == "median":
        half = len(ordered) // 2
        return ordered[half] / 2 + ordered[~half] / 2
    if statistic == "std":
        return math.dist(ordered, [middle] * len(ordered)) / math.sqrt(len(ordered))
    rank = rank_of(statistic)
    if rank is None:
        return None
    place = (len(ordered) - 1) * rank / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def is_measurable(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number that can have been measured: not below zero, and not more than anything can be."""
    return is_number(value) and 0 <= value <= _MOST


def fact(value: Any) -> Fact | None:
    """A value as a fact: lists and objects as cut JSON text, infinity as a word; None where it says nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value is None or value == "":
        return None
    if isinstance(value, list | dict):
        import json  # only where a fact is no plain value

        value = json.dumps(value)
    return value[:_LONGEST] if isinstance(value, str) else value


def facts(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Fact]:
    """The facts of an object under hio's names: key of the source -> name."""
    found = ((name, fact(values.get(key))) for key, name in names.items())
    return {name: value for name, value in found if value is not None}


def rest(values: Mapping[str, Any], known: set[str]) -> dict[str, Fact]:
    """What nobody knows, without what may be content of requests or a secret: of such keys only numbers are kept."""
    shown = {
        key: fact(value)
        for key, value in values.items()
        if is_number(value) or not (_CONTENT.search(key) or _PRIVATE.search(key))
    }
    return foreign(shown, known)


def per_request(total: int | float | None, requests: int | None) -> int | float | None:
    """A total over the requests, exact where it divides."""
    if not total or not requests:
        return None
    return total // requests if total % requests == 0 else total / requests


class Readings:
    """Takes the numbers of one object; `metrics`, `findings` and `unknown` are what came of it."""

    def __init__(self, values: Mapping[str, Any], line: int = 0, prefix: str = "") -> None:
        self.values, self.line, self.prefix = values, line, prefix
        self.metrics: list[Measured] = []
        self.findings: list[Finding] = []
        self.unknown: list[str] = []
        self.used: set[str] = set()

    def finding(self, id: str, message: str) -> None:
        """Notes what cannot be so."""
        self.findings.append(Finding(id, message, self.line))

    def number(self, key: str) -> int | float | None:
        """The number under a key; None where it is absent, null or NaN."""
        self.used.add(key)
        value = self.values.get(key)
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return None
        if not is_number(value):
            self.finding("no-number", f"{self.prefix}{key} is {str(value)[:40]!r}: expected a number")
            return None
        if value > _MOST or value < 0:
            self.finding("impossible-value", f"{self.prefix}{key} is {value}: no such number can be measured")
            return None
        return value

    def count(self, key: str) -> int | None:
        """A whole number under a key; a table may have written it with a decimal point."""
        value = self.number(key)
        if value is None or value == int(value):
            return None if value is None else int(value)
        self.finding("impossible-value", f"{self.prefix}{key} is {value}: expected a whole number")
        return None

    def take(self, key: str, definition: str, statistic: str, unit: str, n: int | None = None) -> None:
        """Makes the number under a key a metric, where it is one."""
        value = self.number(key)
        if value is not None:
            self.metrics.append(Measured(self.prefix + key, definition, statistic, value, unit, n))

    def rate(
        self, key: str, definition: str, unit: str, amount: float | None, duration: float | None
    ) -> None:
        """A rate, held against its own amount and duration (seconds) where both are known."""
        value = self.number(key)
        if value is None:
            return
        if value == 0 and not amount:
            self.unknown.append(f"{self.prefix}{key}: 0, so that nothing was counted")
            return
        if amount is not None and duration:
            off = amount / duration * (_half_of_last_digit(duration) / duration + 1e-6)
            if not agrees(value, amount / duration, off):
                self.finding(
                    "rate-contradicts-counts",
                    f"{self.prefix}{key} is {value:g} {unit}, but {amount:g} in {duration:g} s are {amount / duration:g}",
                )
                return
        self.metrics.append(Measured(self.prefix + key, definition, "value", value, unit))

    def family(
        self, keys: Mapping[str, str], definition: str, unit: str, n: int | None = None, what: str = ""
    ) -> None:
        """The statistics of one quantity, key -> statistic; where all are 0, nothing was observed."""
        found = [(key, statistic, self.number(key)) for key, statistic in keys.items()]
        known = [(key, statistic, value) for key, statistic, value in found if value is not None]
        if known and all(value == 0 for _, _, value in known):
            self.unknown.append(f"{what or definition}: every statistic is 0, so that none was observed")
            return
        wrong = self._out_of_order(known)
        self.metrics += [
            Measured(self.prefix + key, definition, statistic, value, unit, n)
            for key, statistic, value in known
            if key not in wrong
        ]

    def _out_of_order(self, known: Sequence[tuple[str, str, int | float]]) -> set[str]:
        """Keys of quantiles that lie below a lower one, and of a mean outside of least and most."""
        ranked = sorted(
            (rank, value, key) for key, word, value in known if (rank := rank_of(word)) is not None
        )
        wrong: set[str] = set()
        for (low, less, one), (high, more, other) in pairwise(ranked):
            if low < high and less > more * (1 + 1e-9):
                wrong |= {one, other}
                text = f"{self.prefix}{one} is {less:g}, more than {self.prefix}{other}, {more:g}"
                self.finding("statistics-out-of-order", text)
        ends = {word: value for _, word, value in known}
        for key, word, value in known:
            least, most = ends.get("min", 0), ends.get("max", math.inf)
            if word == "mean" and not least * (1 - 1e-9) <= value <= most * (1 + 1e-9):
                wrong.add(key)
                self.finding(
                    "statistics-out-of-order", f"{self.prefix}{key} is {value:g}, not between least and most"
                )
        return wrong

    def drop(self, names: Iterable[str], id: str, message: str) -> None:
        """Takes metrics back, with the reason."""
        gone = set(names)
        self.metrics = [each for each in self.metrics if each.name not in gone]
        self.finding(id, message)

    def hold_against(self, definition: str, samples: Sequence[float], keep: bool = False) -> None:
        """Recomputes every statistic of a definition from its samples, in the statistics' unit; what differs goes."""
        concerned = [each for each in self.metrics if each.definition == definition]
        if not samples or not concerned:
            return
        ordered, middle = sorted(samples), mean(samples)
        for each in concerned:
            computed = of_ordered(each.statistic, ordered, middle)
            if computed is None:
                continue
            if not agrees(each.value, computed):
                self.drop(
                    [each.name],
                    "statistic-contradicts-samples",
                    f"{each.name} is {each.value:g} {each.unit}, but its {len(samples)} samples give {computed:g}",
                )
                continue
            kept = tuple(samples) if keep and each.statistic == "mean" else ()
            self.metrics[self.metrics.index(each)] = each._replace(
                n=len(samples), samples=kept, samples_derived=bool(kept)
            )

    def first_within_whole(self, first: Sequence[str], whole: str, of_all: bool = True) -> None:
        """The first token comes before the end: each quantile of the one is at most that of the other.

        `of_all`: both are of the same requests; where not, only the greatest of each may be compared.
        """
        ends = {each.statistic: each for each in self.metrics if each.definition == whole}
        for each in [each for each in self.metrics if each.definition in first]:
            end = ends.get(each.statistic)
            compared = each.statistic == "max" if not of_all else each.statistic != "std"
            if end is not None and compared and each.value > end.value * (1 + 1e-6):
                self.drop(
                    [each.name, end.name],
                    "first-token-after-end",
                    f"{each.name} is {each.value:g} {each.unit}, later than the whole request, {end.value:g}",
                )

    def completed(self, n: int | None) -> None:
        """Judges what was measured by how many requests were completed: none is no evidence, a few are told."""
        if n == 0:
            self.nothing_completed()
        elif n is not None and n < FEW and self.metrics:
            what = "percentiles are single requests, and a mean moves with each of them"
            self.finding("few-samples", f"{n} completed request{'s' * (n > 1)}: {what}")

    def nothing_completed(self) -> None:
        """All that was measured goes: of no completed request there is no evidence."""
        self.metrics, self.unknown = [], []
        self.findings = [each for each in self.findings if each.id in _OF_REQUESTS]
        self.finding(
            "zero-completed", "no request was completed, so that none of its numbers is a measurement"
        )
