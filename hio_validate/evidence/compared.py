"""Two sides metric by metric: values, change and direction, or why there is no change to speak of (contract 6.3, 6.5).

Invariants: a change is computed only under one definition, one statistic, one workload and the same work done; what one
side does not say is unknown, and unknown is never equal. No word here is about noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from hio_validate.evidence.definitions import DEFINITIONS, UNITS, UNKNOWN, in_first_unit, why_not_comparable
from hio_validate.evidence.observed import Fact
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.sides import DONE, IN_WORDS, Number, Side
from hio_validate.quantity import declared, measured

SHAPE = ("prompt_tokens", "generated_tokens")
"""What both sides must say of every request."""
LOAD = ("concurrency", "request_rate")
"""Of which both sides must say one, where requests can be at once."""
MUST_BE_KNOWN = (*SHAPE, *LOAD, "dataset", "cache", "depth_tokens")
"""Facts of a workload that are not equal where only one side says them; others may be said by one alone."""
_APART = {"acceptance", "kernel launches", "prefill rate", "time to first token"}
"""Quantities that may be compared where acceptance differs: no drafting is in them (contract 6.4)."""
_SPECULATION = ("drafted", "accepted", "target_batches", "acceptance", "draft_length")
_USUAL = ("value", "mean", "median")
"""Statistics that say what is usual; where only these differ it is told, a missing percentile is not."""


class Word(StrEnum):
    """What became of a metric."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    HIGHER = "higher"
    LOWER = "lower"
    NOT_COMPARABLE = "not comparable"


class Allowed(NamedTuple):
    """What whoever compares says; shown with the result."""

    work_percent: float = 0.0
    """Difference in counts of work that is still the same work."""
    same: frozenset[str] = frozenset()
    """Facts that no side says and that were the same, by the word of whoever compares; `acceptance` is one, too."""


STRICT = Allowed()


class Pair(NamedTuple):
    """One metric of A and the one of B that it is compared with, or most easily taken for."""

    one: Number
    other: Number
    reasons: tuple[str, ...]
    """Why it is not comparable, a sentence each; none: it is."""

    @property
    def change(self) -> float | None:
        """100 (other / one - 1) in one unit; None where it is not comparable, or the first value is 0."""
        values = self._values
        if values is None or values[0] == 0:
            return None
        return 100 * (values[1] / values[0] - 1)

    @property
    def _values(self) -> tuple[float, float] | None:
        if self.reasons:
            return None
        if self.one.definition == UNKNOWN or self.one.unit == self.other.unit:
            return float(self.one.value), float(self.other.value)
        one, other = (
            in_first_unit(each.value, each.unit, each.definition) for each in (self.one, self.other)
        )
        return None if one is None or other is None else (one, other)

    @property
    def word(self) -> Word:
        values = self._values
        if values is None:
            return Word.NOT_COMPARABLE
        one, other = values
        if one == other:
            return Word.EQUAL
        if self.one.better is None:
            return Word.HIGHER if other > one else Word.LOWER
        return Word.BETTER if (other > one) == (self.one.better == "higher") else Word.WORSE


