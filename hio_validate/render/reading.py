"""Whether what a consumer reads is what the stack says."""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.observe.environment_file import environment_file
from hio_validate.render.bundle import CannotRender

OWN_ENVIRONMENT_READER = "hio's own reader of systemd's environment files (src/basic/env-file.c)"


def refuse_other_environment(text: str, file: str, meant: Mapping[str, str]) -> None:
    """Raises CannotRender where an environment file of systemd says anything else than these variables."""
    ignored: list[str] = []
    said = environment_file(text, file, ignored)
    if ignored:
        raise CannotRender(ignored[0])
    refuse_difference(file, said, meant)


def refuse_difference(file: str, said: Mapping[str, str], meant: Mapping[str, str]) -> None:
    """Raises CannotRender where the variables that a consumer reads are not those of the stack; shows no value."""
    other = [name for name in {**meant, **said} if said.get(name) != meant.get(name)]
    if other:
        raise CannotRender(f"{file}: its consumer reads {', '.join(other)} otherwise than the stack says it")
