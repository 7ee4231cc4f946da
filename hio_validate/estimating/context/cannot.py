"""Why there is no estimate, in a sentence for whoever asked."""

from __future__ import annotations


class CannotEstimate(Exception):
    """What was named is not there, or is not about this workload; says what to name instead."""
