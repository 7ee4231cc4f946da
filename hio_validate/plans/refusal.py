"""Why no plan is begun, in a sentence for whoever asked."""

from __future__ import annotations


class CannotPlan(Exception):
    """There is nothing to plan, or it is not clear what; says why."""
