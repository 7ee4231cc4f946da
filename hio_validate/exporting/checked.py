"""An export held against the schema of its target, before anybody reads it."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from hio_validate.exporting.cannot import CannotExport


def checked(data: dict[str, Any], schema: str) -> dict[str, Any]:
    """The same data. Raises CannotExport where the schema refuses it, or where nothing here can tell."""
    try:
        # Imported here: an extra, which only this verb needs.
        from jsonschema import Draft202012Validator
    except ImportError:
        raise CannotExport(
            "an export is checked by its schema with jsonschema: pip install 'hio-validate[deliver]'"
        ) from None
    folder = resources.files("hio_validate.exporting") / "schemas"
    published = json.loads((folder / schema).read_text(encoding="utf-8"))
    wrong = min(
        Draft202012Validator(published).iter_errors(data), key=lambda each: each.json_path, default=None
    )
    if wrong is not None:
        raise CannotExport(f"{schema} refuses {wrong.json_path}: {wrong.message[:200]}")
    return data
