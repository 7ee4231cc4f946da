"""A small, coherent commit of task-owned files (contract 12.3): planned, judged, made, and pushed where allowed.

Invariants: nothing is written before it is judged; what is judged is what is committed; what is not named stays
as it is, in the index and in the work tree; no history is rewritten.
"""
