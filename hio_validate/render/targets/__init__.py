"""What a stack is rendered for: one target a file, each a TARGET."""

from __future__ import annotations

from hio_validate.render.target import Target
from hio_validate.render.targets import local

TARGETS: dict[str, Target] = {
    "local": local.TARGET,
}
"""Name of a target -> what it is."""
