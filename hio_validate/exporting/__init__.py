"""A run in the formats of others, one file a target; each is checked by the target's schema before it is written.

Invariant: what a run does not know is absent, as each schema wants it, and never 0; the tier goes with every number.
"""
