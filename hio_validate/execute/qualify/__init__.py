"""Qualifying a live process: what serving needs is tried on it, and every answer is kept as counts and times.

One file per probe in probes/: each asks and gives rows. What the rows show is judged by evidence/probes.py alone.
"""
