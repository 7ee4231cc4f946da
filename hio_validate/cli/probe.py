"""`hio probe`: what this machine, an engine's kernels and a model can do at best."""

from __future__ import annotations

import click

from hio_validate.cli.probe_engine import engine
from hio_validate.cli.probe_host import host
from hio_validate.cli.probe_model import model
from hio_validate.cli.probe_profile import profile


@click.group()
def probe() -> None:
    """Measure ceilings, and read a model's shape, for hio estimate.

    host and engine measure and need --yes; model and profile read a file.
    """


probe.add_command(engine)
probe.add_command(host)
probe.add_command(profile)
probe.add_command(model)
