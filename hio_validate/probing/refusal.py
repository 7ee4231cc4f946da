"""Why nothing is measured, or one thing is not."""

from __future__ import annotations


class CannotProbe(Exception):
    """Nothing can be measured here; the sentence says why and what helps."""


class NotMeasured(Exception):
    """One rate is left out; the sentence says why and is kept in `unknown`."""
