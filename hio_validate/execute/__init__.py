"""Executes a pinned plan on this host and brings everything back (contract section 5, docs/adr/0011-experiments.md)."""
