"""What contradicts itself is named; what does not is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.models.ceilings import Rate
from hio_validate.probing.sane import implausible, trusted


def one(quantity: str, value: float, **more: Any) -> Rate:
    unit = "GFLOP/s" if quantity == "matmul" else "GB/s"
    return Rate(quantity=quantity, value=value, unit=unit, **more)


GOOD = {
    "memory-read-1": one("memory-read", 10, threads=1),
    "memory-copy-1": one("memory-copy", 19, threads=1),
    "memory-read-4": one("memory-read", 30, threads=4),
    "memory-copy-4": one("memory-copy", 40, threads=4),
    "matmul-f32-256-1": one("matmul", 100, threads=1, dtype="f32"),
    "matmul-f32-256-4": one("matmul", 300, threads=4, dtype="f32"),
    "matmul-f64-256-1": one("matmul", 50, threads=1, dtype="f64"),
    "matvec-Q8_0-1x4": one("matvec", 5, threads=1, dtype="Q8_0", vectors=4),
    "matvec-Q8_0-2x4": one("matvec", 9, threads=2, dtype="Q8_0", vectors=4),
    "matvec-Q8_0-2x16": one("matvec", 2, threads=2, dtype="Q8_0", vectors=16),
    "disk-read": one("disk-read", 2),
}


def test_rates_of_a_quiet_machine_contradict_nothing() -> None:
    assert [*implausible(GOOD)] == []


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("memory-copy-1", 23, ("memory-copy-1", "memory-read-1")),
        ("memory-read-4", 7, ("memory-copy-4", "memory-read-4", "memory-read-4")),
        ("matmul-f32-256-4", 70, ("matmul-f32-256-4",)),
        ("matmul-f64-256-1", 130, ("matmul-f64-256-1", "matmul-f32-256-1")),
        ("matvec-Q8_0-2x4", 3, ("matvec-Q8_0-2x4",)),
        ("disk-read", 31, ("disk-read",)),
    ],
)
def test_a_contradiction_names_its_rates(name: str, value: float, names: tuple[str, ...]) -> None:
    found = {**GOOD, name: GOOD[name].model_copy(update={"value": float(value)})}
    doubted = tuple(each for who, _ in implausible(found) for each in who)
    assert doubted == names
    assert all(sentence.startswith(who[0]) for who, sentence in implausible(found))


STEADY = {name: rate.model_copy(update={"confidence": "high"}) for name, rate in GOOD.items()}


def test_a_rate_of_a_quiet_machine_keeps_its_confidence() -> None:
    found = trusted(STEADY, dict.fromkeys(STEADY, 0.1), 8)
    assert found.rates == STEADY and found.why == ()


def test_a_contradiction_takes_the_confidence_of_its_rates_alone_and_changes_no_value() -> None:
    odd = {**STEADY, "disk-read": STEADY["disk-read"].model_copy(update={"value": 1e9})}
    found = trusted(odd, {}, 8)
    assert [name for name, rate in found.rates.items() if rate.confidence != "high"] == ["disk-read"]
    assert found.rates["disk-read"].confidence == "low" and found.rates["disk-read"].value == 1e9
    assert found.why == ("disk-read is more than memory is read with: a cache answered in the disk's place",)


@pytest.mark.parametrize(
    ("used", "processors", "word"),
    [
        (0.19, 1, "high"),
        (0.2, 8, "medium"),
        (1.9, 8, "medium"),
        (2.0, 8, "low"),
        (0.2, 1, "medium"),
        (0.3, 1, "low"),
    ],
)
def test_others_take_confidence_by_the_processors_that_they_use(
    used: float, processors: int, word: str
) -> None:
    found = trusted(STEADY, {"disk-read": used}, processors)
    assert found.rates["disk-read"].confidence == word
    assert found.rates["memory-read-1"].confidence == "high"
    assert bool(found.why) is (word != "high")
