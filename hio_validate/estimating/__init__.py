"""From the documents of a repository to one estimate: inputs, ledger, bound, what was measured, candidates, the next experiment.

Invariant: an estimate launches nothing and decides nothing (contract 9.5, 9.7). What an input is not known from is said
in `missing`; nothing is assumed without a name, an interval and a source.
"""
