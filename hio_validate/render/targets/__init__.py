"""What a stack is rendered for: one target a file, each a TARGET."""

from __future__ import annotations

from hio_validate.render.target import Target
from hio_validate.render.targets import local, systemd

TARGETS: dict[str, Target] = {
    "local": local.TARGET,
    "systemd": systemd.TARGET,
}
"""Name of a target -> what it is."""
