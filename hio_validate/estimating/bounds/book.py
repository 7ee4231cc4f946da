"""A ledger while it is written: terms with the time that follows from them, what was assumed, what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from hio_validate.costs.composition import time_of
from hio_validate.costs.interval import ZERO, Interval
from hio_validate.costs.units import Dimension, amount, fitting
from hio_validate.estimating.bounds.asked import STATED, Asked
from hio_validate.estimating.bounds.price import Price, least
from hio_validate.estimating.bounds.rates import price_of
from hio_validate.models.estimate import Amount, Assumption, Term

HOW: Final = {
    "memory-read": "`hio probe host --yes` measures it, `hio probe engine BUILD --yes` for the engine's own kernels",
    "matmul": "`hio probe host --yes` measures it, `hio probe engine BUILD --yes` for the engine's own kernels",
    "disk-read": "`hio probe host --yes` measures it",
    "http-round-trip": "`hio probe host --yes` measures it",
    "process-start": "`hio probe host --yes` measures it",
}
"""Quantity -> the command that gets its rate."""

_REFUTED_ON_DEVICES: Final = {
    "weights": "kernel-counters", "kv-read": "kernel-counters", "kv-write": "kernel-counters", "state": "kernel-counters", "compute": "kernel-counters",
    "output": "kernel-counters",
    "collectives": "device-timeline", "launches": "device-timeline", "host-gaps": "decode-step-budget",
    "loading": "attribute-cpu-and-device", "queueing": "size-capacity", "draft": "decode-step-budget",
    "dispatch": "attribute-cpu-and-device",
}  # fmt: skip
_ON_A_PROCESSOR: Final = "attribute-cpu-and-device"
"""What refutes a term of memory or arithmetic where no device does it: its counters are the processor's."""


def refuted_by(inputs: Asked, name: str) -> str:
    """Which measurement can show that a term is wrong; threads are stated for what runs on a processor."""
    route = _REFUTED_ON_DEVICES[name]
    has_threads = inputs.workload.threads is not None or inputs.workload.batch_threads is not None
    return _ON_A_PROCESSOR if route == "kernel-counters" and has_threads else route


@dataclass
class Book:
    """A ledger while it is written."""

    inputs: Asked
    terms: list[Term] = field(default_factory=list)
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def lacks_shape(self) -> None:
        """Nothing says what the model is made of; said once, also where whoever gathered said so."""
        if not any("shape" in said for said in self.inputs.missing):
            self.missing.append("no shape of the model: `hio probe model FILE` reads one")

    def assume(self, name: str, amount: Amount, source: str) -> None:
        """The first assumption of a name stands."""
        self.assumptions.setdefault(name, Assumption(name=name, amount=amount, source=source))

    def lacks(self, quantity: str, left_out: str) -> None:
        """A unit cost that nothing tells; documents that are used stay so only where they are named beside another one."""
        used = "".join(f"--ceilings {item.name} " for item in self.inputs.ceilings)
        ways = [
            *([HOW[quantity]] if quantity in HOW else []),
            f"`{used}--ceilings NAME` takes a document that names it",
            *([f"or state it with --assume {quantity}=RATE"] if quantity in STATED else []),
        ]
        self.missing.append(f"no rate {quantity} for {left_out}: {', '.join(ways)}")

    def add(
        self, name: str, resource: str, about: str, work: Amount, price: Price, source: str, *,
        fixed: Amount | None = None, confidence: str = "high",
    ) -> None:  # fmt: skip
        """One term, with the time that follows from it."""
        said: dict[str, Any] = {
            "name": name,
            "about": about,
            "resource": resource,
            "work": work,
            "cost": price.cost,
            "fixed": fixed,
            "source": source,
            "confidence": least(confidence, price.confidence),
            "refuted_by": refuted_by(self.inputs, name),
        }
        first = Term.model_validate({**said, "time": amount(ZERO, "s")})
        self.terms.append(first.model_copy(update={"time": fitting(time_of(first), Dimension.TIME)}))
        for each in price.assumptions:
            self.assume(each.name, each.amount, each.source)

    def rate(self, name: str, resource: str, about: str, work: Interval, quantity: str, source: str) -> None:
        """A term of bytes at one rate, or the sentence that the rate is missing."""
        price = price_of(self.inputs, quantity)
        if price is None:
            self.lacks(quantity, f"the term {name}")
        else:
            self.add(name, resource, about, fitting(work, Dimension.DATA), price, source)

    def time(self, name: str, resource: str, about: str, count: Interval, quantity: str, source: str) -> None:
        """A term of so many of something, or the sentence that its time is missing."""
        price = price_of(self.inputs, quantity)
        if price is None:
            self.lacks(quantity, f"the term {name}")
        else:
            self.add(name, resource, about, amount(count, "1"), price, source)
