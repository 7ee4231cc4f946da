"""Measures what a machine reaches at best: memory, matrix products, disk, loopback HTTP, the start of a process.

Invariant: nothing is kept that was not measured. What cannot be measured is a sentence in `unknown`, never a number;
every file is unlinked before it is filled, every child ends when its parent does.
"""