class Compared:
    """Side A and side B; a change is of B in percent of A. `unequal`: where two arms of one run did different work, as
    its plan tolerates it, a sentence each. `called`: the sides in a sentence."""

    def __init__(
        self,
        one: Side,
        other: Side,
        allowed: Allowed = STRICT,
        unequal: Sequence[str] | None = None,
        called: tuple[str, str] = ("A", "B"),
    ) -> None:
        self.one, self.other, self.allowed, self._unequal, self.called = one, other, allowed, unequal, called

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.one, self.other

    @property
    def of_one_record(self) -> bool:
        """Whether both are arms of one run: what was asked of them is one plan's, or one scope's."""
        return bool(self.one.record) and self.one.record == self.other.record

    @property
    def tier(self) -> Tier:
        """The lower of both; two records that were not measured as arms of one run are never more than DRAFT."""
        tiers = {self.one.tier, self.other.tier}
        if Tier.NEEDS_CONTEXT in tiers:
            return Tier.NEEDS_CONTEXT
        return Tier.VERDICT if tiers == {Tier.VERDICT} and self.of_one_record else Tier.DRAFT

    @cached_property
    def workload(self) -> tuple[str, ...]:
        """Why what was asked is not the same, or not known to be, a sentence each."""
        return tuple(self._workload())

    def _workload(self) -> Iterator[str]:
        one, other = self.one.workload, self.other.workload
        for key in dict.fromkeys((*MUST_BE_KNOWN, *one, *other)):
            if key in one and key in other:
                if not same(one[key], other[key]):
                    yield f"{words(key)}: {self._both(one[key], other[key])}"
            elif key in MUST_BE_KNOWN and (key in one or key in other) and not self._told_by_counts(key):
                yield f"{words(key)}: {self._both(one.get(key, 'unknown'), other.get(key, 'unknown'))}"
        if self.one.prompts and self.other.prompts and self.one.prompts != self.other.prompts:
            yield "the prompts are not the same"
        if not self.of_one_record:
            yield from self._unknown_in_both()

    def _both(self, one: Fact, other: Fact) -> str:
        """Both facts, each with its side."""
        return f"{one} in {self.called[0]}, {other} in {self.called[1]}"

    def _told_by_counts(self, key: str) -> bool:
        """Whether the side that does not say what was asked says what was done instead."""
        quantity = {"prompt_tokens": "evaluated", "generated_tokens": "generated"}.get(key)
        return quantity is not None and all(quantity in side.done for side in self.sides)

    def _unknown_in_both(self) -> Iterator[str]:
        for key in SHAPE:
            if not any(key in side.workload for side in self.sides) and not self._told_by_counts(key):
                yield from self._unless_told(key)
        if not any(key in side.workload for key in LOAD for side in self.sides) and not self._is_bench:
            yield from self._unless_told("concurrency")

    def _unless_told(self, key: str) -> Iterator[str]:
        if key not in self.allowed.same:
            yield f"{words(key)}: unknown in both, and unknown is never equal"

    @property
    def _is_bench(self) -> bool:
        """Whether a program measured that asks one thing after the other."""
        speeds = [each for side in self.sides for each in side.numbers if each.better is not None]
        return bool(speeds) and all(each.definition.endswith("-bench") for each in speeds)

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """In what the measured things differ, or may; this is what a comparison is about, and forbids nothing."""
        one, other = self.one.subject, self.other.subject
        return tuple(
            f"{words(key)}: {self._both(one.get(key, 'unknown'), other.get(key, 'unknown'))}"
            for key in dict.fromkeys((*one, *other))
            if not (key in one and key in other and same(one[key], other[key]))
        )

    @cached_property
    def work(self) -> dict[str, str]:
        """Quantity of work that was not the same, or not known to be -> a sentence."""
        if self._unequal is not None:
            return {f"{number}": said for number, said in enumerate(self._unequal)}
        found = {}
        for quantity in DONE.values():
            one, other = (side.done.get(quantity) for side in self.sides)
            if one is None and other is None:
                continue
            said = f"{IN_WORDS[quantity]}: {self._both(_counts(one), _counts(other))}"
            if one is None or other is None:
                if not self._both_say_what_was_asked(quantity):
                    found[quantity] = said
            elif not self._within(one, other):
                tolerated = self.allowed.work_percent
                found[quantity] = said + (f" (tolerated {declared(tolerated)})" if tolerated else "")
        if not any(quantity in side.done for quantity in _SPECULATION for side in self.sides):
            drafting = next(filter(None, map(drafts, self.sides)), "")
            if drafting and "acceptance" not in self.allowed.same:
                found["acceptance"] = f"draft acceptance: unknown in both, and one drafts ({drafting})"
        return found

    def _both_say_what_was_asked(self, quantity: str) -> bool:
        key = {"evaluated": "prompt_tokens", "generated": "generated_tokens"}.get(quantity)
        return key is not None and all(key in side.workload for side in self.sides)

    def _within(self, one: Sequence[float], other: Sequence[float]) -> bool:
        lowest, highest = min(*one, *other), max(*one, *other)
        return highest - lowest <= highest * self.allowed.work_percent / 100 + 1e-9

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every metric that both sides have in some form, those of A first and in its order."""
        found = [pair for number in self.one.numbers if (pair := self._pair(number, self.other))]
        partners = {pair.other for pair in found}
        for number in self.other.numbers:
            pair = None if number in partners else self._pair(number, self.one)
            if pair is not None and pair.other.definition != number.definition:
                found.append(Pair(pair.other, number, tuple(self._reasons(pair.other, number))))
        return tuple(found)

    def only(self, of_other: bool = False) -> tuple[Number, ...]:
        """The metrics that one side alone has, in no form the other one has."""
        mine, theirs = (self.other, self.one) if of_other else (self.one, self.other)
        return tuple(each for each in mine.numbers if self._pair(each, theirs) is None)

    def _pair(self, number: Number, side: Side) -> Pair | None:
        partner = _partner(number, side.numbers)
        if partner is None:
            return None
        return Pair(number, partner, tuple(self._reasons(number, partner)))

    def _reasons(self, one: Number, other: Number) -> Iterator[str]:
        if not (one.column and one.column == other.column):
            counted = why_not_comparable(one.definition, other.definition)
            if counted is not None:
                yield counted
        if one.statistic != other.statistic:
            yield f"one is the {one.statistic}, the other the {other.statistic}"
        elif one.statistic == "spread":
            yield "whether a deviation was divided by n or n - 1 is unknown, and unknown is never equal"
        if one.unit != other.unit and not _convertible(one, other):
            yield f"one is in {one.unit}, the other in {other.unit}"
        yield from self.workload
        if one.definition in DONE or other.definition in DONE:
            return
        apart = DEFINITIONS[one.definition].quantity in _APART
        yield from (said for quantity, said in self.work.items() if not (apart and quantity in _SPECULATION))

    @property
    def comparable(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if not pair.reasons)


def same(one: Fact, other: Fact) -> bool:
    """Whether two facts say the same; a number is the same however it is written."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, bool) or isinstance(other, bool):
        return str(one).lower() == str(other).lower()
    try:
        return float(one) == float(other)
    except (ValueError, OverflowError):
        return False


