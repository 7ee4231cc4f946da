"""What a stack is rendered for: one target a file, each a TARGET."""

from __future__ import annotations

from hio_validate.render.target import Target
from hio_validate.render.targets import compose, env, kubernetes, llama_swap, local, slurm, systemd

TARGETS: dict[str, Target] = {
    "local": local.TARGET,
    "systemd": systemd.TARGET,
    "env": env.TARGET,
    "compose": compose.TARGET,
    "kubernetes": kubernetes.TARGET,
    "slurm": slurm.TARGET,
    "llama-swap": llama_swap.TARGET,
}
"""Name of a target -> what it is."""
DIALECTS_OF_ENV = tuple(env.DIALECTS)
"""Who can read the file of the target env."""
