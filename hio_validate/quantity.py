"""Measured numbers in words, the same on every page.

Invariant: a computed change is shown with two decimals and its sign, a published one with every digit that it was
published with (contract 7.3: a number stands for the digits it shows).
"""

from __future__ import annotations


def measured(value: float, unit: str = "") -> str:
    """A metric's value to five digits, with its unit: 62.365 token/s."""
    return f"{value:.5g} {unit}".rstrip()


def from_to(one: float, other: float, unit: str) -> str:
    """Two values of one metric: 46.011 -> 62.365 token/s."""
    return f"{measured(one)} -> {measured(other, unit)}"


def change(percent: float) -> str:
    """A computed change in percent of the reference: +35.54 %."""
    return f"{percent:+.2f} %"


def share(percent: float) -> str:
    """A computed size in percent that has no direction: 6.22 %."""
    return f"{percent:.2f} %"


def declared(percent: float) -> str:
    """A size in percent as a document declares it: 5.5 %."""
    return f"{percent:.12g} %"


def published(percent: float) -> str:
    """A change in percent as an entry publishes it: +39.5062 %."""
    return f"{percent:+.12g} %"


def span(seconds: float) -> str:
    """How long something may take: 90 s, 40 min, 4 h."""
    if seconds < 120:
        return f"{seconds:g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def probability(p: float) -> str:
    """A p value or a level to three digits: 0.0286."""
    return f"{p:.3g}"
