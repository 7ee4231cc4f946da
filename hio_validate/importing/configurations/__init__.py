"""Foreign configurations read into draft stacks: one file per format, told apart by content.

Invariant: what only the running system could fill in stays as it is written and is listed; nothing is guessed, nothing
is run, and no secret leaves this room.
"""
