"""Batch scripts: their directives and their one command by our own reader, and `sbatch --test-only` where a cluster answers."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs, shell

PROGRAM = "sbatch"
_DIRECTIVE = re.compile(r"#SBATCH --([a-z-]+)=([^\s\"'#\\]+)")


BEGIN = ["/usr/bin/env", "-i"]
"""slurmd gives a job the login environment of its user, whatever --export says: only an empty one is known."""
_DEVICE_NAMES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")
DEVICES = "".join(f' ${{{name}+"{name}=${name}"}}' for name in _DEVICE_NAMES)
"""The devices that slurm gave to the job, handed on where it was asked for any: this text, and no other with a `$`."""


@dataclass(frozen=True)
class Script:
    """What a batch script says."""

    directives: dict[str, str]
    folder: str
    words: list[str]
    """From BEGIN on."""
    hands_on_devices: bool


def script(text: str, file: str) -> tuple[Script, str]:
    """What a batch script says, and who read it. Raises CannotRender for anything that is not of this form."""
    head, parted, body = text.partition("\nset -eu\ncd ")
    folder, also_parted, command = body.partition("\nexec ")
    if not (parted and also_parted) or not head.startswith("#!/bin/sh\n"):
        raise CannotRender(f"{file} is no script of directives, `set -eu`, `cd` and one exec")
    begin = " ".join(BEGIN)
    hands_on = command.startswith(begin + DEVICES)
    if hands_on:
        command = begin + command.removeprefix(begin + DEVICES)
    words, who = shell.words(command.removesuffix("\n"), file)
    (place,), _ = shell.words(folder, file)
    return Script(_directives(head, file), place, words, hands_on), f"{_sbatch(text, file)}, {who}"


def _directives(head: str, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(head.split("\n"), 1):
        if not line.startswith("#"):
            raise CannotRender(f"{file}:{number}: a command stands before the last directive")
        if line.startswith("#SBATCH"):
            match = _DIRECTIVE.fullmatch(line)
            if match is None:
                raise CannotRender(f"{file}:{number}: no directive of the form #SBATCH --name=value")
            found[match[1]] = match[2]
    return found


def _sbatch(text: str, file: str) -> str:
    """Who looked at the directives; nothing is submitted."""
    own = "hio's own reader of sbatch directives"
    if programs.path_of(PROGRAM) is None:
        return f"{own} (sbatch is not installed)"
    cluster = {name: value for name, value in os.environ.items() if name == "SLURM_CONF"}
    if programs.run(["scontrol", "ping"], environment=cluster).returncode:
        return f"{own} (no cluster answers here)"
    said = programs.run([PROGRAM, "--test-only"], given=text.encode(), environment=cluster)
    if said.returncode:
        told = said.stderr.decode(errors="replace").strip()
        raise CannotRender(f"{file}: sbatch --test-only says: {told[:500]}")
    return f"{programs.run([PROGRAM, '--version'], environment=cluster).stdout.decode().strip()} --test-only"
