"""Result files of other tools read into observations: one file per format, told apart by content.

Invariants: units, statistics and definitions come from the schema of that version of the format, never from the size of a
number; absent is not zero; what is unknown is kept as foreign; a file is read once, in bounded memory.
"""
