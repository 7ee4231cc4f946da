"""Foreign files read into documents of hio: configurations become draft stacks, results become observations.

Invariant: one file per format, told apart by content; nothing is guessed, and nothing is run.
"""
