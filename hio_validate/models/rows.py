"""Which of three shapes a matrix row is meant to have; asked by the compiled models and by their definition."""

from __future__ import annotations

from typing import Any

from hio_validate.spelling import nearest


def row_kind(row: Any) -> str:
    """Which row it is meant to be; a misspelt key is told as such and not as a row of another kind."""
    keys = list(row) if isinstance(row, dict) else list(getattr(row, "__dict__", ()))
    words = [word for word in ("preserved", "bundle") if word in keys]
    if not words and "factor" not in keys:
        words = [word for word in ("preserved", "bundle", "factor") if nearest(word, keys, 0.8)]
    return f"{words[0]} row" if words else "factor row"
