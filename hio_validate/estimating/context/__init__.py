"""What is asked and what the repository knows of it: the workload, its settings in force, rates, shape, and what was measured.

Invariant: what is not known is said in `missing`, with what to type; a run counts only for the workload that it measured.
"""