def drafts(side: Side) -> str:
    """What a side says that it speculates with; "" where it says that it does not, or nothing."""
    told = (str(fact).strip() for key, fact in side.subject.items() if key.startswith("speculat"))
    return next((fact for fact in told if fact.lower() not in _NO_DRAFTING), "")


_NO_DRAFTING = ("", "none", "off", "false", "unknown", "0", "[]")


def words(key: str) -> str:
    """The key of a fact as a person reads it."""
    return key.replace("_", " ")


def _counts(values: Sequence[float] | None) -> str:
    if values is None:
        return "unknown"
    shown = [measured(value) if value % 1 else f"{value:.0f}" for value in values]
    return "/".join(shown) if len(shown) < 5 else f"{shown[0]} to {shown[-1]}"


def _partner(number: Number, others: Sequence[Number]) -> Number | None:
    """The number of the other side that is it, or that is most easily taken for it; None where none is."""

    def nearness(each: Number) -> int:
        statistic, name = each.statistic == number.statistic, each.name == number.name
        if each.definition == number.definition != UNKNOWN:
            return 5 + name if statistic else 1 + name if number.statistic in _USUAL else 0
        if name:
            return 3 + statistic
        one, other = DEFINITIONS[each.definition].quantity, DEFINITIONS[number.definition].quantity
        return 2 if statistic and one == other != UNKNOWN else 0

    found = max(others, key=nearness, default=None)
    return found if found is not None and nearness(found) else None


def _convertible(one: Number, other: Number) -> bool:
    units = UNITS.get(DEFINITIONS[one.definition].dimension, {})
    return one.unit in units and other.unit in units
