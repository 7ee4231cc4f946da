"""What a process said about itself, as a mapping."""

from __future__ import annotations

from typing import Any

from hio_validate.models.capture import Reported


def facts(reported: Reported | None) -> dict[str, Any]:
    """The facts of an endpoint, empty where it was not observed."""
    return dict(reported.facts) if reported else {}
