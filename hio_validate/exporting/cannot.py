"""What cannot be exported, and why."""

from __future__ import annotations


class CannotExport(Exception):
    """Why nothing is written, in a sentence: nothing counts, or nobody here can check it."""


class NotTheRecordedBytes(CannotExport):
    """The repository's files are not those that the run recorded."""
