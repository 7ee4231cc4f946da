"""Who reads a rendered file back: the consumer itself where it is installed, one a file.

Invariant: nothing is handed to a program that would carry it out before a reader of ours found in it only what the
stack says; what a consumer says is compared with the stack, and shown nowhere, for it may be a secret of somebody.
"""
